"""The Planner, strategic: which task type and which goals, or an answer, or a question. It never names tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.llm.decisions import Check
from gateway.tools.fulltext import terms
from gateway.turn import few_shot
from gateway.turn.asking import Asked, Asker, counted
from gateway.turn.parts import Parts
from gateway.turn.sections import sections
from gateway.turn.state import Item, Plan, TurnContext, TurnState
from gateway.turn.task_state import TaskState

MAX_PLANS = 3
MAX_GOALS = 4


@dataclass(frozen=True)
class Planned:
    plan: Plan
    asked: Asked | None


class PlanTask(Node[TurnState, TurnContext, TurnState, Planned]):
    """`PLANNER_DECISION`: EXECUTE, COMPLETE or CLARIFY.

    Where a task is done and its plan said what follows, that is the next plan: nobody has to be asked.
    """

    name = "Plan"
    on_success = Route[TurnState](lambda state: state.next, ("Execute", "Clarify", "Respond"))
    spends = ("steps", "plans")

    def __init__(self, parts: Parts, context: TurnContext, asker: Asker) -> None:
        self._programs = parts.programs
        self._choice = sorted(parts.planned)
        self._context = context
        self._asker = asker
        self._shown = few_shot.shown_for(parts.planned)

    def build_input(self, state: TurnState, context: TurnContext) -> TurnState:
        return state

    async def execute(self, given: TurnState, visit: Visit) -> Planned:
        if self._context.task_type is not None and not given.plans:
            goal = Plan(
                action="EXECUTE",
                reasoning="the task type was given",
                task_type=self._context.task_type,
                goals=(self._context.request,),
            )
            return Planned(goal, None)
        if given.plans and given.plan.then and not given.escalated:
            task, *rest = given.plan.then
            following = Plan(action="EXECUTE", reasoning="as planned", **task.model_dump(), then=tuple(rest))
            return Planned(following, None)
        made = sum(plan.action == "EXECUTE" for plan in given.plans)
        if made >= MAX_PLANS:
            return Planned(Plan(action="COMPLETE", reasoning=f"{MAX_PLANS} plans were made: no more are"), None)
        asked = await self._asker.decide(
            visit,
            given,
            "planner",
            sections(self._context.request, given, visit.artifacts),
            self._question(given),
            self._schema(MAX_PLANS - made - 1),
            type="PLANNER_DECISION",
            check=_once(self._objection),  # "say it after me" is a request, too: said again, it is taken
        )
        return Planned(self._asked_for(self._of_its_type(Plan(**asked.value))), asked)

    def spent(self, output: Planned) -> Mapping[str, float]:
        return {"plans": 1, "steps": 0 if output.asked is None else 1}

    def apply_output(self, state: TurnState, output: Planned) -> TurnState:
        plan, asked = output.plan, output.asked
        follows = {"EXECUTE": "Execute", "CLARIFY": "Clarify", "COMPLETE": "Respond"}
        state = state.with_(plans=(*state.plans, plan), next=follows[plan.action])
        if plan.action == "EXECUTE":
            program = self._programs[plan.task_type]
            cursor = program.start()
            state = state.with_(cursor=cursor, task=TaskState.of(program, cursor), escalated="", response=None)
        return counted(state, asked)

    def _of_its_type(self, plan: Plan) -> Plan:
        """The plan with the type whose example has one of its goals word for word, and no other type's: a small model
        copies the right goal, and may still name another type for it."""
        owners = [self._shown.get(goal, set()) for goal in plan.goals]
        others = {next(iter(each)) for each in owners if len(each) == 1} - {plan.task_type}
        if len(others) != 1 or any(plan.task_type in each for each in owners):
            return plan
        return plan.model_copy(update={"task_type": others.pop()})

    def _asked_for(self, plan: Plan) -> Plan:
        """The plan with each goal once, and without tasks that the request does not ask for: one that does has a word
        of the request's own that the tasks before it do not have. Small models add what they have seen in an example.
        """
        later = {frozenset(terms(goal)) for task in plan.then for goal in task.goals}
        goals = tuple(goal for goal in plan.goals if frozenset(terms(goal)) not in later) or plan.goals
        words = set(terms(self._context.request))
        covered = set(terms(" ".join(goals)))
        kept = []
        for task in plan.then:
            own = set(terms(" ".join(task.goals))) - covered
            if own & words:
                kept.append(task)
                covered |= own
        return plan.model_copy(update={"goals": goals if kept else plan.goals, "then": tuple(kept)})

    def _objection(self, decision: dict[str, Any]) -> str | None:
        """An answer that only has the request's own words answers nothing: something is to be done with them."""
        if decision["action"] != "COMPLETE":
            return None
        said = set(terms(decision["response"]))
        if len(said) < 2 or said - set(terms(self._context.request)):
            return None
        return "the response only repeats the request. What is to be remembered, made or changed needs EXECUTE"

    def _question(self, state: TurnState) -> str:
        """As in the prompt's examples: a small model goes on with them where the form is the same."""
        stopped = f"The Task Executor stopped: {state.escalated}. What now?\n\n" if state.escalated else ""
        return f"{stopped}Decision:"

    def _schema(self, following: int) -> dict[str, Any]:
        """What may be decided; at most `following` tasks after the first one, so that the plans do not run out."""
        text = {"type": "string", "minLength": 1, "maxLength": 600}
        goals = {"type": "array", "items": {**text, "maxLength": 240}, "minItems": 1, "maxItems": MAX_GOALS}
        task = {"task_type": {"type": "string", "enum": self._choice}, "goals": goals}
        later = {"type": "object", "properties": task, "required": list(task), "additionalProperties": False}
        then = {"type": "array", "items": later, "minItems": 1, "maxItems": following}
        return {
            "anyOf": [
                _closed("EXECUTE", **task),
                *([_closed("EXECUTE", **task, then=then)] if following else []),
                _closed("COMPLETE", response=text),
                *([_closed("CLARIFY", question=text)] if self._context.questions else []),
            ]
        }


def _once(check: Check) -> Check:
    """The check, which objects one time only."""
    objected = False

    def ask(decision: dict[str, Any]) -> str | None:
        nonlocal objected
        objection = None if objected else check(decision)
        objected = objected or objection is not None
        return objection

    return ask


class Clarify(Node[TurnState, TurnContext, str, str]):
    """A question to the user: the run waits for the answer, then the Planner goes on with it."""

    name = "Clarify"
    on_success = "Plan"

    def build_input(self, state: TurnState, context: TurnContext) -> str:
        return state.plan.question

    async def execute(self, given: str, visit: Visit) -> str:
        return await visit.ask("clarify", given)

    def apply_output(self, state: TurnState, output: str) -> TurnState:
        return state.with_(clarified=(*state.clarified, Item(title=state.plan.question, text=output)))


def _closed(action: str, **properties: Any) -> dict[str, Any]:
    reasoning = {"type": "string", "maxLength": 200}
    # The reasoning comes last: a small model chooses better by the examples than by a sentence of its own.
    every = {"action": {"type": "string", "const": action}, **properties, "reasoning": reasoning}
    return {"type": "object", "properties": every, "required": list(every), "additionalProperties": False}
