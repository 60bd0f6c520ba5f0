"""An action in words for people, on one line: for the progress display, tables, pictures and an agent's history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gateway.phone.harmless import harmless

LONGEST = 80  # characters of the whole
LONGEST_TARGET = 40
LONGEST_NUMBER, LARGE = 8, 1e7  # characters; what is no number of anything on a phone

TOUCHES = {"tap": "tap", "long_press": "long press", "double_tap": "double tap"}
KEYS = {"back": "go back", "home": "go to the home screen", "recent": "show recent apps", "enter": "press Enter"}


def in_words(action: Mapping[str, Any], target: str = "") -> str:
    """What an action does, in at most 80 characters without line feeds or control characters: `tap button "Wi-Fi"`.

    `action` is an action as data, whatever its fields are; `target` is what it touches, as people call it.
    """
    name = action.get("action")
    on = _cut(target, LONGEST_TARGET)
    if not isinstance(name, str):
        said = "no action"
    elif name in TOUCHES:
        said = f"{TOUCHES[name]} {on or _at(action.get('coordinate'))}"
    elif name == "swipe":
        said = _swipe(action, on)
    elif name == "drag":
        said = f"drag from {on or _place(action.get('start'))} to {_place(action.get('end'))}"
    elif name == "type":
        said = _quoting("type", action.get("text"), f" into {on}" if on else "")
    elif name == "clear":
        said = f"clear {on or 'the field'}"
    elif name in KEYS:
        said = KEYS[name]
    elif name == "open_app":
        said = _quoting("open", action.get("app"))
    elif name == "wait":
        said = f"wait {_number(action.get('seconds', 1))} s"
    elif name == "ask_user":
        said = _quoting("ask", action.get("question"))
    elif name == "answer":
        said = _quoting("answer", action.get("text"))
    elif name == "mcp_call":
        said = f"call {_call(action.get('tool'), action.get('args'))}"
    elif name == "FINISH":
        reason = str(action.get("reason") or "")
        said = ("finish" if action.get("success", True) else "give up") + (f": {reason}" if reason else "")
    else:
        said = _call(name, {key: value for key, value in action.items() if key != "action"})
    return harmless(said, LONGEST)


def progress_line(kind: str, data: Mapping[str, Any]) -> str:
    """The progress that a task's nodes report (`phone.device`, `phone.chosen`) as a line for people."""
    if kind == "phone.chosen":
        return f"{data['decision']}/{data['max_steps']} {in_words(data['action'], data['target'])}"
    if kind == "phone.device":
        return harmless(f"on {data['model'] or data['serial']}", LONGEST)
    return harmless(kind, LONGEST)


def _swipe(action: Mapping[str, Any], on: str) -> str:
    start, end = _point(action.get("start")), _point(action.get("end"))
    if start is None or end is None or start == end:
        return f"swipe from {on or _place(action.get('start'))} to {_place(action.get('end'))}"
    right, down = end[0] - start[0], end[1] - start[1]
    way = ("right" if right > 0 else "left") if abs(right) > abs(down) else ("down" if down > 0 else "up")
    return f"swipe {way} {f'on {on}' if on else f'from {_place(start)}'}"


def _at(place: object) -> str:
    return _place(place) if _point(place) is None else f"at {_place(place)}"


def _place(place: object) -> str:
    if (point := _point(place)) is not None:
        return f"{point[0]:.2f}, {point[1]:.2f}"
    return f"element {_number(place['element'])}" if isinstance(place, Mapping) and "element" in place else "somewhere"


def _point(place: object) -> tuple[float, float] | None:
    pair = isinstance(place, list | tuple) and len(place) == 2 and all(map(_is_number, place))
    return (place[0], place[1]) if pair else None  # type: ignore[index]


def _number(value: object) -> str:
    return f"{value:g}" if _is_number(value) else _cut(str(value), LONGEST_NUMBER)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < LARGE


def _quoting(verb: str, text: object, after: str = "") -> str:
    """The verb and a text, of which as much is told as there is room for."""
    room = LONGEST - len(verb) - len(after) - 3  # a space and quotation marks
    return f'{verb} "{_cut(str(text or "").replace(chr(34), chr(39)), room)}"{after}'


def _call(name: object, args: object) -> str:
    given = json.dumps(args, ensure_ascii=False, default=str) if args else ""
    return f"{_cut(str(name), LONGEST_TARGET)} {given}".rstrip()


def _cut(text: str, room: int) -> str:
    """One harmless line of at most `room` characters; a quotation that is cut is closed."""
    line = harmless(text)
    if len(line) <= room:
        return line
    end = '…"' if line.endswith('"') else "…"
    return line[: room - len(end)].rstrip() + end
