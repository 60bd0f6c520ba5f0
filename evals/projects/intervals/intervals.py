"""Closed intervals of whole numbers, as (first, last)."""


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two intervals share a number."""
    return a[0] <= b[1] and b[0] <= a[1]


def merge(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same numbers in as few intervals as possible, in order; those that share a number become one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if merged and overlap(merged[-1], (first, last)):
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def total(intervals: list[tuple[int, int]]) -> int:
    """How many numbers the intervals hold, each counted once."""
    return sum(last - first + 1 for first, last in merge(intervals))
