"""Deciding: the agent is asked for the next action; what cannot be used goes back to it with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry, Route
from gateway.engine.ports import Json
from gateway.phone.actions import DEVICE_ACTION, Numbered
from gateway.phone.agents.agent import Agent, Chosen, Moment, Unusable
from gateway.phone.element import Element
from gateway.phone.judging import loops
from gateway.phone.judging.target import called, target_of
from gateway.phone.task.secret import masked
from gateway.phone.task.state import (
    Finished,
    PhoneContext,
    PhoneState,
    Plain,
    Result,
    Seen,
    Step,
    load_elements,
)

UNUSABLE = 3  # predictions in a row that end the task
TALKING = {"ask_user": "AskUser", "mcp_call": "CallTool", "FINISH": "Stop"}
PLACES = ("coordinate", "start", "end")


@dataclass(frozen=True)
class Asked:
    state: PhoneState
    task: str


class Decided(Plain):
    """What came of asking: a decision, or why what was said cannot be used (`said` is kept for the record). `bar` is
    the choice that may not be made again on this screen."""

    chosen: Chosen | None = None
    problem: str = ""
    cause: str = ""
    said: Json = None
    text: str = ""
    target: str = ""
    bar: str = ""
    tried: str = ""
    at: float = 0.0
    ms: float = 0.0


class ChooseAction(Node[PhoneState, PhoneContext, Asked, Decided]):
    """One decision of the agent: a step of the task's budget, whatever comes of it."""

    name = "ChooseAction"
    spends = ("steps",)
    on_failure = OnFailure(Retry())
    on_success = Route[PhoneState](lambda state: state.next, ("ChooseAction", "Act", "AskUser", "CallTool", "Stop"))

    def __init__(self, agent: Agent, tools: tuple[str, ...], max_steps: int) -> None:
        self._agent = agent
        self._tools = tools
        self._max_steps = max_steps

    def build_input(self, state: PhoneState, context: PhoneContext) -> Asked:
        return Asked(state, context.task)

    async def execute(self, asked: Asked, visit: Visit) -> Decided:
        state = asked.state
        seen = state.seen
        assert seen is not None
        elements = load_elements(visit.artifacts, seen.elements)
        began = await visit.now()
        max_steps = max(self._max_steps, int(visit.limits.get("steps", 0)))  # somebody may have given it more
        moment = Moment(
            task=asked.task,
            step=state.decisions + 1,
            max_steps=max_steps,
            seen=seen,
            elements=elements,
            picture=lambda: None if seen.png is None else visit.artifacts.get(seen.png),
            history=state.steps,
            note=state.note,
            tool_result=state.tool_result,
            barred=tuple(each for key in state.barred if (each := loops.action_of(key, seen)) is not None),
            apps=state.device.apps if state.device else (),
            tools=self._tools,
            asked=state.asked,
            memory=state.memory,
            app=state.app,
        )
        try:
            chosen = await self._agent.choose(moment, visit)
            decided = _checked(chosen, state, seen, elements)
        except Unusable as error:
            said = masked(error.said, elements) if isinstance(error.said, dict) else error.said
            decided = Decided(problem=str(error), cause="unusable", said=said, text=error.text)
        ended = await visit.now()
        if decided.chosen is not None:
            first = decided.chosen.actions[0]
            visit.progress(
                "phone.chosen",
                decision=moment.step,
                max_steps=max_steps,
                thinking=decided.chosen.thinking,
                action=masked(first, elements),
                target=decided.target,
            )
        return decided.model_copy(update={"at": began, "ms": round((ended - began) * 1000, 1)})

    def apply_output(self, state: PhoneState, output: Decided) -> PhoneState:
        timings = {**state.timings_ms, "predict": output.ms}
        chosen = output.chosen
        state = state.with_(
            decisions=state.decisions + 1,
            timings_ms=timings,
            note="",
            tool_result=None,
            tried=_counted(state.tried, output.tried),
            barred=(*state.barred, output.bar) if output.bar else state.barred,
            asked=state.asked + (chosen.calls if chosen else 0),
            memory=chosen.memory if chosen else state.memory,
            packs=(*state.packs, chosen.pack) if chosen and chosen.pack else state.packs,
        )
        if output.problem:
            return _refused(state, output)
        assert chosen is not None
        first = str(chosen.actions[0]["action"])
        state = state.with_(queue=chosen.actions, thinking=chosen.thinking, unusable=0, other_way=False)
        if first == "answer":
            said = str(chosen.actions[0]["text"])
            state = recorded(state, Result(ok=True, note=said), at=output.at)
            state = state.with_(answer=said, queue=chosen.actions[1:])
            if not state.queue:
                note = "The answer is noted. If nothing else is left to do, finish."
                return state.with_(next="ChooseAction", note=note)
            first = str(state.queue[0]["action"])
        if first == "FINISH":
            reason, success = str(state.queue[0].get("reason", "")), bool(state.queue[0].get("success", True))
            state = recorded(state, Result(ok=True, note=reason), at=output.at)
            return state.with_(queue=(), finished=Finished(success=success, reason=reason), next="Stop")
        return state.with_(next=TALKING.get(first, "Act"))


