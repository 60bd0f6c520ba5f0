"""What agents say, in either dialect, becomes an action that the phone knows, or a reason that the agent can use."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.phone.actions import ACTION
from gateway.phone.agents.agent import Unusable
from gateway.phone.agents.dialects import normalise
from gateway.phone.agents.extensions import KNOWN, CustomAction
from gateway.phone.agents.prediction import prediction_of, thinking_of
from gateway.phone.element import Bounds, Element

SIZE = (1080, 2400)
ELEMENTS = (
    Element(1, "button", "Pay", Bounds(0, 0, 1080, 240)),
    Element(2, "list", "", Bounds(0, 240, 1080, 2400)),
)


class Where(BaseModel):
    text: str
    times: int = Field(1, ge=1)


SCROLL_TO = CustomAction("scroll_to", "scroll until a text is seen", Where, lambda bridge, args: "", Effect.IDEMPOTENT)
CUSTOM = {"scroll_to": SCROLL_TO}


def called(name: str, **arguments: Any) -> str:
    """As MAI-UI's models write it."""
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<thinking>\nI see the screen.\n</thinking>\n<tool_call>\n{call}\n</tool_call>"


BOTH = [
    ({"action": "tap", "coordinate": [0.5, 0.3]}, {"action": "tap", "coordinate": [0.5, 0.3]}),
    ({"action": "click", "coordinate": [0.5, 0.3]}, {"action": "tap", "coordinate": [0.5, 0.3]}),
    ({"action": "double_click", "coordinate": [0, 1]}, {"action": "double_tap", "coordinate": [0.0, 1.0]}),
    ({"action": "long_press", "coordinate": [0, 1], "time": 9}, {"action": "long_press", "coordinate": [0.0, 1.0]}),
    ({"action": "click", "coordinate": [0.25, 0.5, 0.75, 1]}, {"action": "tap", "coordinate": [0.5, 0.75]}),
    ({"action": "tap", "element": 1}, {"action": "tap", "coordinate": {"element": 1}}),
    (
        {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2], "duration": 300},
        {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2], "duration": 300},
    ),
    (
        {"action": "drag", "start_coordinate": [0.1, 0.2], "end_coordinate": [0.3, 0.4]},
        {"action": "drag", "start": [0.1, 0.2], "end": [0.3, 0.4]},
    ),
    ({"action": "type", "text": "Käse 🧀"}, {"action": "type", "text": "Käse 🧀"}),
    ({"action": "open", "text": "Settings"}, {"action": "open_app", "app": "Settings"}),
    ({"action": "AWAKE", "text": "Settings"}, {"action": "open_app", "app": "Settings"}),
    ({"action": "back"}, {"action": "back"}),
    ({"action": "system_button", "button": "back"}, {"action": "back"}),
    ({"action": "system_button", "button": "Home"}, {"action": "home"}),
    ({"action": "system_button", "button": "enter"}, {"action": "enter"}),
    ({"action": "system_button", "button": "menu"}, {"action": "recent"}),
    ({"action": "wait"}, {"action": "wait", "seconds": 1.0}),
    ({"action": "wait", "duration": 3}, {"action": "wait", "seconds": 3.0}),
    ({"action": "answer", "text": "14"}, {"action": "answer", "text": "14"}),
    ({"action": "ask_user", "question": "Which?"}, {"action": "ask_user", "question": "Which?", "takeover": False}),
    ({"action": "ask_user", "text": "Which?"}, {"action": "ask_user", "question": "Which?", "takeover": False}),
    (
        {"action": "ask_user", "question": "Log in, please", "takeover": True},
        {"action": "ask_user", "question": "Log in, please", "takeover": True},
    ),
    ({"action": "FINISH", "reason": "done"}, {"action": "FINISH", "reason": "done", "success": True}),
    ({"action": "terminate", "status": "success"}, {"action": "FINISH", "reason": "", "success": True}),
    ({"action": "terminate", "status": "fail"}, {"action": "FINISH", "reason": "", "success": False}),
    (
        {"action": "mcp_call", "tool": "maps_search", "args": {"query": "coffee"}},
        {"action": "mcp_call", "tool": "maps_search", "args": {"query": "coffee"}},
    ),
    ({"action": "maps_search", "query": "a"}, {"action": "mcp_call", "tool": "maps_search", "args": {"query": "a"}}),
    (
        {"name": "maps_search", "arguments": {"query": "coffee"}},
        {"action": "mcp_call", "tool": "maps_search", "args": {"query": "coffee"}},
    ),
    (
        {"name": "not_there", "arguments": {"action": "delete"}},
        {"action": "mcp_call", "tool": "not_there", "args": {"action": "delete"}},
    ),
    ({"action": "scroll_to", "text": "Wi-Fi"}, {"action": "scroll_to", "text": "Wi-Fi", "times": 1}),
    ({"action": "scroll_to", "args": {"text": "W", "times": 2}}, {"action": "scroll_to", "text": "W", "times": 2}),
    ({"action": "back", "thought": "go back", "coordinate": None}, {"action": "back"}),
]  # fmt: skip


