"""What an agent does, in words: the calls of a turn, and of a task on a phone, as lines for people."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gateway.engine.ports import Json

LONGEST = 100  # characters
TOOL = "tool."
ACT = "device.act"
PLACES = ("coordinate", "start", "end")  # of an action, where its target has a name
WORKING = {
    "model.complete": "the model answers",
    "device.observe": "looking at the screen",
    "device.settle": "waiting for the screen to come to rest",
    "device.ensure": "looking for the phone",
}


def deed(operation: str, args: Json) -> str | None:
    """What such a call does to, or finds out about, the world: None for what only prepares that."""
    if operation.startswith(TOOL):
        given = args["args"] if isinstance(args, dict) and set(args) == {"args", "strangers"} else args
        told = "" if not given else json.dumps(given, ensure_ascii=False)
        return one_line(f"{operation.removeprefix(TOOL)} {told}")
    if operation == ACT and isinstance(args, dict):
        return _action(args.get("shown") or args.get("action"), str(args.get("target") or ""))
    return None


def under_way(operation: str, args: Json) -> str:
    """What is being done by a call that has not ended; "" where there is no word for it."""
    return deed(operation, args) or WORKING.get(operation, "")


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text on one line, cut where it is longer."""
    flat = " ".join(text[: 4 * longest].split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def _action(action: Json, target: str) -> str:
    if not isinstance(action, Mapping):
        return "an action on the phone"
    rest = {name: value for name, value in action.items() if name != "action" and not (target and name in PLACES)}
    told = f" {json.dumps(rest, ensure_ascii=False)}" if rest else ""
    return one_line(f"{str(action.get('action')).replace('_', ' ')} {target}".strip() + told)
