"""What an agent is to a session: something that an iteration is given to, as a run of its own."""

from __future__ import annotations

from typing import Literal, Protocol

from gateway.engine.state import RunState, Status
from gateway.errors import UserCancelled
from gateway.loop.conditions.output import unmoving
from gateway.loop.state import Evaluation, Plain
from gateway.tools.child import Caller, ChildRun

SUMMARY = 300  # characters

# Errors that another iteration would only meet again: a person has to change something first.
LASTING = frozenset(
    {
        *("config", "usage", "pattern", "graph", "model_unavailable", "model_refused"),
        *("adb_missing", "adb_too_old", "no_device", "several_devices", "device_unauthorized", "app_not_found"),
    }
)


class Assignment(Plain):
    """What an iteration is to do. `request` asks for one thing, in words, within a small model's budget; `evaluation`
    is the last one, None where there was none; `notes` say what became of the iterations before. `task_type` is what a
    turn is for, where that is known without asking a model."""

    task: str
    iteration: int
    max_iterations: int
    request: str
    evaluation: Evaluation | None = None
    notes: tuple[str, ...] = ()
    task_type: str | None = None


class Told(Plain):
    """How an iteration ended, as its record has it. `fatal`: nothing will get better by another one, and `hint` is what
    a person can do."""

    outcome: Literal["done", "failed", "limited", "stopped"]
    summary: str
    error_kind: str = ""
    hint: str = ""
    fatal: bool = False


class Agent(Protocol):
    """One kind of agent, for one session."""

    async def pins(self) -> dict[str, bytes]:
        """What shapes every iteration, as it is when the session begins; `begin` has it again in `caller.pins`."""

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        """The run that the iteration is; asked again when it is resumed. Raises EchelonError where none can begin,
        which no other iteration will do better at."""

    def told(self, state: RunState, hint: str) -> Told:
        """How the run ended; `hint` is what whoever failed it said could be done."""


def ended(state: RunState, hint: str, summary: str) -> Told:
    """How a run of any kind ended, `summary` where it is complete."""
    if state.status is Status.COMPLETE:
        return Told(outcome="done", summary=in_a_line(summary) or "it said nothing")
    reason = state.stop_reason or ""
    if reason.startswith("budget:"):
        what = reason.removeprefix("budget:")
        return Told(outcome="limited", summary=f"it used up its {what}", error_kind="budget", hint=hint)
    if reason == UserCancelled.kind:
        return Told(outcome="stopped", summary="a person has cancelled it", error_kind=reason)
    kind = reason.removeprefix("error:")
    said = in_a_line(state.error or reason or "it did not end")
    return Told(outcome="failed", summary=said, error_kind=kind, hint=hint, fatal=kind in LASTING)


def in_a_line(text: str) -> str:
    """What an agent said, without its line breaks and what is for terminals, and not too much of it."""
    line = unmoving(" ".join(text.split())).strip()
    return line if len(line) <= SUMMARY else f"{line[:SUMMARY].rstrip()} …"
