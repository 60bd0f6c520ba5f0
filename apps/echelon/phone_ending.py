"""How a task on a phone ended: its answer, where its trajectory is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from echelon.ending import exit_code, how_it_ended, question, usage, usage_line
from echelon.output.phone import PhoneOutcome, PhoneUsed
from echelon.terminal import put, put_json, say
from gateway.engine.state import Status

if TYPE_CHECKING:
    from gateway.phones import PhoneTask

STAYING = "the simulated phone has ended, so this cannot be resumed; one that stays: echelon simphone start"
MORE_STEPS = "  begin again with more: mai-phone --max-steps N"


def report(task: PhoneTask, *, as_json: bool, simulated: bool = False) -> int:
    """The answer on standard output, how it ended on standard error; the exit code. Where `simulated`, the phone is
    gone afterwards."""
    if as_json:
        put_json(as_data(task))
    elif task.answer:
        say()
        put(task.answer)
    if not as_json or task.status is not Status.COMPLETE:
        for line in _lines(task, simulated):
            say(line)
    return exit_code(task)


def as_data(task: PhoneTask) -> PhoneOutcome:
    device = task.device
    return PhoneOutcome(
        run=task.run_id,
        task=task.task,
        status=task.status.value,
        stop_reason=task.stop_reason,
        error=task.error,
        hint=task.hint or None,
        answer=task.answer or None,
        device=device and PhoneUsed(serial=device.serial, model=device.model, android=device.android),
        steps=task.decisions,
        actions=len(task.steps),
        trajectory=str(trajectory(task)),
        usage=usage(task),
        waiting=question(task.waiting),
    )


def trajectory(task: PhoneTask) -> Path:
    return task.folder / "trajectory.json"


def _lines(task: PhoneTask, simulated: bool) -> Iterator[str]:
    yield ""
    steps = f"{task.decisions} step{'' if task.decisions == 1 else 's'}"
    yield f"{task.status.value.replace('_', ' ')} · {steps} · {_usage(task)}"
    yield from how_it_ended(task, resumable=not simulated)
    if simulated and task.stop_reason == "budget:steps":
        yield MORE_STEPS
    if simulated and task.status is not Status.COMPLETE and not _final(task):
        yield STAYING
    yield f"trajectory: {trajectory(task)}"


def _final(task: PhoneTask) -> bool:
    """Whether nobody would go on with it."""
    return (task.stop_reason or "").startswith(("budget:", "error:unfinished"))


def _usage(task: PhoneTask) -> str:
    """Without models, where the agent has called none of the gateway's."""
    return usage_line(task) if task.usage.get("model_calls") else f"{usage(task).wall_s:.1f} s"
