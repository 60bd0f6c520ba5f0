"""Acting: once, and with care where it has consequences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Json
from gateway.phone.actions import DEVICE_ACTION
from gateway.phone.element import Element
from gateway.phone.judging.consequential import Words, consequential
from gateway.phone.judging.target import called, same, target_of
from gateway.phone.task.secret import masked
from gateway.phone.task.state import Acted, PhoneContext, PhoneState, Plain, Result, Seen, TaskOptions, load_elements

if TYPE_CHECKING:
    from gateway.phone.agents.extensions import Extensions

AGAIN_ALWAYS = ("home", "open_app", "wait", "clear")
NO_TOUCH = ("wait",)
LONGEST_S = 2.0


@dataclass(frozen=True)
class Due:
    action: dict[str, Json]
    seen: Seen
    serial: str | None
    options: TaskOptions
    app: str
    risked: tuple[str, ...]
    task: str


class Done(Plain):
    """`acted` is None where nothing was done, for the reason that `result` gives."""

    acted: Acted | None = None
    result: Result | None = None
    risk: str = ""
    touches: bool = True
    off_app: bool = False
    at: float = 0.0
    target: str = ""


class Act(Node[PhoneState, PhoneContext, Due, Done]):
    """Does the next of the queue. What the phone refuses is tried again where it is harmless; what has consequences is
    looked at once more before it is done, and is never done a second time unasked."""

    name = "Act"
    spends = ("taps", "off_app_actions")
    on_failure = OnFailure(Retry())
    on_success = "WaitIdle"

    def __init__(self, words: Words, extensions: Extensions) -> None:
        self._words = words
        self._extensions = extensions

    def build_input(self, state: PhoneState, context: PhoneContext) -> Due:
        assert state.seen is not None and state.device is not None
        serial = state.device.serial
        return Due(state.queue[0], state.seen, serial, context.options, state.app, state.risked, context.task)

    async def execute(self, due: Due, visit: Visit) -> Done:
        at = await visit.now()
        risky, target, element = self._judged(due, visit)
        risk = f"{due.seen.state_id or due.seen.look} {target}" if risky else ""
        done = Done(
            risk=risk,
            touches=due.action["action"] not in NO_TOUCH,
            off_app=bool(due.app) and due.seen.package != due.app,
            at=at,
            target=target,
        )
        if risky:
            refusal = await self._forbidden(due, risk, target, visit)
            if refusal is None:
                due, refusal = await self._still_there(due, element, visit)
            if refusal is not None:
                return done.model_copy(update={"result": refusal, "touches": False, "off_app": False, "risk": ""})
        outcome, retries, ms = await self._do(due, risky, target, visit)
        acted = Acted(action=due.action, before=due.seen, outcome=outcome, ms=ms, retries=retries, consequential=risky)
        return done.model_copy(update={"acted": acted})

    def apply_output(self, state: PhoneState, output: Done) -> PhoneState:
        if output.acted is None:
            assert output.result is not None
            acted = Acted(
                action=state.queue[0],
                before=state.seen,
                outcome={"ok": False, "refused": output.result.model_dump(mode="json")},
            )
            return state.with_(acted=acted)
        risked = (
            (*state.risked, output.risk) if output.risk and output.acted.outcome["ok"] is not False else state.risked
        )
        timings = {**state.timings_ms, "act": output.acted.ms}
        acted = output.acted.model_copy(update={"other_way": state.other_way})
        return state.with_(acted=acted, risked=risked, timings_ms=timings)

    def spent(self, output: Done) -> dict[str, float]:
        return {"taps": 1.0 if output.touches else 0.0, "off_app_actions": 1.0 if output.off_app else 0.0}

    def _judged(self, due: Due, visit: Visit) -> tuple[str, str, Element | None]:
        """What makes it consequential (empty where it is harmless), what it touches in words, and that element."""
        custom = self._extensions.actions.get(str(due.action["action"]))
        if custom is not None:
            return (custom.name if custom.consequential else ""), "", None
        action = DEVICE_ACTION.validate_python(due.action)
        elements = load_elements(visit.artifacts, due.seen.elements)
        element = target_of(action, elements, due.seen.size)
        readable = elements is not None
        return consequential(action, element, elements, self._words, readable=readable), called(element), element

    async def _forbidden(self, due: Due, risk: str, target: str, visit: Visit) -> Result | None:
        """What a person says to it, where one has to be asked."""
        what = f"{due.action['action']} {target}".strip()
        if risk in due.risked:
            question = (
                f"This was done before, on this very screen: {what}. It may have happened although nothing changed. "
                f"Do it again? (Task: {due.task[:200]})"
            )
            answer = await visit.ask("again", question, options=("yes", "no"))
        elif due.options.confirm:
            answer = await visit.ask(
                "confirm", f"May this be done: {what}? (Task: {due.task[:200]})", options=("yes", "no")
            )
        else:
            return None
        if answer == "yes":
            return None
        return Result(ok=False, cause="refused", note=f"the user does not want this: {what}")

    async def _still_there(self, due: Due, element: Element | None, visit: Visit) -> tuple[Due, Result | None]:
        """Looks once more: while the agent decided, something else may have come where the target was."""
        if element is None:
            return due, None
        found = await visit.call("device.observe", {"serial": due.serial}, name="before")
        now = Seen.model_validate(found["seen"])
        there = load_elements(visit.artifacts, now.elements)
        again = same(element, there or ())
        if again is None or again.bounds != element.bounds:
            note = f"{called(element)} is not there any more as it was: the screen has changed. Look again"
            return due, Result(ok=False, cause="moved", note=note)
        place = due.action.get("coordinate")
        if isinstance(place, dict):
            action = {**due.action, "coordinate": {"element": again.number}}
            return replace(due, action=action, seen=now), None
        return replace(due, seen=now), None

    async def _do(self, due: Due, risky: str, target: str, visit: Visit) -> tuple[dict[str, Json], int, float]:
        """What became of it, how often it was tried again, and how long the phone took, in milliseconds."""
        args = {
            "serial": due.serial,
            "action": due.action,
            "shown": masked(due.action, load_elements(visit.artifacts, due.seen.elements)),
            "target": target,
            "seen": due.seen.model_dump(mode="json"),
            "consequential": risky,
        }
        effect = None if risky else self._effect(str(due.action["action"]))
        for retry in range(due.options.retries + 1):
            began = await visit.now()
            outcome = await visit.call("device.act", args, effect=effect)
            ms = round((await visit.now() - began) * 1000, 1)
            if outcome is None:  # a person said that it has happened
                outcome = {"ok": None, "uncertain": "its answer was lost; the user says that it happened"}
            if outcome["ok"] is not False or risky or outcome["error"] != "action_failed":
                return outcome, retry, ms
            if retry == due.options.retries or await self._changed(due, retry, visit):
                return outcome, retry, ms
        raise AssertionError("not reached")

    def _effect(self, name: str) -> Effect | None:
        """A milder one than an act on a phone has in general."""
        custom = self._extensions.actions.get(name)
        return custom.effect if custom is not None else Effect.IDEMPOTENT if name in AGAIN_ALWAYS else None

    async def _changed(self, due: Due, retry: int, visit: Visit) -> bool:
        """Whether the screen is another one, after the pause before the next try."""
        delay = due.options.retry_delay * 2**retry
        await visit.call("device.settle", {"serial": due.serial, "delay": delay, "longest": LONGEST_S}, name="pause")
        found = await visit.call("device.observe", {"serial": due.serial}, name="between")
        return bool(found["seen"]["look"] != due.seen.look)
