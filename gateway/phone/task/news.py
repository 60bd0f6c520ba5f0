"""What goes on in a task on a phone, as it happens: typed events, for terminals and programs.

They are news, not the record: the event log is that. `TaskStarted` comes first. Texts may stem from the phone or the
agent: whoever shows them makes them harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gateway.engine.events import NODE_DECIDED, Event
from gateway.engine.state import RunState
from gateway.phone.task.state import PhoneState, Step


@dataclass(frozen=True)
class TaskStarted:
    """The task is written down, or worked on again: from here on it can be resumed by its `run_id`."""

    run_id: str


@dataclass(frozen=True)
class DeviceFound:
    """The phone that the task has; `model` and `android` are empty where it does not say."""

    serial: str
    model: str
    android: str


@dataclass(frozen=True)
class NodeStarted:
    """A node begins: EnsureDevice, WaitIdle, Perceive, ChooseAction, Act, Verify, …"""

    node: str
    attempt: int


@dataclass(frozen=True)
class NodeFailed:
    """An attempt failed and is made again in `wait_s` seconds."""

    node: str
    attempt: int
    error: str
    wait_s: float


@dataclass(frozen=True)
class ModelDelta:
    """A piece of a model's answer, while it is generated."""

    text: str


@dataclass(frozen=True)
class ActionChosen:
    """The agent's decision number `decision`, of at most `max_steps`: its action as data, and what that touches, as
    people call it."""

    decision: int
    max_steps: int
    thinking: str
    action: Mapping[str, Any]
    target: str


@dataclass(frozen=True)
class StepTaken:
    """A step of the trajectory is written: an action with what became of it, or a prediction that could not be used.

    `left_s` is how many seconds the task goes on at most: at the mean duration of its steps until now, as far as its
    budgets of steps and time reach; None where it has neither.
    """

    step: Step
    max_steps: int | None
    left_s: float | None


@dataclass(frozen=True)
class Notice:
    """Something that a person may want to know: an act that is in doubt."""

    text: str


@dataclass(frozen=True)
class UsageChanged:
    """What the task has spent so far, by counter: steps, taps, model_calls, prompt_tokens, …"""

    counters: Mapping[str, float] = field(default_factory=dict)


PhoneEvent: TypeAlias = (
    TaskStarted | DeviceFound | NodeStarted | NodeFailed | ModelDelta | ActionChosen | StepTaken | Notice | UsageChanged
)
OnPhoneEvent: TypeAlias = Callable[[PhoneEvent], None]


class PhoneNarrator:
    """Tells the engine's news of one task as phone events (an engine `Observer`). `steps` were taken before, and are
    not told again; `limits` are the run's."""

    def __init__(
        self, run_id: str, tell: OnPhoneEvent, steps: int = 0, limits: Mapping[str, float] | None = None
    ) -> None:
        self._run_id = run_id
        self._tell = tell
        self._steps = steps
        self._limits = limits or {}
        self._device: DeviceFound | None = None
        tell(TaskStarted(run_id))

    def progress(self, kind: str, data: Mapping[str, Any]) -> None:
        match kind:
            case "node":
                self._tell(NodeStarted(data["node"], data["attempt"]))
            case "phone.device":
                self._found(DeviceFound(data["serial"], data["model"], data["android"]))
            case "phone.chosen":
                self._tell(
                    ActionChosen(data["decision"], data["max_steps"], data["thinking"], data["action"], data["target"])
                )
            case "model.delta":
                self._tell(ModelDelta(data["text"]))
            case "in_doubt":
                self._tell(Notice(f"{data['op']} is in doubt: {data['error']}"))

    def wrote(self, run_id: str, event: Event) -> None:
        if run_id != self._run_id or event.kind != NODE_DECIDED:
            return
        data = event.data
        if data["decision"] == "tryagain":
            self._tell(NodeFailed(data["node"], data["attempt"], data["error"][1], data["delay_ms"] / 1000))
        self._tell(UsageChanged(data["counters"]))

    def moved(self, run_id: str, node: str, state: RunState) -> None:
        data = state.data
        if run_id != self._run_id or not isinstance(data, PhoneState):
            return
        if data.device is not None:  # no node says it again in a task that is gone on with
            self._found(DeviceFound(data.device.serial, data.device.model, data.device.android))
        max_steps = self._limits.get("steps")
        for step in data.steps[self._steps :]:
            left = self._left(data.decisions, state.counters.get("time_s", 0.0))
            self._tell(StepTaken(step, None if max_steps is None else int(max_steps), left))
        self._steps = len(data.steps)

    def _left(self, decisions: int, took: float) -> float | None:
        """Seconds until the first of the budgets is used up, after decisions that `took` so many."""
        ends = []
        if "steps" in self._limits and decisions:
            ends.append(took / decisions * (self._limits["steps"] - decisions))
        if "time_s" in self._limits:
            ends.append(self._limits["time_s"] - took)
        return max(min(ends), 0.0) if ends else None

    def _found(self, device: DeviceFound) -> None:
        if device != self._device:
            self._device = device
            self._tell(device)
