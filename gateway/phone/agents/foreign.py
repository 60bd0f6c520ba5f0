"""Agents that others wrote: anything with `predict(instruction, obs) -> (text, action)`, MAI-UI's classes unmodified.

They block, print, hang and raise: each prediction runs in a thread, within a deadline, as the operation
`agent.predict`; after a failure the agent is made anew, with its history. An agent may say of itself, by attributes,
that it `wants_bytes` in place of a picture, and what its `coordinate_scale` is (999, or "pixels").
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.ports import Artifacts, Effect, Json, Operation, Scope
from gateway.errors import ConfigError, EchelonError
from gateway.phone.agents import loading, traj_memory
from gateway.phone.agents.agent import Chosen, Moment, Unusable
from gateway.phone.agents.dialects import FRACTIONS, Scale, normalise
from gateway.phone.agents.extensions import Extensions
from gateway.phone.agents.loading import Tools
from gateway.phone.agents.prediction import plain, prediction_of
from gateway.phone.agents.printed import Printed, printed
from gateway.phone.element import Element
from gateway.phone.task.state import PhoneContext, load_elements
from gateway.tools.registry import in_thread

PREDICT = "agent.predict"
SAID = 300  # characters of an error
SHOWN = 2000  # characters of what it printed that are kept for the record


class PredictionFailed(EchelonError):
    """The agent's `predict` raised: it is asked again."""

    kind = "prediction_failed"
    retryable = True


class ForeignAgent:
    """Chooses by the operation `agent.predict`, which has the object. What it has said is the memory that the run's
    state keeps for it."""

    async def choose(self, moment: Moment, visit: Visit) -> Chosen:
        seen = moment.seen
        said = await visit.call(
            PREDICT,
            {
                "task": moment.task,
                "step": moment.step,
                "max_steps": moment.max_steps,
                "screenshot": seen.png,
                "elements": seen.elements,
                "size": list(seen.size),
                "package": seen.package,
                "activity": seen.activity,
                "note": moment.note,
                "tool_result": moment.tool_result,
                "tools": list(moment.tools),
                "memory": moment.memory,
            },
        )
        if said["problem"]:
            raise Unusable(said["problem"], text=said["text"], said=said["said"])
        return Chosen(
            actions=tuple(said["actions"]),
            thinking=said["thinking"],
            text=said["text"],
            calls=1,
            memory=said["memory"],
        )


def predict_operation(
    spec: object,
    context: PhoneContext,
    run_id: str,
    extensions: Extensions | None = None,
    *,
    tools: Tools = (),
    api_key: str = "",
) -> Operation:
    """`agent.predict`, for one run: `{"task", "step", "screenshot", "elements", …, "memory"}` →
    `{"actions", "problem", "thinking", "text", "said", "printed", "memory"}`.

    `spec` is `package.module:Class`, or an agent. `tools` are the definitions (name, description, parameters) of what
    it may call, `api_key` its model's: given to its constructor, if that has room for them.
    """
    predictor = _Predictor(spec, context, run_id, extensions or Extensions(), tools, api_key)
    return Operation(PREDICT, predictor.run, Effect.READ, deadline_s=context.options.predict_timeout)


