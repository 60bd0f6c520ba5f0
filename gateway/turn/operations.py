"""The outside world of a turn, as operations: the model, the tools and their schemas, what is known, what is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gateway.engine.files import write_atomically
from gateway.engine.ports import Artifacts, Effect, Json, Model, Operation, Scope
from gateway.errors import NotNow, StoreError, ToolError
from gateway.llm.model import model_operation
from gateway.tools.child import Parent, Runs
from gateway.tools.code.source_text import decode
from gateway.tools.operations import MAX_TEXT, context_of, tool_operations
from gateway.tools.registry import Registry, Situation, Tool, ToolContext, ToolResult
from gateway.tools.workspace import MAX_FILES, Workspace
from gateway.turn.state import TurnContext

KEPT = 5  # earlier turns of the session in §1: as many of them as its budget has room for, the newest first
LISTED = 15  # files of the workspace
SHOWN = 300  # characters of each earlier response


@dataclass(frozen=True)
class Place:
    """Where a turn happens: its home, its session's folder, its number."""

    home: Path
    session: str
    turn: int

    @property
    def folder(self) -> Path:
        return turn_folder(self.home, self.session, self.turn)


@lru_cache(maxsize=256)
def turn_folder(home: Path, session: str, turn: int) -> Path:
    """Where a turn's documents are: `turns/<session>/<turn, four digits>`."""
    return home / "turns" / session / f"{turn:04d}"


def turn_operations(
    place: Place,
    context: TurnContext,
    registry: Registry,
    model: Model,
    runs: Runs | None = None,
    pins: Callable[[], Mapping[str, bytes]] = dict,
) -> dict[str, Operation]:
    """Every operation that a turn may call, by name: `model.complete`, `turn.*`, `tools.schemas`,
    `tools.policy`, `tools.preview`, and for each tool `tool.<name>` and, where it has one, `undo.<name>`. Tools that
    begin runs need `runs`, and are told what the turn has pinned (`pins`)."""
    told = _Told(place, context)
    operations = [
        model_operation(model),
        Operation("turn.gather", told.gather, Effect.READ, deadline_s=30),
        Operation("turn.documents", told.documents, Effect.READ, deadline_s=30),
        Operation("turn.save", told.save, Effect.IDEMPOTENT, deadline_s=30),
        Operation("tools.schemas", _schemas(registry, told), Effect.READ, deadline_s=30),
    ]
    parent = None if runs is None else Parent(runs, place.folder, pins, context.assume_yes)
    operations += tool_operations(registry, told.tool_context, parent)
    operations += [_undo(tool, told) for tool in registry if tool.undo is not None]
    return {operation.name: operation for operation in operations}


