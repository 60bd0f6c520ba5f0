"""Roman numerals from 1 to 3999."""

VALUES = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(number: int) -> str:
    """The numeral of a number; ValueError outside of 1 to 3999."""
    if not 0 < number < 4000:
        raise ValueError(f"{number} has no Roman numeral")
    numeral = ""
    for value, letters in VALUES:
        if number >= value:
            numeral += letters
            number -= value
    return numeral


def from_roman(numeral: str) -> int:
    """The number of a well-formed numeral."""
    total = 0
    rest = numeral
    for value, letters in VALUES:
        while rest.startswith(letters):
            total += value
            rest = rest[len(letters) :]
    return total
