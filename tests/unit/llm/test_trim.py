"""Shortening a text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.llm import tokens
from gateway.llm.trim import shorten

LINES = "\n".join(f"line {number}" for number in range(200))


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert shorten("short", 100, "tail") == "short"


def test_the_place_names_what_is_left_out() -> None:
    without_tail, without_head, without_middle = (shorten(LINES, 100, place) for place in ("tail", "head", "middle"))
    assert without_tail is not None and without_tail.startswith("line 0\n") and without_tail.endswith("left out]")
    assert without_head is not None and without_head.startswith("[…") and without_head.endswith("line 199")
    assert without_middle is not None and without_middle.startswith("line 0\n") and without_middle.endswith("line 199")
    assert "left out]" in without_middle


def test_too_little_to_show_is_nothing() -> None:
    assert shorten(LINES, 20, "tail") is None


def test_an_open_fence_is_closed_and_a_closing_one_opened() -> None:
    fenced = f"before\n````python\n{LINES}\n```\n{LINES}\n````\nafter"
    for place in ("tail", "head", "middle"):
        shortened = shorten(fenced, 120, place)
        assert shortened is not None
        assert shortened.count("````") % 2 == 0 and "````" in shortened


@given(st.text(max_size=3000), st.integers(0, 300), st.sampled_from(["head", "tail", "middle"]))
@settings(max_examples=150)
def test_never_longer_than_the_limit(text: str, limit: int, place: str) -> None:
    shortened = shorten(text, limit, place)  # type: ignore[arg-type]
    assert shortened is None or tokens.count(shortened) <= limit
    assert shortened is not None or tokens.count(text) > limit