def understood(said: Any, **more: Any) -> dict[str, Any]:
    return normalise(said, **{"elements": ELEMENTS, "custom": CUSTOM, "tools": ("maps_search",), "size": SIZE, **more})


def refused(said: Any, **more: Any) -> str:
    with pytest.raises(Unusable) as raised:
        understood(said, **more)
    return str(raised.value)


@pytest.mark.parametrize(("said", "action"), BOTH)
def test_both_dialects_are_understood(said: dict[str, Any], action: dict[str, Any]) -> None:
    assert understood(said) == action
    assert understood(("what I thought", said)) == action
    assert understood(("", json.dumps(said))) == action


@pytest.mark.parametrize(("said", "action"), [each for each in BOTH if "action" in each[0]])
def test_a_tool_call_in_the_text_is_understood_without_an_action(said: dict[str, Any], action: dict[str, Any]) -> None:
    assert understood((called("mobile_use", **said), None)) == action
    assert understood(called("mobile_use", **said)) == action


def test_what_the_text_calls_the_tool_by_is_not_lost() -> None:
    # MAI-UI's parser keeps the arguments only
    said = (called("maps_search", query="coffee"), {"query": "coffee"})
    assert understood(said) == {"action": "mcp_call", "tool": "maps_search", "args": {"query": "coffee"}}


def test_a_phone_by_another_tool_name_is_a_phone() -> None:
    assert understood((called("computer_use", action="click", coordinate=[1, 0]), None))["action"] == "tap"


@pytest.mark.parametrize(
    ("direction", "axis", "sign"), [("up", 1, -1), ("down", 1, 1), ("left", 0, -1), ("right", 0, 1), ("UP", 1, -1)]
)
@pytest.mark.parametrize("place", [None, [0.5, 0.5], [0.02, 0.98], [0.99, 0.01], {"element": 1}])
def test_the_direction_of_a_swipe_is_the_fingers(direction: str, axis: int, sign: int, place: Any) -> None:
    said = {"action": "swipe", "direction": direction, "coordinate": place}
    swipe = understood(said)
    way = swipe["end"][axis] - swipe["start"][axis]
    assert way * sign >= 0.2, "far enough to be one"
    assert swipe["end"][1 - axis] == swipe["start"][1 - axis]
    assert 0.05 <= swipe["end"][axis] <= 0.95, "not into the system's own gestures"


