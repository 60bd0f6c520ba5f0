"""What the Planner is shown about the task types, from the front matter of their patterns: the same text every turn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from gateway.llm import tokens
from gateway.tools.registry import Registry
from gateway.turn.patterns.program import Program
from gateway.turn.patterns.syntax import Example

ROOM = 1150  # tokens of all examples
SERVERS = 300  # characters of what is said about MCP servers


def task_types(programs: Mapping[str, Program], registry: Registry | None = None) -> str:
    """The types with their descriptions; those that may call any tool with what the MCP servers add to them."""
    servers = _servers(registry) if registry is not None else ""
    lines = []
    for task_type, program in sorted(programs.items()):
        added = f"; also with {servers}" if servers and program.allows_any else ""
        lines.append(f"- {task_type}: {program.description}{added}")
    return "\n".join(lines)


def _servers(registry: Registry) -> str:
    """The MCP servers and their tools, as `time (get current time, convert time)`, in a bounded line."""
    found: dict[str, list[str]] = {}
    for name in registry.names():
        if name.startswith("mcp."):
            _, server, tool = name.split(".", 2)
            found.setdefault(server, []).append(re.sub(r"[_\W]+", " ", tool))
    said = "; ".join(f"the {server} server ({', '.join(tools)})" for server, tools in found.items())
    return said if len(said) <= SERVERS else f"{said[:SERVERS].rsplit(',', 1)[0]}, …"


def examples(programs: Mapping[str, Program], room: int = ROOM) -> str:
    """Requests with the decisions about them, in the form of the Planner's own prompt: the first of each type, then
    the second of each, and so on, as many as `room` tokens hold."""
    shown: list[str] = []
    for task_type, example in _in_turns(programs):
        if any(each not in programs for task in example.then for each in task):
            continue  # what would follow is not available here
        text = _decided(task_type, example)
        room -= tokens.count(text) + 1
        if room < 0:
            break
        shown.append(text)
    return "\n\n".join(shown)


def shown_for(programs: Mapping[str, Program]) -> dict[str, set[str]]:
    """The types whose examples have a goal, by the goal."""
    found: dict[str, set[str]] = {}
    for task_type, program in programs.items():
        for example in program.examples:
            tasks = [(task_type, example.asked), *(each for task in example.then for each in task.items())]
            for name, goals in tasks:
                for goal in goals:
                    found.setdefault(goal, set()).add(name)
    return found


def _in_turns(programs: Mapping[str, Program]) -> Iterator[tuple[str, Example]]:
    rounds = zip_longest(*([(name, each) for each in programs[name].examples] for name in sorted(programs)))
    for each in rounds:
        yield from filter(None, each)


def _decided(task_type: str, example: Example) -> str:
    """A small model goes on with what has exactly the form of its prompt."""
    then = [{"task_type": name, "goals": goals} for task in example.then for name, goals in task.items()]
    decision: dict[str, Any] = {"action": "EXECUTE", "task_type": task_type, "goals": example.asked}
    decision |= {"then": then, "reasoning": example.why} if then else {"reasoning": example.why}
    said = json.dumps({"decision": decision}, ensure_ascii=False)
    return f"## §0 Request\n\n{example.request}\n\nDecision:\n{said}"