class _Told:
    """What tools are told about the turn, and the turn's own two operations."""

    def __init__(self, place: Place, context: TurnContext) -> None:
        self.place = place
        self.context = context
        self.workspace = Path(context.workspace)

    def tool_context(self, scope: Scope) -> ToolContext:
        return context_of(
            scope,
            workspace=self.workspace,
            home=self.place.home,
            settings=self.context.settings,
            session=self.place.session,
            turn=self.place.turn,
        )

    async def gather(self, args: Json, scope: Scope) -> Json:
        """What bears on the request: memories, skills, earlier turns of the session (newest first), the workspace's
        files."""
        items: list[dict[str, str]] = []
        remembered = await self._remembered(args["request"], scope)
        if remembered:
            items.append({"title": "Memory", "text": remembered})
        skills = await asyncio.to_thread(self._skills, args["request"])
        if skills:
            items.append({"title": "Skills", "text": skills})
        items += await asyncio.to_thread(self._earlier)
        root = self.workspace
        found = await asyncio.to_thread(Workspace(root).files)
        # hidden files, and a home that lies inside the workspace, are not what the user works on
        files = [each for each in found if each[0] != "." and self.place.home not in (root / each).parents]
        if files:
            least = "at least " if len(found) >= MAX_FILES else ""
            more = f" and {least}{len(files) - LISTED} more" if len(files) > LISTED else ""
            items.append({"title": "Workspace", "text": ", ".join(files[:LISTED]) + more})
        return items

    async def documents(self, args: Json, scope: Scope) -> Json:
        """The texts of the documents that a recipe names, by key; what is not there, or no text, is left out."""
        roots = {
            "turn": self.place.folder,
            "session": self.place.folder.parent,
            "home": self.place.home,
            "workspace": self.workspace,
        }
        found: dict[str, str] = {}
        for each in args["documents"]:
            try:
                data = Workspace(roots[each["path_type"]]).read(each["path"])
                found[each["key"]] = decode(data, each["path"]).text[:MAX_TEXT]
            except ToolError:
                continue
        return found

    def _earlier(self) -> list[dict[str, str]]:
        """What was said in the session, and before it; the newest first."""
        found = []
        for number in range(self.place.turn - 1, max(0, self.place.turn - 1 - KEPT), -1):
            path = turn_folder(self.place.home, self.place.session, number) / "summary.json"
            if path.exists():
                found.append({"title": f"Turn {number}", "text": _summary(path)})
        for exchange in reversed(self.context.history):
            text = _exchange(exchange.request, exchange.response)
            found.append({"title": "Before this session", "text": text})
        return found[:KEPT]

    def _skills(self, request: str) -> str:
        from gateway.tools.skills.library import SkillLibrary
        from gateway.tools.skills.relevance import listing

        return listing(SkillLibrary(self.place.home, self.workspace).usable(), request)

    async def _remembered(self, request: str, scope: Scope) -> str:
        from gateway.tools.builtin.memory import SearchArgs, memory_search

        try:
            found: ToolResult = await memory_search.run(SearchArgs(query=request[:500]), self.tool_context(scope))
        except ToolError as error:
            return f"(the memory cannot be read: {error})"
        return found.text if found.data["memories"] else ""

    async def save(self, args: Json, scope: Scope) -> Json:
        """The turn in short, for the turns after it."""
        path = self.place.folder / "summary.json"
        try:
            write_atomically(path, json.dumps(args, ensure_ascii=False, indent=1).encode())
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error.strerror}", hint="free some disk space, then resume the run"
            ) from error
        return None


def _summary(path: Path) -> str:
    """What `save` has kept of an earlier turn; a file that was damaged since costs only this."""
    try:
        said = json.loads(path.read_text())
        return _exchange(str(said["request"]), str(said["response"]), [str(each) for each in said.get("done", ())])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return f"(its summary cannot be read: {error})"


def _exchange(request: str, response: str, done: Sequence[str] = ()) -> str:
    asked, answered = (text if len(text) <= SHOWN else f"{text[:SHOWN]} […]" for text in (request, response))
    return "\n".join([f"User: {asked}", *(f"Done: {each}" for each in done), f"Answer: {answered}"])


def _schemas(registry: Registry, told: _Told) -> Any:
    async def schemas(args: Json, scope: Scope) -> Json:
        results, tried, earlier = (
            tuple(load_result(scope.artifacts, sha256) for sha256 in args.get(key, ()))
            for key in ("results", "tried", "earlier")
        )
        situation = Situation(
            told.context.request,
            tuple(args["goals"]),
            results,
            args.get("candidate", 0),
            tried,
            earlier,
            whole=args.get("whole", True),
            chosen=args.get("chosen", {}),
        )
        context = told.tool_context(scope)
        found: dict[str, Json] = {}
        for name in args["tools"]:
            try:
                found[name] = registry.get(name).schema(context, situation)
            except NotNow:
                continue
            except ToolError as error:
                scope.progress("tool.unavailable", {"tool": name, "error": str(error)})
        return found

    return schemas


def _undo(tool: Tool, told: _Told) -> Operation:
    take_back = tool.undo
    assert take_back is not None

    async def run(args: Json, scope: Scope) -> Json:
        result = load_result(scope.artifacts, args["result"])
        done = ToolResult(ok=result["ok"], text=result["text"], data=dict(result["data"]))
        await take_back(tool.args.model_validate(result["args"]), done, told.tool_context(scope))
        return None

    return Operation(f"undo.{tool.name}", run, Effect.IDEMPOTENT, tool.deadline_s)


def load_result(artifacts: Artifacts, sha256: str) -> Mapping[str, Json]:
    """A tool's result: `{"tool", "args", "ok", "text", "data"}`. To be read, not changed."""
    return _result(artifacts, sha256)  # type: ignore[arg-type]  # the protocol does not say that it can be hashed


@lru_cache(maxsize=32)  # every node of a task looks at all of its results
def _result(artifacts: Artifacts, sha256: str) -> Mapping[str, Json]:
    found: Mapping[str, Json] = json.loads(artifacts.get(sha256))
    return found
