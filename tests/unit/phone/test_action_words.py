"""An action in words: one short harmless line, whatever the action is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.phone.actions import ACTION
from gateway.phone.trajectory.words import LONGEST, in_words

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
NAMES = sorted(each["properties"]["action"]["const"] for each in ACTION.json_schema()["$defs"].values()
               if "action" in each["properties"])  # fmt: skip
FIELDS = ["coordinate", "start", "end", "text", "app", "seconds", "question", "tool", "args", "reason", "success"]


@pytest.mark.parametrize(
    ("action", "target", "words"),
    [
        ({"action": "tap", "coordinate": [0.5, 0.3]}, 'button "Wi-Fi"', 'tap button "Wi-Fi"'),
        ({"action": "tap", "coordinate": [0.5, 0.3]}, "", "tap at 0.50, 0.30"),
        ({"action": "tap", "coordinate": {"element": 3}}, "", "tap element 3"),
        ({"action": "long_press", "coordinate": [0, 1]}, "", "long press at 0.00, 1.00"),
        ({"action": "double_tap", "coordinate": [0, 1]}, "image", "double tap image"),
        ({"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2]}, "", "swipe up from 0.50, 0.80"),
        ({"action": "swipe", "start": [0.5, 0.2], "end": [0.4, 0.8]}, "list", "swipe down on list"),
        ({"action": "swipe", "start": [0.9, 0.5], "end": [0.1, 0.4]}, "list", "swipe left on list"),
        ({"action": "swipe", "start": [0.1, 0.5], "end": [0.9, 0.4]}, "list", "swipe right on list"),
        ({"action": "swipe", "start": {"element": 2}, "end": [0.5, 0.2]}, "", "swipe from element 2 to 0.50, 0.20"),
        ({"action": "drag", "start": [0, 0], "end": {"element": 4}}, "icon", "drag from icon to element 4"),
        ({"action": "type", "text": 'say "hi"'}, 'field "Title"', 'type "say \'hi\'" into field "Title"'),
        ({"action": "clear"}, "", "clear the field"),
        ({"action": "back"}, "", "go back"),
        ({"action": "open_app", "app": "Settings"}, "", 'open "Settings"'),
        ({"action": "wait", "seconds": 2.5}, "", "wait 2.5 s"),
        ({"action": "ask_user", "question": "Which?"}, "", 'ask "Which?"'),
        ({"action": "mcp_call", "tool": "maps.find", "args": {"q": "Café"}}, "", 'call maps.find {"q": "Café"}'),
        ({"action": "answer", "text": "14"}, "", 'answer "14"'),
        ({"action": "FINISH"}, "", "finish"),
        ({"action": "FINISH", "success": False, "reason": "no such app"}, "", "give up: no such app"),
        ({"action": "pinch", "scale": 2}, "", 'pinch {"scale": 2}'),
        ({}, "", "no action"),
    ],
)
def test_an_action_in_words(action: dict[str, Any], target: str, words: str) -> None:
    assert in_words(action, target) == words


@pytest.mark.parametrize("name", NAMES)
def test_every_action_that_there_is_has_words_of_its_own(name: str) -> None:
    assert "unheard" not in in_words({"action": name, "unheard": 1})


@given(
    st.fixed_dictionaries({"action": st.sampled_from(NAMES) | JSON}, optional=dict.fromkeys(FIELDS, JSON)),
    st.text(max_size=200),
)
def test_the_words_are_one_short_line_that_a_terminal_only_shows(action: dict[str, Any], target: str) -> None:
    words = in_words(action, target)
    assert 0 < len(words) <= LONGEST
    assert words == " ".join(words.split())
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in words)


def test_long_texts_are_cut_where_they_can_be_and_quotations_are_closed() -> None:
    words = in_words({"action": "type", "text": "a" * 100}, f'field "{"T" * 60}"')
    assert len(words) == LONGEST
    assert words.endswith('T…"')
    assert 'a…" into field "TTT' in words