class _Predictor:
    """Has the object, from one prediction to the next."""

    def __init__(
        self, spec: object, context: PhoneContext, run_id: str, extensions: Extensions, tools: Tools, api_key: str
    ) -> None:
        self._spec = spec
        self._context = context
        self._run_id = run_id
        self._extensions = extensions
        self._tools = tools
        self._api_key = api_key
        self._agent: Any = None
        self._as_bytes = False
        self._proven = False
        """Whether it has taken a screenshot as it is given."""
        self._free = asyncio.Event()
        self._free.set()

    async def run(self, args: Json, scope: Scope) -> Json:
        if not isinstance(self._spec, str):  # there is only one of it, which may not have come back from the last one
            await self._free.wait()
        self._free = free = asyncio.Event()
        loop = asyncio.get_running_loop()
        agent, self._agent = self._agent, None  # kept again once it has come back in time

        def work() -> tuple[Any, Json]:
            try:
                with printed() as output:
                    return self._predict(agent, args, scope.artifacts, output)
            finally:
                with suppress(RuntimeError):  # the loop has been closed
                    loop.call_soon_threadsafe(free.set)

        self._agent, result = await in_thread(work)
        return result

    def _predict(self, agent: Any, args: Json, artifacts: Artifacts, output: Printed) -> tuple[Any, Json]:
        try:
            if agent is None:
                agent = self._made(args, artifacts)
            try:
                obs, said = self._asked(agent, args, artifacts)
            except (TypeError, AttributeError):
                if self._proven or self._as_bytes or args["screenshot"] is None:
                    raise
                agent = self._made(args, artifacts)  # it may not have wanted a picture
                self._as_bytes = True
                obs, said = self._asked(agent, args, artifacts)
            self._proven = True
            return agent, self._result(agent, obs, said, args, artifacts, output)
        except EchelonError:
            raise
        except (Exception, SystemExit) as error:  # whatever a stranger's code raises
            hint = f"it printed: {output.complaint[:SAID]}" if output.complaint else ""
            raise PredictionFailed(
                f"the agent's prediction failed: {type(error).__name__}: {str(error)[:SAID]}", hint=hint
            ) from error

    def _made(self, args: Json, artifacts: Artifacts) -> Any:
        """A new one, or the only one as if it were new, with the history of this task."""
        found = loading.find(self._spec) if isinstance(self._spec, str) else self._spec
        agent = loading.make(found, self._context, self._tools, self._api_key)
        if agent is found and callable(reset := getattr(agent, "reset", None)):
            reset()
        traj_memory.restore(agent, args["task"], artifacts, args["memory"])
        return agent

    def _asked(self, agent: Any, args: Json, artifacts: Artifacts) -> tuple[dict[str, Any], Any]:
        traj_memory.answered(agent, args["tool_result"])
        png = None if args["screenshot"] is None else artifacts.get(args["screenshot"])
        as_bytes = self._as_bytes or bool(getattr(agent, "wants_bytes", False))
        picture = None if png is None or as_bytes else traj_memory.opened(png)
        obs = self._extensions.before_predict(self._observed(args, artifacts, png if picture is None else picture))
        said = agent.predict(_instruction(args) if traj_memory.keeps(agent) else args["task"], obs)
        if inspect.iscoroutine(said):
            said = asyncio.run(said)
        if picture is not None and png is not None:
            traj_memory.lighten(agent, picture, png)
        return obs, said

    def _observed(self, args: Json, artifacts: Artifacts, screenshot: Any) -> dict[str, Any]:
        options = self._context.options
        obs: dict[str, Any] = {"screenshot": screenshot}
        elements = load_elements(artifacts, args["elements"]) if options.tree else None
        if elements is not None:
            obs["accessibility_tree"] = {
                "package": args["package"],
                "activity": args["activity"],
                "size": args["size"],
                "elements": [_listed(each) for each in elements],
            }
        if options.step_info:
            obs |= {"step_count": args["step"], "max_steps": args["max_steps"]}
        return obs | {name: args[name] for name in ("tool_result", "note") if args[name]}

    def _result(
        self, agent: Any, obs: dict[str, Any], said: Any, args: Json, artifacts: Artifacts, output: Printed
    ) -> Json:
        prediction = prediction_of(said)
        known: dict[str, Any] = {
            "elements": load_elements(artifacts, args["elements"]),
            "custom": self._extensions.actions,
            "tools": args["tools"],
            "size": tuple(args["size"]),
        }
        actions: list[dict[str, Json]] = []
        problem = ""
        try:
            action = normalise(said, **known, scale=_scale(agent, args["size"]))
            actions.append(normalise(self._extensions.after_predict(action, obs), **known))
        except Unusable as error:
            problem = str(error)
            if prediction.said in (None, {"action": None}) and output.complaint:
                problem = f"{problem}; the agent itself printed: {output.complaint[:SAID]}"
        memory = args["memory"]
        if actions:
            memory = traj_memory.remember(
                artifacts,
                memory,
                screenshot=args["screenshot"],
                text=prediction.text,
                said=prediction.fields,
                thinking=prediction.thinking,
                told=args["tool_result"],
            )
            if actions[0]["action"] == "answer" and traj_memory.keeps(agent):  # MAI-UI's answer ends the task
                actions.append({"action": "FINISH", "reason": actions[0]["text"], "success": True})
        return {
            "actions": actions,
            "problem": problem,
            "thinking": prediction.thinking,
            "text": prediction.text,
            "said": prediction.said,
            "printed": plain(output.text[-SHOWN:]),
            "memory": memory,
        }


def _instruction(args: Mapping[str, Json]) -> str:
    """The task, and what agents would not look for among the observations."""
    lines = [args["task"]]
    if args["tool_result"] is not None:
        lines.append(f"Result of your last action: {traj_memory.words(args['tool_result'])}")
    if args["note"]:
        lines.append(f"Note: {args['note']}")
    return "\n\n".join(lines)


def _listed(element: Element) -> dict[str, Json]:
    return {
        "number": element.number,
        "role": element.role,
        "text": element.text,
        "hint": element.hint,
        "resource_id": element.resource_id,
        "state": list(element.state),
        "clickable": element.clickable,
        "bounds": list(element.bounds),
    }


def _scale(agent: Any, size: list[int]) -> Scale:
    """What its coordinates are divided by, where it says that they are no fractions: `coordinate_scale` is a number,
    such as 999, or "pixels"."""
    declared = getattr(agent, "coordinate_scale", None)
    if declared is None:
        return FRACTIONS
    if declared == "pixels":
        return float(size[0]), float(size[1])
    if isinstance(declared, int | float) and declared > 0:
        return float(declared), float(declared)
    raise ConfigError(f'coordinate_scale of the agent is a number or "pixels", not {declared!r}')
