"""`phone.navigate`: a task on the phone, as a run of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from gateway.engine.ports import Json
from gateway.engine.state import Status
from gateway.errors import UserCancelled
from gateway.phone import PHONE
from gateway.phone.task.state import PhoneState, Step
from gateway.phone.trajectory.projection import DOCUMENT
from gateway.phone.trajectory.table import in_a_word
from gateway.phone.trajectory.words import in_words
from gateway.tools.child import Caller, ChildEnd, ChildRun, child_tool
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches

NAME = "phone.navigate"
FOLDER = "phone"  # beside the caller's documents: what forgets these forgets the trajectories, too
FIRST, LAST = 4, 14  # steps that are told of a long task
CHANGED = 300  # characters
TALK = ("ask_user", "mcp_call", "answer", "wait", "FINISH")  # touches no app


class Errand(BaseModel):
    task: Annotated[str, Field(min_length=1, max_length=4000)]
    app: Annotated[str, Field(max_length=200, description="the app that is started first, by label or package")] = ""


def _narrowed(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """The task in the user's own words, unless something that was found before has to go into it."""
    properties = schema["properties"]
    properties.pop("app")
    found = [each for each in situation.earlier if each["ok"]]
    if found:
        properties["task"]["description"] = "what is to be done on the phone, with what §4 has found written out"
    else:
        properties["task"] = {"type": "string", "const": situation.wanted}
    return schema


async def _ended(end: ChildEnd, ctx: ToolContext) -> ToolResult:
    """`data`: status, stop_reason, answer, steps in words, run_id, folder (beside the caller's documents), trajectory
    (the path of its document), acted (whether anything was done on the phone), changed."""
    state = end.state
    if state.stop_reason == UserCancelled.kind:
        raise UserCancelled("the user has cancelled the task on the phone")
    task = state.data
    assert isinstance(task, PhoneState)
    done = state.status is Status.COMPLETE
    answer = task.answer or (task.finished.reason if task.finished is not None else "")
    acts = [each for each in task.steps if each.action.get("action") not in TALK and each.result.ok is not False]
    said = [f"{in_words(each.action, each.target)}: {in_a_word(each.result)}" for each in task.steps]
    data: dict[str, Json] = {
        "status": state.status.value,
        "stop_reason": state.stop_reason,
        "answer": answer,
        "steps": said,
        "run_id": end.caller.run_id,
        "folder": f"{FOLDER}/{end.caller.run_id}",
        "trajectory": str(end.caller.folder / FOLDER / end.caller.run_id / DOCUMENT),
        "acted": bool(acts),
    }
    if done and acts:
        data["changed"] = _changed(acts)
    lines = [_outcome(end, answer), *_short(said)]
    return ToolResult(ok=done, text="\n".join(lines), data=data)


def _outcome(end: ChildEnd, answer: str) -> str:
    state = end.state
    if state.status is Status.COMPLETE:
        return f"Done on the phone. {answer}".strip()
    why = f": {state.error}" if state.error else f" ({state.stop_reason})"
    hint = f" ({end.hint})" if end.hint else ""
    return f"Not done on the phone{why}{hint}"


def _short(said: Sequence[str]) -> list[str]:
    """The steps as a numbered list; of a long one its beginning and its end."""
    lines = [f"{number}. {each}" for number, each in enumerate(said, 1)]
    if len(lines) <= FIRST + LAST:
        return lines
    return [*lines[:FIRST], f"[… {len(lines) - FIRST - LAST} steps]", *lines[-LAST:]]


def _changed(acts: Sequence[Step]) -> str:
    text = "on the phone: " + "; ".join(in_words(each.action, each.target) for each in acts)
    return text if len(text) <= CHANGED else f"{text[:CHANGED]}…"


@child_tool(NAME, ended=_ended, touches=(Touches.PHONE,), narrow=_narrowed)
async def navigate(args: Errand, ctx: ToolContext, caller: Caller) -> ChildRun:
    """Do a whole task on the phone, with its apps or settings: an agent of its own finds the way."""
    from gateway.phone.agents.builtin import collect
    from gateway.phone.task.beginning import new_task, options_of

    options = options_of(ctx.settings)
    # What strangers wrote may be what asks for it: then a person is asked before what cannot be taken back.
    options = options.with_(app=args.app, confirm=options.confirm or caller.strangers)
    new = new_task(
        args.task,
        options,
        run_id=caller.run_id,
        folder=caller.folder / FOLDER / caller.run_id,
        workspace=ctx.workspace,
        settings=ctx.settings,
        models=_models(ctx.settings),
        assume_yes=caller.assume_yes,
        max_taps=ctx.settings.get("limits", {}).get("max_taps"),
    )
    folders = {kind: [ctx.workspace / ".echelon" / kind, ctx.home / kind] for kind in ("prompts", "recipes")}
    offered = {name: text for name, text in caller.pins.items() if name.startswith("mcp/")}
    pins = {**collect(folders["prompts"], folders["recipes"]), **offered}
    return ChildRun(PHONE, new.context, new.state, title=args.task, limits=new.limits, pins=pins)


def _models(settings: Mapping[str, Json]) -> dict[str, str]:
    model = (settings.get("models") or {}).get("phone") or settings.get("model")
    return {"phone": model} if model else {}
