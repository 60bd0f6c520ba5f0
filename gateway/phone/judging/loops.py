"""The same choice again, on a screen that is the same."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gateway.engine.ports import Json
from gateway.phone.task.state import Seen

TOLD = 3
"""A screen that is seen so many times, with the same action chosen each time: then it is a loop."""
WAITED = 10
"""The same of waiting: apps may take long, and nothing is done by it."""

NEARLY = 2  # digits of a fraction: agents that look at pictures do not hit the same pixel twice
TIMES = ("duration",)


def times(action: Mapping[str, Json]) -> int:
    """After how many equal choices it is a loop."""
    return WAITED if action["action"] == "wait" else TOLD


def key(seen: Seen, action: Mapping[str, Json]) -> str:
    """Of a choice: equal where nothing at all had changed on the screen and the same was chosen, but for a hundredth of
    the screen and for how long a finger moved. Numbers count: who taps `+` again and again gets on."""
    return f"{_screen(seen, action)} {json.dumps(_nearly(action), ensure_ascii=False, sort_keys=True)}"


def action_of(key: str, seen: Seen) -> dict[str, Json] | None:
    """The action of a choice that was made on this screen; None where it was another screen."""
    screen, _, said = key.partition(" ")
    action: dict[str, Json] = json.loads(said)
    return action if screen == _screen(seen, action) else None


def _screen(seen: Seen, action: Mapping[str, Json]) -> str:
    """No list tells how far a long text was scrolled in its field: the picture does."""
    return f"{seen.look}/{seen.png}" if action["action"] == "swipe" else seen.look


def _nearly(action: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _rounded(value) for name, value in action.items() if name not in TIMES}


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, NEARLY)
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
