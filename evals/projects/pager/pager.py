"""Splits a list of items into numbered pages."""


def page_count(items: list, size: int) -> int:
    """How many pages of `size` items there are; an empty list has one empty page."""
    if size < 1:
        raise ValueError("size must be at least 1")
    return max(1, len(items) // size)


def page(items: list, number: int, size: int) -> list:
    """The items of page `number`, counted from 1."""
    if not 1 <= number <= page_count(items, size):
        raise IndexError(f"there is no page {number}")
    start = (number - 1) * size
    return items[start : start + size]