def recorded(state: PhoneState, result: Result, *, at: float, target: str = "") -> PhoneState:
    """With the first of the queue as a step of the trajectory that touches no phone."""
    seen = state.seen
    assert seen is not None
    step = Step(
        number=len(state.steps) + 1,
        decision=state.decisions,
        thinking=state.thinking,
        action=state.queue[0] if state.queue else {},
        target=target,
        result=result,
        screenshot=seen.png,
        elements=seen.elements,
        state_id=seen.state_id,
        package=seen.package,
        size=seen.size,
        timings_ms=state.timings_ms,
        timestamp=at,
    )
    return state.with_(steps=(*state.steps, step), timings_ms={})


def _checked(chosen: Chosen, state: PhoneState, seen: Seen, elements: tuple[Element, ...] | None) -> Decided:
    """The decision, or what is wrong with making it here. Places of what follows the first action are made points of
    the screen: numbers hold for the list that the agent saw."""
    first, rest = chosen.actions[0], chosen.actions[1:]
    element = _target(first, elements, seen)
    key, target = loops.key(seen, first), called(element)
    if key in state.barred:
        return Decided(
            problem="this has been tried on this very screen without effect: it is barred here, do something else",
            cause="unusable",
            said=masked(first, elements),
            text=chosen.thinking,
        )
    if first["action"] not in TALKING and state.tried.get(key, 0) + 1 >= (times := loops.times(first)):
        return Decided(
            problem=f"the screen was the same {times} times, and the same was chosen each time: it does not lead "
            "on, and is barred here now. Do something else",
            cause="loop",
            said=masked(first, elements),
            text=chosen.thinking,
            bar=key,
            tried=key,
        )
    placed = tuple(_placed(each, elements, seen) for each in rest)
    return Decided(chosen=chosen.model_copy(update={"actions": (first, *placed)}), target=target, tried=key)


def _target(action: Mapping[str, Json], elements: tuple[Element, ...] | None, seen: Seen) -> Element | None:
    try:
        return target_of(DEVICE_ACTION.validate_python(dict(action)), elements, seen.size)
    except ValueError:  # not the phone's
        return None


def _placed(action: dict[str, Json], elements: tuple[Element, ...] | None, seen: Seen) -> dict[str, Json]:
    placed = dict(action)
    for name in PLACES:
        place = placed.get(name)
        if isinstance(place, dict) and (found := _numbered(place, elements)) is not None:
            x, y = found.bounds.centre
            placed[name] = [min(max(x / seen.size[0], 0.0), 1.0), min(max(y / seen.size[1], 0.0), 1.0)]
    return placed


def _numbered(place: Mapping[str, Json], elements: tuple[Element, ...] | None) -> Element | None:
    number = Numbered.model_validate(dict(place)).element
    return next((each for each in elements or () if each.number == number), None)


def _counted(tried: Mapping[str, int], key: str) -> dict[str, int]:
    return {**tried, key: tried.get(key, 0) + 1} if key else dict(tried)


def _refused(state: PhoneState, output: Decided) -> PhoneState:
    """Goes back to the agent with the reason; three in a row that cannot be used end the task."""
    unusable = state.unusable + (output.cause == "unusable")
    said = output.said if isinstance(output.said, dict) else {}
    state = state.with_(queue=(said,) if said else (), thinking=output.text)
    state = recorded(state, Result(ok=False, cause=output.cause, note=output.problem), at=output.at)
    state = state.with_(queue=(), unusable=unusable, note=output.problem, next="ChooseAction")
    if unusable < UNUSABLE:
        return state
    reason = f"{UNUSABLE} predictions in a row could not be used; the last: {output.problem}"
    return state.with_(finished=Finished(success=False, reason=reason), next="Stop")
