"""The syntax tree of a pattern: what is written, with the lines where it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.turn.patterns.expression import Expression

DEFAULT_MAX_STEPS = 8


class Example(BaseModel):
    """A request that this type fits, and the Planner's decision about it.

    Written as the request alone, its goal is the request. `then` are the tasks that follow, by type; `why` is the
    decision's reasoning.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    request: str = Field(min_length=1)
    goals: list[str] = []
    then: list[dict[str, list[str]]] = []
    why: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"request": value} if isinstance(value, str) else value

    @property
    def asked(self) -> list[str]:
        """The goals; a request without any is its own."""
        return self.goals or [self.request[:1].lower() + self.request[1:].rstrip(".!")]


class FrontMatter(BaseModel):
    """The head of a pattern file; `description` and `examples` are what the Planner chooses by. One that is not
    `planned` is never chosen by it, but by whoever names the type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    task_type: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    planned: bool = True
    examples: list[Example] = []


@dataclass(frozen=True)
class Call:
    """`CALL tool …` or `CALL any of {globs} …`. `known` are the arguments that code fills in."""

    line: int
    tools: tuple[str, ...]
    purpose: str = ""
    known: tuple[tuple[str, Expression], ...] = ()
    until_done: bool = False


@dataclass(frozen=True)
class Try:
    """`TRY n: CALL …, CALL … UNTIL {{ expression }}`."""

    line: int
    candidates: int
    calls: tuple[Call, ...]
    until: Expression


@dataclass(frozen=True)
class GoTo:
    line: int
    number: int


@dataclass(frozen=True)
class Retry:
    line: int
    hint: str


@dataclass(frozen=True)
class Done:
    line: int


@dataclass(frozen=True)
class Escalate:
    line: int


Move = Call | GoTo | Retry | Done | Escalate


@dataclass(frozen=True)
class Branch:
    """`[ANALYZE text,] move`; `analyze` is None where nothing is to be analyzed."""

    line: int
    move: Move
    analyze: str | None = None


@dataclass(frozen=True)
class Check:
    """`CHECK` or `VERIFY`: decided by the expression, or by the model where there is none."""

    line: int
    keyword: str
    question: str
    expression: Expression | None
    yes: Branch
    no: Branch


@dataclass(frozen=True)
class Step:
    line: int
    number: int
    id: str  # empty where none is written
    statement: Try | Check | Branch


@dataclass(frozen=True)
class Pattern:
    """`title` is a heading that names the pattern where there is no front matter; `body` is what models read."""

    front: FrontMatter | None
    title: str
    steps: tuple[Step, ...]
    body: str
