"""`context.md`: a projection of the run. Rendered from its state and artifacts after every node, never parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.runs import Projection
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.fence import code, fenced, line
from gateway.turn.gather import Gather
from gateway.turn.operations import load_result, turn_folder
from gateway.turn.patterns.cursor import MoveKind
from gateway.turn.sections import arguments, clarified, prose, quoted, reflection
from gateway.turn.state import Entry, Plan, TurnContext, TurnState, Verdict

_FOLDER = re.compile(r"[a-z]+/\w+")
SHOWN = 2000  # characters of a result in the document; all of it lies in `results/`


def project(home: Path) -> Callable[[RunRow, TurnContext, RunState, ArtifactStore], Projection]:
    """The files of a turn: `context.md`, and beside it `packs/NN-<recipe>.md` and `results/NN-<tool>.json`."""

    def projection(row: RunRow, context: TurnContext, state: RunState, artifacts: ArtifactStore) -> Projection:
        folder = turn_folder(home, context.session, row.ordinal or 0)
        data = state.data
        assert isinstance(data, TurnState)
        if data.pending is not None and state.status is Status.RUNNING:
            return Projection(folder)  # the document shows a call with its result, which comes next
        kept = {f"packs/{n:02d}-{pack.recipe}.md": pack.sha256 for n, pack in enumerate(data.packs, 1)}
        for number, entry in enumerate(data.entries, 1):
            kept[result_name(number, entry)] = entry.result
        return Projection(folder, {"context.md": render(row, context, state, artifacts)}, kept)

    return projection


def result_name(number: int, entry: Entry) -> str:
    """A result's file, beside `context.md`."""
    return f"results/{number:02d}-{entry.tool}.json"


def render(row: RunRow, context: TurnContext, state: RunState, artifacts: ArtifactStore) -> str:
    """The whole document; each section is there once its phase has run."""
    data = state.data
    assert isinstance(data, TurnState)
    blocks = [_front_matter(row, context, state), f"# Turn {row.ordinal}"]
    blocks += ["## §0 Request", fenced(context.request), *(quoted(clarified(item)) for item in data.clarified)]
    if state.node != Gather.name:  # left it, so §1 is there
        known = [f"### {item.title}\n\n{fenced(item.text)}" for item in data.gathered]
        blocks += ["## §1 Gathered Context", *(known or ["Nothing that bears on the request."])]
    if data.reflection:
        blocks += ["## §2 Reflection", reflection(data.reflection)]
    if data.plans:
        blocks += ["## §3 Task Plan", *(_plan(number, plan) for number, plan in enumerate(data.plans, 1))]
    if data.entries or data.cursor is not None:
        blocks += ["## §4 Execution", *_execution(data, artifacts), *_task_state(data)]
    if data.escalated:
        blocks += [f"Escalated: {line(data.escalated)}"]
    if data.response is not None:
        blocks += ["## §5 Response", prose(data.response)]
    if data.verdicts:
        blocks += ["## §6 Validation", *(_verdict(number, each) for number, each in enumerate(data.verdicts, 1))]
    if state.status is Status.WAITING and state.waiting is not None:
        blocks += [f"**Waiting for an answer:** {line(state.waiting.question)}"]
    if state.error is not None:
        blocks += [f"**Failed:** {line(state.error)}"]
    whole = "\n\n".join(blocks) + "\n"
    return whole.replace("\r\n", "\n").replace("\r", "\n")  # to Markdown they are all ends of lines


def _front_matter(row: RunRow, context: TurnContext, state: RunState) -> str:
    count = state.counters
    usage: dict[str, float] = {
        name: int(count.get(name, 0)) for name in ("model_calls", "prompt_tokens", "cached_tokens", "completion_tokens")
    }
    usage |= {"cost_usd": round(count.get("cost_usd", 0.0), 6), "wall_s": round(count.get("time_s", 0.0), 1)}
    lines = (
        _line("turn", row.ordinal),
        _line("session", context.session),
        _line("run", row.id),
        _line("status", state.status.value),
        _line("stop_reason", state.stop_reason),
        _line("model", tuple(context.models.items())),
        _line("usage", tuple(usage.items())),
        _line("started", datetime.fromtimestamp(int(row.created), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
    )
    return f"---\n{''.join(lines)}---"


@lru_cache(maxsize=256)
def _line(key: str, value: str | int | tuple[tuple[str, Any], ...] | None) -> str:
    """A key in YAML; pairs are a mapping. Kept, since most lines are the same after the next node, and YAML is slow."""
    import yaml

    entry = {key: dict(value) if isinstance(value, tuple) else value}
    style = None if isinstance(value, tuple) else False  # a mapping stands on its key's line, in braces
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # PyYAML may have been built without libyaml
    dumped = yaml.dump(entry, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=style, width=1000)
    return str(dumped)


def _plan(number: int, plan: Plan) -> str:
    blocks = [f"### Iteration {number}", f"EXECUTE · {code(plan.task_type)}" if plan.task_type else plan.action]
    if plan.goals:
        blocks.append("\n".join(f"{n}. {line(goal)}" for n, goal in enumerate(plan.goals, 1)))
    if plan.then:
        blocks.append("\n".join(f"Then {code(task.task_type)}: {line('; '.join(task.goals))}" for task in plan.then))
    if plan.question:
        blocks.append(f"Question: {line(plan.question)}")
    return "\n\n".join([*blocks, *_reasoning(plan.reasoning)])


def _verdict(number: int, verdict: Verdict) -> str:
    lines = [f"Attempt {number}: {verdict.verdict} (by {verdict.by})", *(f"- {line(each)}" for each in verdict.issues)]
    return "\n".join(lines)


def _reasoning(text: str) -> list[str]:
    return [f"_{line(text)}_"] if text.strip() else []


def _execution(data: TurnState, artifacts: ArtifactStore) -> list[str]:
    blocks = []
    for number, entry in enumerate(data.entries, 1):
        outcome = "ok" if entry.ok else "failed"
        tried = f" · candidate {entry.candidate}" if entry.candidate else ""
        undone = " · undone" if entry.undone else ""
        result = load_result(artifacts, entry.result)
        text = str(result["text"])
        if len(text) > SHOWN:
            text = f"{text[:SHOWN]}\n[… {len(text) - SHOWN} more characters in {result_name(number, entry)}]"
        blocks += [
            f"### {number}. {entry.tool} · {outcome} · {entry.s:g} s{tried}{undone}",
            *_reasoning(entry.reasoning),
            f"Arguments: {code(arguments(entry.args))}",
            fenced(text),
            f"Whole result: {code(result_name(number, entry))} (artifact {code(entry.result[:12])})",
            *_trajectory(result["data"]),
        ]
    return blocks


def _trajectory(data: Mapping[str, Any]) -> list[str]:
    """A link to what a task on a phone has left beside the document."""
    folder = data.get("folder")
    if "trajectory" not in data or not isinstance(folder, str) or not _FOLDER.fullmatch(folder):
        return []
    return [f"Trajectory: [{folder}]({folder}/trajectory.json)"]


def _task_state(data: TurnState) -> list[str]:
    """The table of the current task; its steps are named by their ids in the pattern."""
    task = data.task
    if task is None:
        return []
    ended = " (done)" if data.cursor is not None and data.cursor.end is MoveKind.DONE else ""
    done, left = ", ".join(task.completed_steps) or "–", ", ".join(task.pending_steps) or "–"
    return [
        "### Task State\n| task_type | step | completed | pending |\n|---|---|---|---|\n"
        f"| {task.task_type} | {task.current_step}/{task.max_steps}{ended} | {done} | {left} |"
    ]
