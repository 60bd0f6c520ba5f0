"""What the configuration says about a tool call: allowed, asked about, or denied.

    tools:
      deny: [git.*]                   # takes tools away
      approve: [file.write]           # asks before every call
      policy:
        shell.run: {allow: [pytest*], ask: ["*"], deny: ["*--force*"]}
        file.*: {deny: [secrets/*], ask: [path=docs/*]}

For one call: `deny` before `allow`, `allow` before `ask`; where nothing matches, `approve`, then what the tool
declares. A pattern is matched, as a whole and with `*` and `?` alone, with the call's subject (what it is about, in the
tool's canonical form: a command, a path), or as `argument=pattern` with one argument as it was given.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from gateway.engine.ports import Json
from gateway.errors import ToolError
from gateway.tools.registry import Tool, ToolContext

_ARGUMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Policy:
    """The rules of a configuration's `tools` section, given as plain data."""

    def __init__(self, tools: Mapping[str, Any]) -> None:
        self._denied = tuple(tools.get("deny", ()))
        self._approved = tuple(tools.get("approve", ()))
        self._rules: Mapping[str, Mapping[str, list[str]]] = tools.get("policy", {})

    def denies(self, name: str) -> bool:
        """Whether the tool is taken away: no call of it can be allowed."""
        rules = self._rules_for(name)
        return _any(name, self._denied) or ("*" in rules["deny"])

    def misspelt(self, names: Collection[str]) -> list[str]:
        """What is wrong with its names and patterns of tools: one that no tool has denies nothing. Those of MCP servers
        are left out: a server may not be there today."""
        given = dict.fromkeys([*self._denied, *self._approved, *self._rules])
        missed = [
            each for each in given if not each.startswith("mcp.") and not any(fnmatchcase(n, each) for n in names)
        ]
        near = {each: difflib.get_close_matches(each, names, n=1) for each in missed}
        return [
            f"the configuration of tools names {each!r}, which no tool is called"
            + (f": did you mean {near[each][0]}?" if near[each] else "")
            for each in missed
        ]

    def by_arguments(self, name: str) -> bool:
        """Whether it depends on a call's arguments what may be done."""
        return any(self._rules_for(name).values())

    def in_general(self, tool: Tool) -> Verdict:
        """For a call that no pattern speaks of."""
        if self.denies(tool.name):
            return Verdict.DENY
        return Verdict.ASK if tool.ask or _any(tool.name, self._approved) else Verdict.ALLOW

    def verdict(self, tool: Tool, args: Mapping[str, Json], ctx: ToolContext) -> Verdict:
        """For one call with valid arguments. Raises ToolError where its subject cannot be told."""
        general = self.in_general(tool)
        return general if general is Verdict.DENY else self.ruled(tool, args, ctx) or general

    def ruled(self, tool: Tool, args: Mapping[str, Json], ctx: ToolContext) -> Verdict | None:
        """What a pattern says about the call; None where none speaks of it. Raises as `verdict`."""
        if not self.by_arguments(tool.name):
            return None
        rules = self._rules_for(tool.name)
        subject = subject_of(tool, args, ctx)
        for kind in (Verdict.DENY, Verdict.ALLOW, Verdict.ASK):
            if any(_speaks_of(pattern, subject, args) for pattern in rules[kind]):
                return kind
        return None

    def _rules_for(self, name: str) -> dict[str, list[str]]:
        """The patterns of every entry whose name matches the tool's."""
        mine = [rules for glob, rules in self._rules.items() if fnmatchcase(name, glob)]
        return {kind: [each for rules in mine for each in rules.get(kind, ())] for kind in Verdict}


def subject_of(tool: Tool, args: Mapping[str, Json], ctx: ToolContext) -> str:
    """What the call is about, in one text: as the tool says, else its first argument."""
    if tool.subject is not None:
        return tool.subject(tool.args.model_validate(args), ctx)
    # the first that the tool has, not the first that the caller wrote
    first = next(iter(tool.schema().get("properties", {})), "")
    return _text(args.get(first, ""))


def _speaks_of(pattern: str, subject: str, args: Mapping[str, Json]) -> bool:
    named = _ARGUMENT.fullmatch(pattern)
    if named is not None and named[1] in args:
        return _fits(named[2], _text(args[named[1]]))
    return _fits(pattern, subject)


def _fits(pattern: str, text: str) -> bool:
    """`*` is any text and `?` any character, also across lines; brackets are themselves, as they stand in commands.

    The pieces between the stars are looked for one after the other: no pattern takes long on a long text.
    """
    first, *others = (_piece(each) for each in pattern.split("*"))
    if not others:
        return first.fullmatch(text) is not None
    begun = first.match(text)
    if begun is None:
        return False
    at = begun.end()
    for piece in others[:-1]:
        found = piece.search(text, at)
        if found is None:
            return False
        at = found.end()
    last = others[-1]
    return last.fullmatch(text, max(at, len(text) - len(pattern.rpartition("*")[2]))) is not None


@lru_cache(maxsize=512)
def _piece(literal: str) -> re.Pattern[str]:
    return re.compile("".join("." if each == "?" else re.escape(each) for each in literal), re.DOTALL)


def _any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def denied(tool: Tool, args: Mapping[str, Json]) -> ToolError:
    """The error of a call that may not be made."""
    shown = json.dumps(args, ensure_ascii=False)[:200]
    return ToolError(
        f"the configuration denies {tool.name} {shown}", hint="see tools.deny and tools.policy in the configuration"
    )
