"""MCP tools as they are declared: what a server offers, bounded and renamed, and the tools made of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from gateway.engine.ports import Effect, Json
from gateway.tools.mcp.schema import Schema, Unusable, inlined, shown, told
from gateway.tools.registry import Tool, ToolContext, ToolResult, Touches

MAX_TOOLS = 200  # of one server
MAX_NAME = 64
MAX_DESCRIPTION = 600  # characters
MAX_TOTAL = 1_000_000  # characters of all that one server declares, as JSON

MALFORMED = "x-malformed"  # in the schema of a tool that does not have the form of one: what is wrong

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")

Call = Callable[["Declaration", Mapping[str, Json], ToolContext], Awaitable[ToolResult]]


class Declaration(BaseModel):
    """One tool: `name` is ours (`mcp.<server>.<tool>`), `tool` the server's. Arguments are checked by `arguments`, and
    `shown` is what of that models see."""

    model_config = ConfigDict(frozen=True)

    name: str
    tool: str
    description: str
    effect: Literal[Effect.READ, Effect.IDEMPOTENT, Effect.ONCE]
    arguments: Schema
    shown: Schema


class Declared(BaseModel):
    """What a server offers. `server` is its name in the configuration, `left_out` says which tools are not offered, and
    why."""

    server: str
    tools: list[Declaration] = []
    left_out: list[str] = []

    def text(self) -> str:
        return self.model_dump_json()


def fitting(name: str, taken: Iterable[str] = (), longest: int = MAX_NAME) -> str:
    """The name in the characters that patterns and models know, `[A-Za-z0-9_-]`; where that is another one, or taken,
    it ends with a digest of the name, so that it does not depend on what else there is."""
    fit = _UNFIT.sub("_", name)
    fit = fit if fit[:1].isalpha() or fit[:1] == "_" else f"_{fit}"
    if len(fit) <= longest and fit not in taken:
        return fit
    return f"{fit[: longest - 7]}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:6]}"


def declare(server: str, label: str, offered: Iterable[Mapping[str, Json]]) -> Declared:
    """What the server of that name offers, as MCP writes tools; `label` is its part of the names."""
    declared = Declared(server=server)
    known: set[str] = set()
    names = {name for each in offered if isinstance(name := each.get("name"), str) and fitting(name) == name}
    taken: set[str] = set()
    total = 0
    for each in offered:
        name = str(each["name"])
        try:
            if name in known:
                raise Unusable("is offered twice: the first one counts")
            known.add(name)
            if len(declared.tools) == MAX_TOOLS:
                raise Unusable(f"comes after {MAX_TOOLS} others, and more are not read")
            ours = fitting(name, taken if name in names else taken | names)
            tool = _declaration(f"mcp.{label}.{ours}", name, each)
            total += len(tool.model_dump_json())
            if total > MAX_TOTAL or ours in taken:
                raise Unusable("comes after too many others" if total > MAX_TOTAL else "has another one's name")
            taken.add(ours)
            declared.tools.append(tool)
        except (Unusable, ValidationError) as error:
            if len(declared.left_out) < MAX_TOOLS:
                declared.left_out.append(f"{told(name, MAX_NAME)} {error}")
    return declared


def _declaration(name: str, tool: str, offered: Mapping[str, Json]) -> Declaration:
    if MALFORMED in offered["inputSchema"]:
        raise Unusable(f"is not declared as MCP has it: {told(str(offered['inputSchema'][MALFORMED]))}")
    arguments = inlined(offered["inputSchema"])
    return Declaration(
        name=name,
        tool=tool,
        description=told(str(offered.get("description") or offered.get("title") or tool), MAX_DESCRIPTION),
        effect=effect_of(offered.get("annotations")),
        arguments=arguments,
        shown=shown(arguments),
    )


def effect_of(annotations: Json) -> Literal[Effect.READ, Effect.IDEMPOTENT, Effect.ONCE]:
    """By the server's own word, since whoever configured it chose to run it; ONCE where it says nothing, or
    contradicts itself."""
    said = annotations if isinstance(annotations, dict) else {}
    if said.get("readOnlyHint") is True:
        return Effect.ONCE if said.get("destructiveHint") is True else Effect.READ
    return Effect.IDEMPOTENT if said.get("idempotentHint") is True else Effect.ONCE


def tool_of(declaration: Declaration, call: Call, deadline_s: float) -> Tool:
    """The tool of a declaration; `call` makes its calls."""

    async def run(args: Arguments, ctx: ToolContext) -> ToolResult:
        return await call(declaration, args.given(), ctx)

    return Tool(
        declaration.name,
        declaration.description,
        _arguments(json.dumps(declaration.arguments), json.dumps(declaration.shown)),
        run,
        declaration.effect,
        deadline_s,
        (Touches.NETWORK,),
        ask=declaration.effect is not Effect.READ,
    )


class Arguments(BaseModel):
    """Arguments that a JSON schema describes: each tool has a subclass with its own."""

    model_config = ConfigDict(extra="allow", frozen=True)

    checked: ClassVar[Any]
    told: ClassVar[Schema]

    @model_validator(mode="before")
    @classmethod
    def _check(cls, given: Any) -> Any:
        error = next(cls.checked.iter_errors(given), None)
        if error is not None:
            place = ".".join(str(part) for part in error.absolute_path)
            said = told(f"{place}: {error.message}" if place else error.message)
            raise PydanticCustomError("schema", "{said}", {"said": said})
        return given

    def given(self) -> dict[str, Json]:
        return dict(self.__pydantic_extra__ or {})

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> Schema:
        return cls.told


@lru_cache(maxsize=1024)  # each class is kept by who has seen its schema
def _arguments(checked: str, shown: str) -> type[Arguments]:
    from jsonschema import Draft202012Validator

    class Given(Arguments):
        pass

    Given.checked = Draft202012Validator(json.loads(checked))
    Given.told = json.loads(shown)
    return Given
