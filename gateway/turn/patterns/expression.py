"""Expressions in patterns: Jinja2, sandboxed, over the data of a task and nothing else.

`last.data.items` is the key `items` of the data: methods cannot be reached, and calls are refused when the pattern
compiles. What is not there is undefined, and undefined does not hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jinja2 import ChainableUndefined, TemplateError, nodes, pass_environment
from jinja2.environment import TemplateExpression
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gateway.engine.ports import Json
from gateway.errors import PatternError

NAMES = ("last", "results", "context", "state")
MAX_LENGTH = 500  # characters: a longer expression is a program, and belongs in a tool

_PURE_FILTERS = frozenset(
    {
        *("default", "int", "float", "string", "list", "abs", "round", "lower", "upper", "trim"),
        *("first", "last", "length", "count", "join", "sort", "unique", "min", "max", "sum"),
        *("map", "select", "reject", "selectattr", "rejectattr"),
    }
)


@dataclass(frozen=True)
class Scope:
    """What an expression sees: plain data.

    `results` are this task's, oldest first: `{"tool", "args", "ok", "text", "data"}`; `last` is the newest or {}.
    `context` is what was known before the task (`gathered`, and `results` of earlier tasks), `state` the Task State.
    """

    results: tuple[Mapping[str, Json], ...] = ()
    context: Mapping[str, Json] = field(default_factory=dict)
    state: Mapping[str, Json] = field(default_factory=dict)

    @property
    def last(self) -> Mapping[str, Json]:
        return self.results[-1] if self.results else {}


class _DataEnvironment(ImmutableSandboxedEnvironment):
    """Attributes and items are looked up in mappings, lists and strings only, and never reach a method."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Mapping | list | tuple | str):
            try:
                return obj[argument]
            except (LookupError, TypeError):
                return self.undefined(obj=obj, name=argument)
        return self.undefined(obj=obj, name=str(argument))


@lru_cache(maxsize=1)
def _environment() -> _DataEnvironment:
    environment = _DataEnvironment(undefined=ChainableUndefined)
    environment.globals.clear()
    environment.filters = {name: run for name, run in environment.filters.items() if name in _PURE_FILTERS}
    environment.filters["last"] = pass_environment(_last)
    return environment


def _last(environment: _DataEnvironment, values: Iterable[Any]) -> Any:
    """Jinja2's own takes sequences only, and what `selectattr` gives is none."""
    every = list(values)
    return every[-1] if every else environment.undefined("there is no last one of nothing")


class Expression:
    """A compiled expression. `PatternError` where it is none, or uses what expressions do not have."""

    def __init__(self, source: str) -> None:
        self.source = source.strip()
        self._run = _compile(self.source)

    def value(self, scope: Scope) -> Json:
        """The value on what there is; None where something in it is missing or does not fit."""
        try:
            found = self._run(last=scope.last, results=scope.results, context=scope.context, state=scope.state)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError):
            return None
        if isinstance(found, Undefined):
            return None
        return found

    def holds(self, scope: Scope) -> bool:
        """Whether the value counts as true; what cannot be evaluated does not hold."""
        return bool(self.value(scope))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


def _compile(source: str) -> TemplateExpression:
    if not source:
        raise PatternError("an expression is empty")
    if len(source) > MAX_LENGTH:
        raise PatternError(f"an expression is longer than {MAX_LENGTH} characters")
    environment = _environment()
    try:
        _refuse_what_data_does_not_need(environment.parse("{{ " + source + " }}"))
        return environment.compile_expression(source, undefined_to_none=False)
    except TemplateError as error:
        raise PatternError(f"{{{{ {source} }}}} is not an expression: {error.message}") from error
    except (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError) as error:  # from Python's own compiler
        raise PatternError(f"{{{{ {source} }}}} cannot be compiled: {error}") from error


def _refuse_what_data_does_not_need(tree: nodes.Template) -> None:
    if next(tree.find_all(nodes.Call), None) is not None:
        raise PatternError("an expression calls something: it sees data and filters, no functions")
    # A few characters of these fill the memory, even as constants: the names below are found by a pass that folds them.
    for binary in tree.find_all((nodes.Mul, nodes.Pow, nodes.Mod)):
        raise PatternError(f"expressions do not have the operator {binary.operator!r}")
    for name in sorted(find_undeclared_variables(tree)):
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise PatternError(f"an expression has no {name!r}.{meant} It sees {', '.join(NAMES)}")