def test_a_swipe_begins_where_its_coordinate_is() -> None:
    assert understood({"action": "swipe", "direction": "left", "coordinate": [0.8, 0.31]})["start"] == [0.8, 0.31]
    assert understood({"action": "swipe", "direction": "left", "element": 1})["start"] == [0.5, 0.05]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"action": None}, "no action was given"),
        (("llm client error", {"action": None}), "no action was given"),
        ({}, "no action was given"),
        (None, "no action can be read"),
        ("I would tap the button", "no action can be read"),
        ((called("mobile_use", action="click")[:-40], None), "no action can be read"),
        (7, "an action is an object"),
        ([1, 2, 3], "an action is an object"),
        ({"action": "teleport"}, 'there is no action "teleport"'),
        ({"action": ["tap"]}, '"action" is a name'),
        ({"action": "tap"}, "tap needs coordinate"),
        ({"action": "tap", "coordinate": [540, 1200]}, "lies outside the screen: x and y go from 0 to 1"),
        ({"action": "tap", "coordinate": [-0.1, 0.5]}, "lies outside the screen"),
        ({"action": "tap", "coordinate": [0.5]}, "coordinate is [x, y]"),
        ({"action": "tap", "coordinate": ["a", "b"]}, "is no number"),
        ({"action": "tap", "coordinate": [True, 0]}, "is no number"),
        ({"action": "tap", "coordinate": [float("nan"), 0]}, "is no number"),
        ({"action": "tap", "element": 9}, "there is no element 9: the list has 2"),
        ({"action": "tap", "element": 1, "coordinate": [0, 0]}, "give one of them"),
        ({"action": "type", "text": "x", "coordinate": [0.5, 0.5]}, "type has no coordinate"),
        ({"action": "type", "text": ""}, "type: text"),
        ({"action": "swipe", "direction": "sideways"}, "direction is one of up, down, left, right"),
        ({"action": "swipe", "start": [0, 0]}, "swipe needs end"),
        ({"action": "system_button", "button": "power"}, "button is one of back, home, enter"),
        ({"action": "terminate", "status": "perhaps"}, "status is one of success"),
        ({"action": "wait", "seconds": 3600}, "wait: seconds"),
        ({"action": "scroll_to", "text": "Wi-Fi", "times": 0}, "scroll_to: times"),
        ({"action": "scroll_to"}, "scroll_to needs text"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(said: Any, reason: str) -> None:
    message = refused(said)
    assert reason in message
    assert all(name in message for name in (*KNOWN, "scroll_to"))


def test_elements_of_a_screen_that_could_not_be_read_cannot_be_chosen() -> None:
    assert "give a coordinate instead" in refused({"action": "tap", "element": 1}, elements=None)


def test_what_was_said_is_kept_for_the_record() -> None:
    with pytest.raises(Unusable) as raised:
        understood(("hm", {"action": "teleport", "to": {1, 2}}))
    assert raised.value.text == "hm"
    assert json.loads(json.dumps(raised.value.said))["action"] == "teleport"


def test_an_agent_that_counts_otherwise_says_so() -> None:
    said = {"action": "click", "coordinate": [500, 999]}
    assert understood(said, scale=(999, 999))["coordinate"] == [pytest.approx(0.5005, abs=1e-4), 1.0]
    assert understood({"action": "tap", "coordinate": [540, 1200]}, scale=SIZE)["coordinate"] == [0.5, 0.5]
    assert "from 0 to 999 and 999" in refused({"action": "tap", "coordinate": [1200, 3]}, scale=(999, 999))


def test_the_last_of_999_steps_may_be_the_thousandth() -> None:
    assert understood({"action": "click", "coordinate": [1000 / 999, 1]})["coordinate"] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "thinking"),
    [
        (called("mobile_use", action="wait"), "I see the screen."),
        ('I see a list.\n</think>\n<tool_call>{"name": "mobile_use"}</tool_call>', "I see a list."),
        ('I tap it: {"action": "tap"}', "I tap it:"),
        ("<thinking>a { b </thinking>{}", "a { b"),
        ("", ""),
    ],
)
def test_thinking_is_told_from_the_action(text: str, thinking: str) -> None:
    assert thinking_of(text) == thinking
    assert prediction_of((text, None)).thinking == thinking


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from([*KNOWN])
names = st.sampled_from(
    [*KNOWN, "click", "open", "terminate", "system_button", "double_click", "scroll_to", "maps_search", "tap ", "x"]
)
fractions = st.floats(-0.1, 1.1) | st.integers(-1, 1001)
points = st.lists(fractions, min_size=1, max_size=5) | st.builds(lambda x, y: {"x": x, "y": y}, fractions, fractions)
fields = st.fixed_dictionaries(
    {},
    optional={
        "action": names | scalars,
        "name": names | scalars,
        "coordinate": points | scalars,
        "element": st.integers(-1, 4) | scalars,
        "start": points,
        "end": points | scalars,
        "start_coordinate": points,
        "direction": st.sampled_from(["up", "down", "left", "right", "", "Up"]) | scalars,
        "text": scalars,
        "app": scalars,
        "question": scalars,
        "button": st.sampled_from(["back", "home", "menu", "enter"]) | scalars,
        "status": st.sampled_from(["success", "fail"]) | scalars,
        "seconds": scalars,
        "duration": st.integers(-1, 20_000) | scalars,
        "args": st.dictionaries(st.text(), scalars) | scalars,
        "arguments": st.deferred(lambda: fields) | scalars,
        "success": scalars,
        "reason": scalars,
        "thinking": scalars,
    },
)
anything = fields | st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
texts = st.text() | fields.map(
    lambda each: f"<thinking>x</thinking><tool_call>{json.dumps(each, default=str)}</tool_call>"
)


@settings(max_examples=400, deadline=None)
@given(said=anything | st.tuples(texts | scalars, anything) | texts)
@example(said={"action": "type", "text": "\ud83e"})
@example(said={"action": "tap", "coordinate": [10**400, 0]})
@example(said={"action": "answer", "text": "x" * 300_000})
@example(said="{" * 5_000)
@example(said='{"action":' * 5_000)
@example(said="<tool_call>" * 20_000)
@example(said={"action": "mcp_call", "tool": "x", "args": {"deep": json.loads("[" * 400 + "]" * 400)}})
def test_whatever_is_said_is_an_action_or_unusable(said: Any) -> None:
    try:
        action = understood(said)
    except Unusable as unusable:
        json.dumps([str(unusable), unusable.said, unusable.text], allow_nan=False).encode()
        return
    json.dumps(action, allow_nan=False, ensure_ascii=False).encode()  # it can be stored
    assert understood(action) == action, "said again, it is the same"
    if action["action"] == "scroll_to":
        Where.model_validate({name: each for name, each in action.items() if name != "action"})
    else:
        assert ACTION.validate_python(action).model_dump(mode="json") == action
