"""Verifying, by code: did the act do what it was for? What did not happen is told to the agent, with its cause."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.engine.ports import Json
from gateway.phone.actions import DEVICE_ACTION
from gateway.phone.judging.another_way import another_way
from gateway.phone.judging.happened import happened
from gateway.phone.judging.look import Look
from gateway.phone.judging.postcondition import judge
from gateway.phone.judging.still_there import unmoved
from gateway.phone.judging.target import called, target_of
from gateway.phone.task.perceive import LONGEST_S
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

NOTHING_CHANGED = ("dropped", "unchanged", "covered")
LATER_S = 1.0
UNTOLD = (
    "the screen has not changed: whether it happened is not known. Do not do it again: look elsewhere in the app "
    "whether it is done"
)

CRASHED = "the app has crashed or left: whether it happened is not known. Do not do it again: look whether it is done"
LATE = (
    "long ago: what the screen shows now does not tell whether it happened. Do not do it again: look elsewhere in the "
    "app whether it is done"
)
LONG_S = 120.0  # between an act and the look that is to tell what it did: others may have had the phone

INTERRUPTED = (
    "something else has come in front: whether it happened is not known. See to that first, then look whether it is "
    "done. Do not do it again"
)


@dataclass(frozen=True)
class Verified:
    acted: Acted
    after: Seen
    serial: str
    options: TaskOptions


class Judgement(Plain):
    result: Result
    after: Seen
    target: str = ""
    shown: dict[str, Json] | None = None
    """The action as the trajectory may have it, where that is another than the one that was done."""
    other: dict[str, Json] | None = None
    risk: str = ""
    """Where doing it once more on what is shown now would be doing it twice: that, as `risked` has it."""
    at: float = 0.0


class Verify(Node[PhoneState, PhoneContext, Verified, Judgement]):
    """Compares what was seen before and after. Where nothing has changed it looks again a little later, after an act
    with consequences for as long as patience lasts; a harmless act is then done once more by another way."""

    name = "Verify"
    on_success = Route[PhoneState](lambda state: state.next, ("ChooseAction", "Act", "RestartApp"))

    def build_input(self, state: PhoneState, context: PhoneContext) -> Verified:
        assert state.acted is not None and state.seen is not None and state.device is not None
        return Verified(state.acted, state.seen, state.device.serial, context.options)

    async def execute(self, given: Verified, visit: Visit) -> Judgement:
        at = await visit.now()
        acted = given.acted
        refused = acted.outcome.get("refused")
        try:
            action = DEVICE_ACTION.validate_python(acted.action)
        except ValueError:  # a custom one: it says itself what became of it
            return Judgement(result=_custom(acted), after=given.after, at=at)
        before = Look(acted.before, load_elements(visit.artifacts, acted.before.elements))
        target = target_of(action, before.elements, acted.before.size)
        if refused is not None:
            result = Result.model_validate(refused)
            shown = masked(acted.action, before.elements)
            return Judgement(result=result, after=given.after, target=called(target), shown=shown, at=at)
        after, waited = given.after, 0.0
        while True:
            look = Look(after, load_elements(visit.artifacts, after.elements))
            result = judge(
                action,
                target,
                before,
                look,
                acted.outcome,
                screen_change=given.options.screen_change,
                consequential=acted.consequential,
            )
            longest = given.options.patience if acted.consequential else LATER_S
            if result.ok is not False or result.cause not in NOTHING_CHANGED or waited >= longest:
                break
            delay = min(LATER_S, longest / 2)
            wait = {"serial": given.serial, "delay": delay, "longest": LONGEST_S}
            rested = await visit.call("device.settle", wait, name="later")
            waited += max(float(rested["ms"]) / 1000, delay)
            found = await visit.call("device.observe", {"serial": given.serial}, name="later.look")
            after = Seen.model_validate(found["seen"])
        if acted.consequential and result.ok and _interrupted(before, look):
            verdict = happened(action, target, acted.consequential, before, look)
            if not verdict:
                result = Result(ok=None, cause="unknown", note=INTERRUPTED, how=result.how, output=result.output)
        if acted.consequential and result.cause == "app_gone":
            result = Result(ok=None, cause="app_gone", note=CRASHED, how=result.how, output=result.output)
        if acted.consequential and result.ok and given.after.at - before.seen.at > LONG_S + given.options.step_delay:
            result = Result(ok=None, cause="unknown", note=LATE, how=result.how, output=result.output)
        other = None
        if result.ok is False and result.cause in NOTHING_CHANGED:
            if acted.consequential:
                result = Result(ok=None, cause="unknown", note=UNTOLD, how=result.how, output=result.output)
            elif not acted.other_way and result.cause != "covered":
                way = another_way(action, target, acted.before.size)
                other = None if way is None else way.model_dump(mode="json")
        shown = masked(acted.action, before.elements, look.elements)
        twice = acted.consequential and result.ok is not False and unmoved(target, before, look)
        return Judgement(
            result=result,
            after=after,
            target=called(target),
            shown=shown,
            other=other,
            risk=risk_of(after, called(target)) if twice else "",
            at=at,
        )

    def apply_output(self, state: PhoneState, output: Judgement) -> PhoneState:
        acted = state.acted
        assert acted is not None
        step = Step(
            number=len(state.steps) + 1,
            decision=state.decisions,
            thinking="" if state.other_way else state.thinking,
            action=output.shown or acted.action,
            target=output.target,
            consequential=bool(acted.consequential),
            pixels=tuple(tuple(each) for each in acted.outcome.get("pixels") or ()),
            result=output.result,
            screenshot=acted.before.png,
            elements=acted.before.elements,
            state_id=acted.before.state_id,
            package=acted.before.package,
            size=acted.before.size,
            timings_ms=state.timings_ms,
            retries=acted.retries,
            timestamp=acted.before.at or output.at,
            error_screenshot=output.after.png if output.result.ok is False else None,
        )
        state = state.with_(
            steps=(*state.steps, step), seen=output.after, acted=None, timings_ms={}, note=output.result.note
        )
        if output.risk and output.risk not in state.risked:
            state = state.with_(risked=(*state.risked, output.risk))
        if output.other is not None:
            return state.with_(queue=(output.other, *state.queue[1:]), other_way=True, next="Act")
        state = state.with_(other_way=False)
        if output.result.cause == "app_gone" and state.app:
            return state.with_(queue=(), next="RestartApp")
        if output.result.ok is False or len(state.queue) < 2:
            return state.with_(queue=(), next="ChooseAction")
        return state.with_(queue=state.queue[1:], next="Act")


def _interrupted(before: Look, after: Look) -> bool:
    """Whether a change may be something that came up by itself."""
    return (after.is_popup and not before.is_popup) or after.seen.package != before.seen.package


def _custom(acted: Acted) -> Result:
    if acted.outcome.get("ok") is False:
        return Result(ok=False, cause="failed", note=str(acted.outcome.get("message", "")))
    return Result(
        ok=acted.outcome.get("ok"), note=str(acted.outcome.get("output") or ""), how=str(acted.action["action"])
    )
