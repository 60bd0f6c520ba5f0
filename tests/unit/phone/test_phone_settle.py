"""The screen has come to rest when two looks are equal."""

from __future__ import annotations

import itertools

from gateway.phone.deadline import Deadline
from gateway.phone.settle import settle


def test_a_screen_that_rests_is_seen_with_two_looks() -> None:
    found = settle(lambda until: "same", Deadline(5))
    assert (found.stable, found.looks) == (True, 2)


def test_a_screen_is_waited_for_while_it_changes() -> None:
    frames = itertools.chain(["a", "b", "c", "d"], itertools.repeat("d"))
    found = settle(lambda until: next(frames), Deadline(20))
    assert (found.stable, found.looks) == (True, 5)


def test_an_endless_animation_ends_and_is_said() -> None:
    frames = itertools.count()
    found = settle(lambda until: next(frames), Deadline(20), longest_s=0.5)
    assert not found.stable
    assert found.looks > 2
    assert found.waited_s <= 5


def test_a_blinking_cursor_is_not_waited_for_until_the_end() -> None:
    """Half a second on, half a second off; each look takes no time."""
    import time

    began = time.monotonic()
    found = settle(lambda until: int((time.monotonic() - began) / 0.5) % 2, Deadline(20))
    assert found.stable
