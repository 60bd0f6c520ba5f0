"""What agents say, as actions: both dialects that they speak, and what models make of them.

Sources: the actions of specification 000, and MAI-UI's action space (its system prompts, and how its benchmark carries
them out). There the direction of a swipe is the finger's: `up` moves the finger up, and so the content.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from gateway.engine.ports import Json
from gateway.phone.actions import ACTION
from gateway.phone.agents.agent import Unusable
from gateway.phone.agents.extensions import KNOWN, CustomAction
from gateway.phone.agents.prediction import Prediction, prediction_of
from gateway.phone.element import Element

Fields = dict[str, Json]
Scale = tuple[float, float]

FRACTIONS: Scale = (1.0, 1.0)
EDGE = 0.002  # models count to 1000 where 999 is the end
ALONG, ACROSS = 0.4, 0.6  # of the height or width: how far a swipe goes that has a direction only
MARGIN = 0.05  # beyond it the system's own gestures begin

OTHER_NAMES = {
    "click": "tap",
    "double_click": "double_tap",
    "open": "open_app",
    "awake": "open_app",
    "info": "ask_user",
    "terminate": "FINISH",
    **{name.lower(): name for name in KNOWN},
}
OTHER_FIELDS = {
    "open_app": {"text": "app", "app_name": "app", "value": "app"},
    "ask_user": {"text": "question", "value": "question"},
    "wait": {"duration": "seconds", "time": "seconds"},
    "mcp_call": {"name": "tool", "arguments": "args", "parameters": "args"},
    "swipe": {"start_coordinate": "start", "end_coordinate": "end"},
    "drag": {"start_coordinate": "start", "end_coordinate": "end"},
}
IGNORED = {"long_press": ("duration", "time"), "drag": ("duration",)}  # these take as long as the phone needs for them
FIELDS = {name for kind in KNOWN.values() for name in kind.model_fields} | {
    *("element", "start_coordinate", "end_coordinate", "direction", "time", "app_name", "value"),
    *("name", "arguments", "parameters", "button", "status"),
}
"""What any action has, in any dialect; anything else that stands in one is a remark."""

SYSTEM_BUTTON = "system_button"
BUTTONS = {"back": "back", "home": "home", "enter": "enter", "recent": "recent", "recents": "recent", "menu": "recent"}
DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ENDS = {"success": True, "succeeded": True, "complete": True, "completed": True, "done": True} | dict.fromkeys(
    ("fail", "failed", "failure", "infeasible", "impossible"), False
)


class _Wrong(Exception):
    """Why it is no action."""


def normalise(
    said: Any,
    *,
    elements: Sequence[Element] | None = None,
    custom: Mapping[str, CustomAction] | None = None,
    tools: Collection[str] = (),
    scale: Scale = FRACTIONS,
    size: tuple[int, int] | None = None,
) -> dict[str, Json]:
    """An action as data, which `ACTION` validates, or a custom one: `{"action": name, …}`.

    `said` is what `predict` gives, `(text, action)`, or one of both; an action may be JSON in a text, alone or with a
    tool's name around it (`{"name", "arguments"}`). `elements` is the list that the agent saw, None where there is
    none, and `size` the screen's in pixels; `tools` are those that `mcp_call` can call; coordinates are divided by
    `scale` (x, y).
    Raises Unusable, whose message says what is wrong and which actions there are; nothing else.
    """
    custom = custom or {}
    prediction = prediction_of(said)
    try:
        return _Reading(elements, custom, tools, scale, size).action(prediction)
    except _Wrong as error:
        allowed = ", ".join([*sorted(KNOWN), *custom])
        raise Unusable(f"{error}; allowed actions: {allowed}", text=prediction.text, said=prediction.said) from None


class _Reading:
    """Of one prediction."""

    def __init__(
        self,
        elements: Sequence[Element] | None,
        custom: Mapping[str, CustomAction],
        tools: Collection[str],
        scale: Scale,
        size: tuple[int, int] | None,
    ) -> None:
        self._elements = elements
        self._custom = custom
        self._tools = tools
        self._scale = scale
        self._size = size

    def action(self, prediction: Prediction) -> Fields:
        fields, tool = prediction.fields, prediction.tool
        if fields is None:
            raise _Wrong(prediction.problem)
        name = fields.get("action")
        if tool and (tool in self._tools or not self._knows(name)):
            if tool not in self._tools and self._knows(tool):
                return self._named(tool, fields)
            return _valid({"action": "mcp_call", "tool": tool, "args": fields})
        if not isinstance(name, str):
            raise _Wrong("no action was given" if name is None else f'"action" is a name, not {_shown(name)}')
        return self._named(name.strip(), {key: value for key, value in fields.items() if key != "action"})

    def _knows(self, name: Json) -> bool:
        return isinstance(name, str) and (name in self._custom or name.strip().lower() in (*OTHER_NAMES, SYSTEM_BUTTON))

    def _named(self, name: str, fields: Fields) -> Fields:
        if name in self._custom:
            return _of_custom(self._custom[name], fields)
        if name in self._tools:
            args = next((fields[key] for key in ("args", "arguments", "parameters") if key in fields), fields)
            return _valid({"action": "mcp_call", "tool": name, "args": _mapping(args)})
        fields = {key: value for key, value in fields.items() if value is not None}
        if name.lower() == SYSTEM_BUTTON:
            return {"action": _one_of("button", fields.get("button"), BUTTONS)}
        action = OTHER_NAMES.get(name.lower())
        if action is None:
            raise _Wrong(f"there is no action {_shown(name)}")
        return _valid({"action": action, **self._fields(action, fields)})

    def _fields(self, action: str, fields: Fields) -> Fields:
        """As the action has them, by the names that it has for them."""
        renamed = OTHER_FIELDS.get(action, {})
        known: Fields = {}
        for key, value in fields.items():
            own = renamed.get(key, key)
            if key in FIELDS and key not in IGNORED.get(action, ()) and (own not in known or own == key):
                known[own] = value
        if action == "FINISH" and "status" in known:
            known["success"] = _one_of("status", known.pop("status"), ENDS)
            if isinstance(known.get("text"), str):
                known.setdefault("reason", known.pop("text"))
        if action == "mcp_call" and "args" in known:
            known["args"] = _mapping(known["args"])
        if "element" in known and "coordinate" in known:
            raise _Wrong(f"{action} has a coordinate and an element: give one of them")
        if "element" in known:
            known["coordinate"] = {"element": known.pop("element")}
        for key in ("coordinate", "start", "end"):
            if key in known:
                known[key] = self._place(key, known[key])
        return self._swiped(known) if "direction" in known and action == "swipe" else known

    def _swiped(self, known: Fields) -> Fields:
        """With a start and an end for its direction; `coordinate` is where it begins, if there is room."""
        direction = _one_of("direction", known.pop("direction"), DIRECTIONS)
        if "start" in known and "end" in known:
            return known
        place = known.pop("coordinate", known.pop("start", None))
        begins = [None, None] if place is None else self._point(place)
        start, end = zip(
            *(_stroke(*each) for each in zip(begins, direction, (ACROSS, ALONG), strict=True)), strict=True
        )
        return {**known, "start": start, "end": end}

    def _point(self, place: Json) -> list[float]:
        """In fractions, also where it is an element."""
        if isinstance(place, list):
            return place
        if self._size is None or self._elements is None:
            raise _Wrong("give the swipe a coordinate instead of an element")
        found = next(each for each in self._elements if each.number == place["element"])
        return [min(max(at / length, 0.0), 1.0) for at, length in zip(found.bounds.centre, self._size, strict=True)]

    def _place(self, key: str, value: Json) -> Json:
        """A point in fractions, or the number of an element that there is."""
        if isinstance(value, str):
            value = _json(value)
        if isinstance(value, dict) and set(value) == {"element"}:
            return {"element": self._number(value["element"])}
        if isinstance(value, dict) and {"x", "y"} <= set(value):
            value = [value["x"], value["y"]]
        if not isinstance(value, list) or len(value) not in (2, 4):
            raise _Wrong(f"{key} is [x, y], not {_shown(value)}")
        given = [_number(each) for each in value]
        if len(given) == 4:  # a box: its middle
            given = [(given[0] + given[2]) / 2, (given[1] + given[3]) / 2]
        point = [each / scale for each, scale in zip(given, self._scale, strict=True)]
        if not all(-EDGE <= each <= 1 + EDGE for each in point):
            highest = "1" if self._scale == FRACTIONS else f"{self._scale[0]:g} and {self._scale[1]:g}"
            raise _Wrong(f"{key} {_shown(value)} lies outside the screen: x and y go from 0 to {highest}")
        return [min(max(each, 0.0), 1.0) for each in point]

    def _number(self, value: Json) -> int:
        number = _number(value)
        if self._elements is None:
            raise _Wrong("the screen's elements are not known: give a coordinate instead of an element")
        if not any(each.number == number for each in self._elements):
            raise _Wrong(f"there is no element {_shown(value)}: the list has {len(self._elements)}")
        return int(number)


def _stroke(begins: float | None, sign: int, reach: float) -> tuple[float, float]:
    """From where to where, along one axis: begun further back where the way from there is too short."""
    if not sign:
        return (0.5, 0.5) if begins is None else (begins, begins)
    if begins is None:
        begins = 0.5 - sign * reach / 2
    ends = min(max(begins + sign * reach, MARGIN), 1 - MARGIN)
    if (ends - begins) * sign < reach / 2:
        begins = ends - sign * reach
    return round(begins, 4), round(ends, 4)


def _of_custom(custom: CustomAction, fields: Fields) -> Fields:
    if set(fields) <= {"args", "arguments"} and not set(fields) & set(custom.args.model_fields):
        fields = _mapping(next(iter(fields.values()), {}))
    try:
        args = custom.args.model_validate(fields).model_dump(mode="json", by_alias=True)
    except ValidationError as error:
        raise _Wrong(_first(custom.name, error)) from None
    except Exception as error:  # whatever a stranger's checks raise
        raise _Wrong(f"{custom.name}: {error}") from None
    return {"action": custom.name, **args}


def _valid(fields: Fields) -> Fields:
    try:
        return {"action": "", **ACTION.validate_python(fields).model_dump(mode="json")}  # its name first
    except ValidationError as error:
        raise _Wrong(_first(str(fields["action"]), error)) from None


def _first(name: str, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"] if part != name)
    if first["type"] == "extra_forbidden":
        return f"{name} has no {place}"
    if first["type"] == "missing":
        return f"{name} needs {place}"
    return f"{name}: {place or 'arguments'}: {first['msg']}"


def _one_of(field: str, value: Json, known: Mapping[str, Any]) -> Any:
    found = known.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise _Wrong(f"{field} is one of {', '.join(known)}, not {_shown(value)}")
    return found


def _mapping(value: Json) -> Fields:
    if isinstance(value, str):
        value = _json(value)
    if not isinstance(value, dict):
        raise _Wrong(f"arguments are an object, not {_shown(value)}")
    return value


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Wrong(f"{_shown(value)} is no number")
    return float(value)


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
