"""Acting: once, and with care where it has consequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Json
from gateway.phone.actions import DEVICE_ACTION
from gateway.phone.element import Element
from gateway.phone.judging.consequential import Words, consequential
from gateway.phone.judging.look import Look
from gateway.phone.judging.still_there import still_there
from gateway.phone.judging.target import called, same, target_of
from gateway.phone.task.secret import masked
from gateway.phone.task.state import (
    Acted,
    PhoneContext,
    PhoneState,
    Plain,
    Result,
    Seen,
    Step,
    TaskOptions,
    load_elements,
    risk_of,
)
from gateway.phone.trajectory.words import in_words

if TYPE_CHECKING:
    from gateway.phone.agents.extensions import Extensions

AGAIN_ALWAYS = ("home", "open_app", "wait", "clear")
NO_TOUCH = ("wait",)
UNTOLD = ("unknown", "app_gone")
LONGEST_S = 2.0


@dataclass(frozen=True)
class Due:
    action: dict[str, Json]
    seen: Seen
    serial: str | None
    options: TaskOptions
    app: str
    risked: tuple[str, ...]
    untold: tuple[Step, ...]
    task: str
    other_way: bool


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
        return Due(
            action=state.queue[0],
            seen=state.seen,
            serial=state.device.serial,
            options=context.options,
            app=state.app,
            risked=state.risked,
            untold=_untold(state.steps),
            task=context.task,
            other_way=state.other_way,
        )

    async def execute(self, due: Due, visit: Visit) -> Done:
        at = await visit.now()
        risky, target, element = self._judged(due, visit)
        risk = risk_of(due.seen, target) if risky else ""
        done = Done(
            risk=risk,
            touches=due.action["action"] not in NO_TOUCH,
            off_app=bool(due.app) and due.seen.package != due.app,
            at=at,
            target=target,
        )
        refusal = None
        if risky:
            what = in_words(masked(due.action, load_elements(visit.artifacts, due.seen.elements)), target)
            question = self._question(due, risk, what, target)
            refusal = None if question is None else await self._forbidden(question, what, visit)
            if refusal is None:
                due, refusal = await self._still_there(due, element, visit, closely=question is not None)
        elif due.other_way:
            refusal = await self._happened_late(due, visit)
        if refusal is not None:
            return done.model_copy(update={"result": refusal, "touches": False, "off_app": False, "risk": ""})
        outcome, retries, ms = await self._do(due, risky, target, visit)
        looked = outcome.get("before")
        before = due.seen if looked is None else Seen.model_validate(looked)
        outcome = {name: each for name, each in outcome.items() if name != "before"}
        acted = Acted(action=due.action, before=before, outcome=outcome, ms=ms, retries=retries, consequential=risky)
        moved = outcome.get("error") == "moved"
        untouched = {"touches": False, "off_app": False} if moved else {}
        return done.model_copy(update={"acted": acted, **untouched})

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

    def _question(self, due: Due, risk: str, what: str, target: str) -> tuple[str, str] | None:
        """What a person has to be asked first, after its name; None where that is nothing. `what` is the act in
        words."""
        if risk in due.risked:
            return "again", (
                f"This was done before, on this very screen: {what}. It may have happened although nothing changed. "
                f"Do it again? (Task: {due.task[:200]})"
            )
        if any(_is_that(each, due.seen, target) for each in due.untold):
            return "again", (
                f"This was done before, and nobody knows whether it happened: {what}. Do it again? "
                f"(Task: {due.task[:200]})"
            )
        if due.options.confirm:
            return "confirm", f"May this be done: {what}? (Task: {due.task[:200]})"
        return None

    async def _forbidden(self, question: tuple[str, str], what: str, visit: Visit) -> Result | None:
        """The refusal, where the person does not want it."""
        if await visit.ask(*question, options=("yes", "no")) == "yes":
            return None
        return Result(ok=False, cause="refused", note=f"the user does not want this: {what}")

    async def _still_there(
        self, due: Due, element: Element | None, visit: Visit, *, closely: bool
    ) -> tuple[Due, Result | None]:
        """Looks once more: while the agent decided, something else may have come where the target was; while a person
        was asked (`closely`), anything. Once in a visit: an attempt that goes on after a doubt must not see that the
        target has gone, but ask what became of it."""
        try:
            action = DEVICE_ACTION.validate_python(due.action)
        except ValueError:  # a custom one knows itself where it belongs
            return due, None
        found = await visit.call("device.observe", {"serial": due.serial}, name="before", effect=Effect.ONCE)
        now = Seen.model_validate(found["seen"])
        then, later = (Look(each, load_elements(visit.artifacts, each.elements)) for each in (due.seen, now))
        if not still_there(action, element, then, later, closely=closely):
            what = called(element) or "what it was for"
            note = f"{what} is not there any more as it was: the screen has changed. Look again"
            return due, Result(ok=False, cause="moved", note=note)
        place = due.action.get("coordinate")
        again = None if element is None else same(element, later.elements or ())
        if isinstance(place, dict) and again is not None:
            action_now = {**due.action, "coordinate": {"element": again.number}}
            return replace(due, action=action_now, seen=now), None
        return replace(due, seen=now), None

    async def _happened_late(self, due: Due, visit: Visit) -> Result | None:
        """Before another way: what the first one did may only show now."""
        found = await visit.call("device.observe", {"serial": due.serial}, name="late", effect=Effect.ONCE)
        if found["seen"]["look"] == due.seen.look:
            return None
        return Result(
            ok=False, cause="moved", note="the screen has changed since: it may have happened late. Look again"
        )

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


def _untold(steps: Sequence[Step]) -> tuple[Step, ...]:
    """What had consequences, and nobody knows whether it happened."""
    return tuple(each for each in steps if each.consequential and each.result.cause in UNTOLD)


def _is_that(step: Step, seen: Seen, target: str) -> bool:
    """Whether it would be the same thing once more, on a screen that is built alike; also by Enter instead of by the
    button, of which nothing tells that it is another thing."""
    structure = seen.state_id.partition(":")[0]
    alike = step.package == seen.package and structure == step.state_id.partition(":")[0]
    return alike and bool(structure) and (step.target == target or not step.target or not target)
