"""What is told of a task on a phone, from what the engine notices."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.events import NODE_DECIDED, RUN_STARTED, Event
from gateway.engine.state import RunState
from gateway.phone.task.news import (
    ActionChosen,
    DeviceFound,
    ModelDelta,
    NodeFailed,
    NodeStarted,
    Notice,
    PhoneEvent,
    PhoneNarrator,
    StepTaken,
    TaskStarted,
    UsageChanged,
)
from gateway.phone.task.state import Device, PhoneState, Result, Step

RUN = "01K"
DEVICE = Device(serial="S1", model="Pixel 6", android="14", size=(1080, 2400))


def step(number: int) -> Step:
    return Step(number=number, decision=number, action={"action": "back"}, result=Result(ok=True))


def state(steps: int, device: Device | None = DEVICE, **counters: float) -> RunState:
    taken = tuple(step(number) for number in range(1, steps + 1))
    return RunState("Verify", PhoneState(device=device, steps=taken, decisions=steps), counters=counters)


def test_progress_becomes_events() -> None:
    told: list[PhoneEvent] = []
    narrator = PhoneNarrator(RUN, told.append)
    narrator.progress("node", {"node": "Perceive", "visit": 1, "attempt": 2})
    narrator.progress("phone.device", {"serial": "S1", "model": "Pixel 6", "android": "14"})
    action = {"action": "back"}
    chosen = {"decision": 3, "max_steps": 50, "thinking": "hm", "action": action, "target": ""}
    narrator.progress("phone.chosen", chosen)
    narrator.progress("model.delta", {"role": "phone", "text": "{"})
    narrator.progress("in_doubt", {"op": "device.act", "error": "cut"})
    narrator.progress("something.else", {})
    assert told == [
        TaskStarted(RUN),
        NodeStarted("Perceive", 2),
        DeviceFound("S1", "Pixel 6", "14"),
        ActionChosen(3, 50, "hm", action, ""),
        ModelDelta("{"),
        Notice("device.act is in doubt: cut"),
    ]


def test_each_step_is_told_once_and_those_from_before_not_at_all() -> None:
    told: list[PhoneEvent] = []
    narrator = PhoneNarrator(RUN, told.append, steps=2)
    for steps in (2, 3, 3, 5):
        narrator.moved(RUN, "Verify", state(steps))
    narrator.moved("another", "Verify", state(9))
    assert [each.step.number for each in told if isinstance(each, StepTaken)] == [3, 4, 5]


def left(taken: int, took: float, /, **limits: float) -> float | None:
    """What is told of the last of so many steps."""
    told: list[PhoneEvent] = []
    PhoneNarrator(RUN, told.append, taken - 1, limits).moved(RUN, "Verify", state(taken, time_s=took))
    last = told[-1]
    assert isinstance(last, StepTaken) and last.max_steps == limits.get("steps")
    return last.left_s


def test_the_time_that_is_left_goes_by_the_mean_step_and_ends_with_the_first_budget() -> None:
    assert left(4, 20.0) is None
    assert left(4, 20.0, steps=50) == 230.0
    assert left(4, 20.0, steps=50, time_s=100) == 80.0
    assert left(4, 20.0, time_s=1800) == 1780.0
    assert left(50, 20.0, steps=50) == left(4, 20.0, time_s=10) == 0.0


@given(st.integers(1, 60), st.floats(0, 1e4), st.integers(1, 60), st.floats(1, 1e4))
def test_what_is_left_is_never_below_nothing_nor_above_a_budget(
    steps: int, took: float, max_steps: int, time_s: float
) -> None:
    seconds = left(steps, took, steps=max_steps, time_s=time_s)
    assert seconds is not None and 0 <= seconds <= max(time_s - took, 0)


def test_the_phone_is_told_once_also_where_no_node_says_it_again() -> None:
    told: list[PhoneEvent] = []
    narrator = PhoneNarrator(RUN, told.append)
    narrator.moved(RUN, "WaitIdle", state(0, device=None))
    for _ in range(2):
        narrator.moved(RUN, "WaitIdle", state(0))
    assert told == [TaskStarted(RUN), DeviceFound("S1", "Pixel 6", "14")]


def test_a_failed_attempt_and_what_was_spent_are_told() -> None:
    told: list[PhoneEvent] = []
    narrator = PhoneNarrator(RUN, told.append)
    data = {"node": "Perceive", "attempt": 1, "outcome": "failure", "counters": {"steps": 1.0}}
    again = {**data, "decision": "tryagain", "error": ["device_offline", "S1 is offline"], "delay_ms": 1500}
    narrator.wrote(RUN, Event(1, RUN_STARTED, {}))
    narrator.wrote(RUN, Event(2, NODE_DECIDED, again))
    narrator.wrote(RUN, Event(3, NODE_DECIDED, {**data, "decision": "advance"}))
    narrator.wrote("another", Event(4, NODE_DECIDED, again))
    assert told[1:] == [
        NodeFailed("Perceive", 1, "S1 is offline", 1.5),
        UsageChanged({"steps": 1.0}),
        UsageChanged({"steps": 1.0}),
    ]
