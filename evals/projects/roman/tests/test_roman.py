import pytest

from roman import from_roman, to_roman


@pytest.mark.parametrize("number, numeral", [(1, "I"), (3, "III"), (14, "XIV"), (1994, "MCMXCIV"), (3888, "MMMDCCCLXXXVIII")])
def test_there_and_back(number, numeral):
    assert to_roman(number) == numeral
    assert from_roman(numeral) == number


def test_zero_has_none():
    with pytest.raises(ValueError):
        to_roman(0)
