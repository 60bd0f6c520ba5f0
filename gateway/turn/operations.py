"""The outside world of a turn, as operations: the model, the tools and their schemas, what is known, what is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from gateway.engine.files import write_atomically
from gateway.engine.ports import Artifacts, Effect, Json, Model, Operation, Reconciliation, Scope
from gateway.errors import NotNow, StoreError, ToolError
from gateway.llm.model import ModelResponse, model_operation
from gateway.tools.code.source_text import decode
from gateway.tools.policy import Policy
from gateway.tools.registry import Registry, Situation, Tool, ToolContext, ToolResult
from gateway.tools.workspace import MAX_FILES, Workspace
from gateway.turn.state import TurnContext

KEPT = 5  # earlier turns of the session in §1: as many of them as its budget has room for, the newest first
LISTED = 15  # files of the workspace
SHOWN = 300  # characters of each earlier response
MAX_TEXT = 200_000  # characters of a result's text, as much as of a program's output
MAX_DATA = 1_000_000  # characters of a result's data, as JSON


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


def turn_operations(place: Place, context: TurnContext, registry: Registry, model: Model) -> dict[str, Operation]:
    """Every operation that a turn may call, by name: `model.complete`, `turn.*`, `tools.schemas`,
    `tools.policy`, `tools.preview`, and for each tool `tool.<name>` and, where it has one, `undo.<name>`."""
    told = _Told(place, context)
    operations = [
        replace(model_operation(model), charge=charge_of),
        Operation("turn.gather", told.gather, Effect.READ, deadline_s=30),
        Operation("turn.documents", told.documents, Effect.READ, deadline_s=30),
        Operation("turn.save", told.save, Effect.IDEMPOTENT, deadline_s=30),
        Operation("tools.schemas", _schemas(registry, told), Effect.READ, deadline_s=30),
        Operation("tools.policy", _policy(registry, told), Effect.READ, deadline_s=30),
        Operation("tools.preview", _preview(registry, told), Effect.READ, deadline_s=30),
    ]
    for tool in registry:
        operations.append(_tool(tool, told))
        if tool.undo is not None:
            operations.append(_undo(tool, told))
    return {operation.name: operation for operation in operations}


def charge_of(response: Json) -> dict[str, float]:
    """What a model call adds to the run's counters."""
    usage = ModelResponse.model_validate(response).usage
    return {
        "model_calls": 1,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }


class _Told:
    """What tools are told about the turn, and the turn's own two operations."""

    def __init__(self, place: Place, context: TurnContext) -> None:
        self.place = place
        self.context = context
        self.workspace = Path(context.workspace)

    def tool_context(self, scope: Scope) -> ToolContext:
        loop = asyncio.get_running_loop()

        def progress(line: str) -> None:
            loop.call_soon_threadsafe(scope.progress, "tool.progress", {"line": line})

        return ToolContext(
            workspace=self.workspace,
            home=self.place.home,
            artifacts=scope.artifacts,
            session=self.place.session,
            turn=self.place.turn,
            now=scope.clock.now(),
            settings=self.context.settings,
            call=scope.call_id,
            progress=progress,
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


def _policy(registry: Registry, told: _Told) -> Any:
    policy = Policy(told.context.settings.get("tools", {}))

    async def verdict(args: Json, scope: Scope) -> Json:
        """Whether a call may be made, "allow", "ask" or "deny": what its paths lead to decides, too."""
        tool = registry.get(args["tool"])
        parsed = tool.parse(args["args"])
        given = {**parsed.model_dump(mode="json"), **args["args"]}  # as they were given, where they were
        return (await asyncio.to_thread(policy.verdict, tool, given, told.tool_context(scope))).value

    return verdict


def _preview(registry: Registry, told: _Told) -> Any:
    async def preview(args: Json, scope: Scope) -> Json:
        """What a call would do, where its arguments alone do not say it. Raises ToolError for one that could not be
        made at all: nobody need be asked about that."""
        tool = registry.get(args["tool"])
        parsed, context = tool.parse(args["args"]), told.tool_context(scope)
        if tool.subject is not None:
            await asyncio.to_thread(tool.subject, parsed, context)
        return "" if tool.preview is None else await tool.preview(parsed, context)

    return preview


def _tool(tool: Tool, told: _Told) -> Operation:
    async def run(args: Json, scope: Scope) -> Json:
        return _bounded(await tool.run(tool.parse(args), told.tool_context(scope))).model_dump()

    reconcile = None
    if tool.reconcile is not None:
        look = tool.reconcile

        async def reconcile(args: Json, scope: Scope) -> Reconciliation:
            return await look(tool.args.model_validate(args), told.tool_context(scope))

    effect = tool.effect if isinstance(tool.effect, Effect) else Effect.ONCE
    return Operation(f"tool.{tool.name}", run, effect, tool.deadline_s, reconcile)


def _bounded(result: ToolResult) -> ToolResult:
    """A result of a size that can be kept, searched for secrets and shown again after every step."""
    text, data = result.text, result.data
    if len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT // 2]}\n[… {len(text) - MAX_TEXT} characters cut …]\n{text[-MAX_TEXT // 2 :]}"
    size = len(json.dumps(data, default=str))
    if size > MAX_DATA:
        text, data = f"{text}\n[… its data, {size} characters, left out]", {}
    return result.model_copy(update={"text": text, "data": data})


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
