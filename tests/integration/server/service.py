"""A chat server on loopback with a home, a workspace and a scripted model of its own, and a client for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import BaseModel

from echelon.server.listening import listening
from echelon.server.users import Users
from echelon.server.work import Work
from gateway import Gateway, Settings
from gateway.engine.ports import Effect, Json
from gateway.errors import ToolError
from gateway.llm.model import OnDelta
from gateway.llm.scripted import ScriptedModel
from gateway.stream import TurnEvent
from gateway.tools.registry import Registry, ToolContext, ToolResult, tool

Messages = Sequence[tuple[str, Any]]


class Args(BaseModel):
    what: str = ""


@tool("test.say", effect=Effect.READ)
async def say(args: Args, ctx: ToolContext) -> ToolResult:
    """Say something."""
    return ToolResult(text=args.what, data={"said": args.what})


@tool("test.refuse", effect=Effect.READ)
async def refuse(args: Args, ctx: ToolContext) -> ToolResult:
    """Fail as tools do."""
    raise ToolError("not today")


@tool("test.spend", effect=Effect.ONCE, ask=True)
async def spend(args: Args, ctx: ToolContext) -> ToolResult:
    """Spend money."""
    with (ctx.workspace / "spent").open("a") as file:
        file.write("x")
    return ToolResult(text="spent", data={"changed": "1 coin is spent"})


class Model:
    """A scripted model that can be held up, and tells its answers in pieces."""

    def __init__(self, script: Sequence[Json]) -> None:
        self.asked: list[Json] = []
        self.script = script
        self.open = asyncio.Event()
        self.open.set()
        self._reached = asyncio.Event()

    async def held(self) -> None:
        """Until the next call; from now on calls wait until `open` is set."""
        self.open.clear()
        self._reached.clear()
        async with asyncio.timeout(60):
            await self._reached.wait()

    async def complete(self, request: Json) -> Json:
        self.asked.append(request)
        self._reached.set()
        await self.open.wait()
        return await ScriptedModel(self.script).complete(request)

    async def stream(self, request: Json, on_delta: OnDelta) -> Json:
        answer = await self.complete(request)
        for piece in answer["text"].split(" "):
            on_delta(piece + " ")
            await asyncio.sleep(0)
        return answer


@dataclass
class Answer:
    """What came back: the whole body, or the events of a stream."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False

    @property
    def content(self) -> str:
        if not self.chunks:
            return str(self.body["choices"][0]["message"]["content"])
        return "".join(delta.get("content") or "" for delta in self.deltas)

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [choice["delta"] for chunk in self.chunks for choice in chunk.get("choices", [])]

    @property
    def place(self) -> tuple[str, str]:
        return self.headers["X-Echelon-Session"], self.headers["X-Echelon-Turn"]


class Service:
    """A server that runs, and requests to it."""

    def __init__(self, base: str, model: Model, users: Users, client: aiohttp.ClientSession, said: list[str]) -> None:
        self.base = base
        self.model = model
        self.said = said
        self._users = users
        self._client = client

    @property
    def gateway(self) -> Gateway:
        return self._users.all()[0].gateway

    def turns(self) -> list[tuple[str | None, int | None]]:
        """(session, number), the newest first."""
        return [(row.session, row.ordinal) for row in self.gateway.turns()]

    async def ask(self, *messages: Any, headers: dict[str, str] | None = None, **more: Any) -> Answer:
        """A chat completion; a message is (role, content), or the content of one from the user."""
        given = [each if isinstance(each, tuple) else ("user", each) for each in messages]
        body = {"model": "echelon", "messages": [{"role": role, "content": text} for role, text in given], **more}
        return await self.send("POST", "/chat/completions", headers, json=body)

    async def send(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
        async with self._client.request(method, self.base + path, headers=headers, **more) as response:
            answer = Answer(response.status, dict(response.headers))
            if response.content_type != "text/event-stream":
                answer.body = await response.json()
                return answer
            async for line in response.content:
                data = line.decode().strip().removeprefix("data: ")
                if data == "[DONE]":
                    answer.done = True
                elif data:
                    answer.chunks.append(json.loads(data))
            return answer

    async def left(self) -> None:
        """Until nothing is worked on any more."""
        async with asyncio.timeout(60):
            await asyncio.gather(*(work.task for work in self._works()), return_exceptions=True)

    async def followed(self, by: int) -> None:
        """Until so many requests wait for a reply."""
        await self._until(lambda: sum(work._followers for work in self._works()) == by)

    async def told(self, kind: type[TurnEvent]) -> None:
        """Until a request has been told such an event."""
        await self._until(lambda: any(isinstance(event, kind) for work in self._works() for event in work._told))

    def _works(self) -> list[Work]:
        return [work for talks in self._users.all() for work in talks.works()]

    async def _until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not true():  # noqa: ASYNC110  nobody would tell
                await asyncio.sleep(0.005)


@asynccontextmanager
async def served(root: Path, *script: Json, **settings: Any) -> AsyncIterator[Service]:
    """A server in the folder `root`, which keeps its home for the next one there."""
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    values = {"model": "scripted", "workspace": str(workspace), "validate": False, **settings}
    values["serve"] = {"port": 0, **settings.get("serve", {})}
    loaded = Settings.load(values, cwd=workspace, environ={"ECHELON_HOME": str(root / "home")})
    model, said = Model(script), list[str]()

    def opened(theirs: Settings) -> Gateway:
        return Gateway(theirs, model=model, registry=lambda: Registry((say, refuse, spend)))

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(aiohttp.ClientSession())
        base, users = await stack.enter_async_context(listening(loaded, said.append, opened))
        yield Service(base, model, users, client, said)


def decision(action: str, **more: Any) -> Json:
    return {"answer": {"decision": {"action": action, "reasoning": "because", **more}}}


def plan(*goals: str, task_type: str = "generic", **more: Any) -> Json:
    return {**decision("EXECUTE", task_type=task_type, goals=list(goals) or ["do it"]), **more}


def call(name: str, **args: Json) -> Json:
    return decision("CALL_TOOL", tool={"name": name, "args": args})


def done() -> Json:
    return decision("DONE")


def complete(response: str = "Hello!", **more: Any) -> Json:
    return {**decision("COMPLETE", response=response), **more}


def clarify(question: str = "Which one?") -> Json:
    return decision("CLARIFY", question=question)


def answer(text: str = "It is done.") -> Json:
    return {"answer": text}


def spending() -> list[Json]:
    """A turn with a call that has to be approved."""
    return [plan("spend a coin"), call("test.spend", what="a coin"), done(), answer("I have spent a coin.")]
