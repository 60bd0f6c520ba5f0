"""The order in which a person reads what stands on a screen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from gateway.phone.element import Bounds

T = TypeVar("T")

DEEPEST = 12  # cuts within cuts; a layout of people has three or four
SHRUNK = 5  # a fifth of each side may overlap with the neighbour's and they still stand side by side


def in_reading_order(placed: Sequence[tuple[Bounds, T]], *, right_to_left: bool = False) -> list[T]:
    """Rows from the top, and in them columns from the left (or right), each read to its end: a recursive XY cut, as in
    Nagy and Seth (1984). What overlaps both ways comes by its upper edge."""
    return [each for _, each in _cut(list(placed), right_to_left, DEEPEST)]


def _cut(placed: list[tuple[Bounds, T]], right_to_left: bool, deeper: int) -> list[tuple[Bounds, T]]:
    if len(placed) < 2:
        return placed
    if deeper:
        for axis in (1, 0):
            bands = _bands(placed, axis)
            if len(bands) > 1:
                if axis == 0 and right_to_left:
                    bands.reverse()
                return [each for band in bands for each in _cut(band, right_to_left, deeper - 1)]
    return sorted(placed, key=lambda each: (each[0].top, -each[0].right if right_to_left else each[0].left))


def _bands(placed: list[tuple[Bounds, T]], axis: int) -> list[list[tuple[Bounds, T]]]:
    """Groups that do not overlap along the axis (0: x, 1: y), in its order; within each as they came."""
    spans = []
    for index, (bounds, _) in enumerate(placed):
        start, end = bounds[axis], bounds[axis + 2]
        margin = (end - start) // SHRUNK
        spans.append((start + margin, end - margin, index))
    spans.sort()
    band, reached = -1, -(1 << 60)
    banded = []
    for start, end, index in spans:
        if start >= reached:
            band += 1
        reached = max(reached, end, start + 1)
        banded.append((band, index))
    banded.sort()
    return [[placed[index] for _, index in group] for _, group in groupby(banded, key=itemgetter(0))]
