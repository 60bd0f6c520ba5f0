"""Tools: a list of them, one with its arguments."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from echelon.output.shape import Number, Shape

Rule = Literal["free", "asks first", "denied", "by its arguments"]
"""What the configuration says about its use."""


class ToolRow(Shape):
    """A tool in a list: its `effect` on the world, and whether the configuration denies it or asks first."""

    name: str
    effect: str
    rule: Rule
    description: str


class PolicyRule(Shape):
    """An entry of the configuration's tools.policy: for the tools of this name (a pattern), the patterns of calls that
    it denies, allows and asks about."""

    tools: str
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    ask: tuple[str, ...]


class ToolShown(Shape):
    """A tool: a call of it ends after `deadline_s` seconds at most; `schema` is the JSON schema of its arguments, and
    `policy` what the configuration says about calls by their arguments."""

    name: str
    description: str
    effect: str
    rule: Rule
    deadline_s: Number
    can_be_undone: bool
    can_be_reconciled: bool
    policy: tuple[PolicyRule, ...]
    arguments: dict[str, Any] = Field(alias="schema")
