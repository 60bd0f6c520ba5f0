"""`trajectory.json`: a task on a phone as it went. Rendered from the run's state and artifacts; who runs the task never
reads it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from functools import lru_cache

from gateway.engine.ports import Artifacts, Json
from gateway.engine.state import RunState, Status, to_json
from gateway.engine.store import RunRow
from gateway.phone.element import Element
from gateway.phone.task.state import PhoneContext, PhoneState, Step, load_elements

ENDS = (Status.COMPLETE, Status.FAILED, Status.STOPPED)
MOST_ELEMENTS, LONGEST_TEXT = 300, 200  # of a screen, and characters of each of its texts: the artifact has all
USAGE = ("model_calls", "prompt_tokens", "cached_tokens", "completion_tokens")


def render(row: RunRow, context: PhoneContext, state: RunState, artifacts: Artifacts) -> str:
    """The document: JSON that people can read, too, with a line for each fact and for each element of a screen.

    Screenshots are the names of files beside it or, where the options want that, PNG as base64.
    """
    data = state.data
    assert isinstance(data, PhoneState)
    embed = context.options.embed_screenshots
    facts = _facts(row, context, state, data)
    facts["final_screenshot"] = _picture(artifacts, *(final(state) or ("", None)), embed=embed)
    lines = [f" {to_json(name)}: {to_json(value)},\n" for name, value in facts.items()]
    if embed:
        written = [_step(each, artifacts, embed=True) for each in data.steps]
    else:
        written = [_kept(_Same(each), artifacts) for each in data.steps]  # type: ignore[arg-type]
    steps = ",\n".join(f"  {{\n{each}\n  }}" for each in written)
    listed = f"[\n{steps}\n ]" if steps else "[]"
    return "{\n" + "".join(lines) + f' "steps": {listed}\n}}\n'


def screenshot_name(step: Step) -> str:
    """What was on the screen when the action was chosen."""
    return f"screenshots/{step.number:03d}.png"


def error_name(step: Step) -> str:
    """What was on the screen after the action had failed."""
    return f"error_{step.number:03d}.png"


def final(state: RunState) -> tuple[str, str] | None:
    """Name and sha256 of what was on the screen when the run ended; None where it has not, or that is not known.

    It is the last step's screenshot, where nothing has changed since. Another one has its content in its name: a run
    that failed or was stopped can go on, and end another time.
    """
    data = state.data
    assert isinstance(data, PhoneState)
    if state.status not in ENDS or data.seen is None or data.seen.png is None:
        return None
    if data.steps and data.steps[-1].screenshot == data.seen.png:
        return screenshot_name(data.steps[-1]), data.seen.png
    return f"screenshots/final-{data.seen.png[:8]}.png", data.seen.png


def _facts(row: RunRow, context: PhoneContext, state: RunState, data: PhoneState) -> dict[str, Json]:
    usage: dict[str, Json] = {name: int(state.counters.get(name, 0)) for name in USAGE}
    return {
        "task_id": row.id,
        "task_goal": context.task,
        "status": state.status.value,
        "stop_reason": state.stop_reason,
        "error": state.error,
        "question": state.waiting.question if state.waiting is not None else None,
        "answer": data.answer,
        "finished": data.finished.model_dump() if data.finished is not None else None,
        "total_steps": len(data.steps),
        "decisions": data.decisions,
        "started": _time(row.created),
        "duration_s": round(state.counters.get("time_s", 0.0), 1),
        "device": data.device.model_dump(mode="json", exclude={"apps"}) if data.device is not None else None,
        "app": data.app,
        "agent": context.options.agent,
        "model": ", ".join(dict.fromkeys(context.models.values())) or None,
        "usage": usage | {"cost_usd": round(state.counters.get("cost_usd", 0.0), 6)},
    }


class _Same:
    """A step as one object, equal to itself alone."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.step is self.step

    def __hash__(self) -> int:
        return id(self.step)


@lru_cache(maxsize=512)  # the document is written at every step, and the steps before are as they were
def _kept(same: _Same, artifacts: Artifacts) -> str:
    return _step(same.step, artifacts, embed=False)


def _step(step: Step, artifacts: Artifacts, *, embed: bool) -> str:
    facts: dict[str, Json] = {
        "step": step.number,
        "decision": step.decision,
        "thinking": step.thinking,
        "action": step.action,
        "target": step.target,
        "consequential": step.consequential,
        "pixel": step.pixels[0] if len(step.pixels) == 1 else step.pixels or None,
        "result": step.result.model_dump(),
        "screenshot": _picture(artifacts, screenshot_name(step), step.screenshot, embed=embed),
        "error_screenshot": _picture(artifacts, error_name(step), step.error_screenshot, embed=embed),
        "package": step.package,
        "size": step.size,
        "state_id": step.state_id,
        "timings_ms": step.timings_ms,
        "retries": step.retries,
        "timestamp": _time(step.timestamp),
    }
    elements, left_out = _elements(artifacts, step.elements)
    told = facts | {"elements_left_out": left_out} if left_out else facts
    lines = [f"   {to_json(name)}: {to_json(value)},\n" for name, value in told.items()]
    return "".join(lines) + f'   "elements": {elements}'


def _picture(artifacts: Artifacts, name: str, sha256: str | None, *, embed: bool) -> str | None:
    if sha256 is None:
        return None
    return base64.b64encode(artifacts.get(sha256)).decode() if embed else name


def _elements(artifacts: Artifacts, sha256: str | None) -> tuple[str, int]:
    """A JSON list of objects, which leave out what an element does not have, and how many are not in it. It is null
    where the screen could not be read."""
    elements = load_elements(artifacts, sha256)
    if elements is None:
        return "null", 0
    lines = [f"    {to_json(_element(each))}" for each in elements[:MOST_ELEMENTS]]
    return "[\n" + ",\n".join(lines) + "\n   ]" if lines else "[]", len(elements) - len(lines)


def _element(element: Element) -> dict[str, Json]:
    said = {"text": _cut(element.text), "hint": _cut(element.hint), "resource_id": element.resource_id}
    can = {"clickable": element.clickable, "editable": element.editable, "state": element.state}
    told = {name: value for name, value in (said | can).items() if value}
    return {"number": element.number, "role": element.role, **told, "bounds": element.bounds}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _time(seconds: float) -> str:
    """In UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
