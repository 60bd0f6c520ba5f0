"""Seeing: wait until the screen has come to rest, then look once. What verifies an act is what is decided upon next."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry, Route
from gateway.phone.task.setup import awake
from gateway.phone.task.state import PhoneContext, PhoneState, Seen

LONGEST_S = 10.0


@dataclass(frozen=True)
class Idle:
    serial: str | None
    delay: float


@dataclass(frozen=True)
class Looked:
    seen: Seen
    ms: float


class WaitIdle(Node[PhoneState, PhoneContext, Idle, float]):
    """Waits for the screen to come to rest; after an act, for the configured delay first: it has to begin to move."""

    name = "WaitIdle"
    on_success = "Perceive"
    on_failure = OnFailure(Retry(), backtrack_to="EnsureDevice")

    def build_input(self, state: PhoneState, context: PhoneContext) -> Idle:
        assert state.device is not None
        return Idle(state.device.serial, context.options.step_delay if state.acted else 0.0)

    async def execute(self, asked: Idle, visit: Visit) -> float:
        args = {"serial": asked.serial, "delay": asked.delay, "longest": LONGEST_S}
        return float((await visit.call("device.settle", args))["ms"])

    def apply_output(self, state: PhoneState, output: float) -> PhoneState:
        return state.with_(timings_ms={**state.timings_ms, "settle": output})


class Perceive(Node[PhoneState, PhoneContext, Idle, Looked]):
    """Looks at the screen: picture, elements, the app in front. One that has gone dark is switched on first."""

    name = "Perceive"
    on_success = Route[PhoneState](
        lambda state: "Verify" if state.acted is not None else "ChooseAction", ("Verify", "ChooseAction")
    )
    on_failure = OnFailure(Retry(), backtrack_to="EnsureDevice")

    def build_input(self, state: PhoneState, context: PhoneContext) -> Idle:
        assert state.device is not None
        return Idle(state.device.serial, 0.0)

    async def execute(self, asked: Idle, visit: Visit) -> Looked:
        found = await visit.call("device.observe", {"serial": asked.serial})
        if found["seen"]["screen_on"] is False:
            await awake(visit, asked.serial)
            found = await visit.call("device.observe", {"serial": asked.serial}, name="awake")
        return Looked(Seen.model_validate(found["seen"]), float(found["ms"]))

    def apply_output(self, state: PhoneState, output: Looked) -> PhoneState:
        return state.with_(seen=output.seen, timings_ms={**state.timings_ms, "perceive": output.ms})
