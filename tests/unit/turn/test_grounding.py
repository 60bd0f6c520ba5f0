from __future__ import annotations

import pytest

from gateway.turn.grounding import ungrounded

SOURCES = "changed page_count in src/pager.py\n14 March, 3,725 seconds, heapq.nsmallest(n, iterable), v1.24"


@pytest.mark.parametrize(
    "response",
    [
        "It is done.",
        "`page_count` in pager.py is repaired, see src/pager.py.",
        "Use `heapq.nsmallest()` or `nsmallest`.",
        "On 14 March, 3,725 seconds later.",
        "The 2 tests pass.",
        "A word in `several words` is no name.",
    ],
)
def test_what_the_sources_have_may_be_said(response: str) -> None:
    assert ungrounded(response, SOURCES) == []


@pytest.mark.parametrize(
    ("response", "issue"),
    [
        ("See notes.md.", "the file notes.md"),
        ("I changed src/other.py.", "the file src/other.py"),
        ("Use `heapq.smallest()`.", "the name heapq.smallest"),
        ("On 31 July.", "the number 31"),
        ("It takes 3.14159 s.", "the number 3.14159"),
    ],
)
def test_what_they_do_not_have_is_named(response: str, issue: str) -> None:
    assert ungrounded(response, SOURCES) == [f"{issue} stands nowhere in the results"]


def test_of_many_some_are_named() -> None:
    assert len(ungrounded(" ".join(f"{number}{number}" for number in range(20, 60)), SOURCES)) == 3
