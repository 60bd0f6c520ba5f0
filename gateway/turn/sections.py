"""The turn's record as sections: what packs are filled from, and what `context.md` shows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from gateway.engine.ports import Artifacts, Json
from gateway.fence import fenced, line
from gateway.llm.packer import Section
from gateway.turn.operations import load_result
from gateway.turn.state import Entry, Item, Plan, TurnState

ENTRY_CHARS = 3500  # of a result's text in a prompt: about 900 tokens

# What could swallow or imitate a section, where it begins a line, also in a list or a quotation: fences, HTML, a title.
_BLOCKS = re.compile(r"^[\s>*+\-\d.)]*(?:```|~~~|<|[#\s]*§)", re.MULTILINE)


def sections(request: str, state: TurnState, artifacts: Artifacts) -> list[Section]:
    """§0 to §4 as models get them: §4 grows only at its end, so that a server's prefix cache holds."""
    found = [Section("0", "Request", (request, *(clarified(item) for item in state.clarified)))]
    if state.gathered:
        found.append(Section("1", "Gathered Context", tuple(f"{item.title}:\n{item.text}" for item in state.gathered)))
    if state.reflection:
        found.append(Section("2", "Reflection", (reflection(state.reflection),)))
    if state.plans:
        found.append(Section("3", "Task Plan", tuple(plan_text(plan) for plan in state.plans)))
    if state.entries:
        results = (execution(number, entry, artifacts) for number, entry in enumerate(state.entries, 1))
        found.append(Section("4", "Execution", tuple(results)))
    return found


def clarified(item: Item) -> str:
    return f"Question to the user: {item.title}\nAnswer: {item.text}"


def reflection(issues: Sequence[str]) -> str:
    """What was wrong with the first attempt."""
    return "\n".join(["The first attempt was not good enough:", *(f"- {line(issue)}" for issue in issues)])


def plan_text(plan: Plan) -> str:
    head = f"{plan.action} {plan.task_type}".strip()
    lines = [head, *(f"{number}. {goal}" for number, goal in enumerate(plan.goals, 1))]
    lines += [f"then {task.task_type}: {'; '.join(task.goals)}" for task in plan.then]
    return "\n".join(lines + [text for text in (plan.question, plan.response) if text])


def execution(number: int, entry: Entry, artifacts: Artifacts) -> str:
    """One call and its result, as data."""
    result = load_result(artifacts, entry.result)
    outcome = "ok" if entry.ok else "failed"
    undone = " (undone: the file is as before)" if entry.undone else ""
    text = str(result["text"])
    if len(text) > ENTRY_CHARS:
        text = f"{text[:ENTRY_CHARS]}\n[… {len(text) - ENTRY_CHARS} characters left out]"
    # The code of a candidate that was refused is not shown again: a small model repeats what it sees.
    args = arguments(entry.args) if entry.ok or not entry.candidate else ""
    return f"{number}. {entry.tool} {args} → {outcome}{undone}\n{fenced(text)}"


def arguments(args: Mapping[str, Json], longest: int = 300) -> str:
    """Arguments on one line; long ones shortened, since the result says what came of them."""
    text = json.dumps(args, ensure_ascii=False)
    return text if len(text) <= longest else f"{text[:longest]}…"


def quoted(text: str) -> str:
    """Text in a quotation, which it cannot end."""
    return "\n".join(f"> {each}".rstrip() for each in text.splitlines())


def prose(text: str) -> str:
    """Markdown as it stands, where it cannot reach beyond its section; else in a quotation."""
    return quoted(text) if _BLOCKS.search(text.replace("\r", "\n")) else text
