"""Where a scenario's steps meet a session: an event loop that goes on only within steps, and an agent that is held."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TypeVar

from loop_lab import gateway_in, until
from pydantic import BaseModel

from echelon.cli import start
from gateway import Gateway
from gateway.engine.graph import Graph
from gateway.engine.holding import holding
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Json, Operation, Scope
from gateway.engine.runs import GraphType, Pinned
from gateway.engine.state import RunState
from gateway.engine.store import RunRow
from gateway.errors import RunBusy
from gateway.loop.agents.agent import Assignment, Told, ended
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.report import ProgressReport
from gateway.loop.session import Session
from gateway.loop.state import ConditionSetting, Limits, LoopOptions
from gateway.tools.child import Caller, ChildRun

T = TypeVar("T")
Deed = Callable[[Path], object]

PATIENCE_S = 120.0  # before a test fails
TASK = "Make the tests pass"
WORK = "worker"  # the kind of run, and the word for it


class Turn(BaseModel):
    iteration: int


class Nothing(BaseModel):
    pass


class _Work(Node[Nothing, Turn, Json, Nothing]):
    name = "Work"
    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: Nothing, context: Turn) -> Json:
        return {"iteration": context.iteration}

    async def execute(self, given: Json, visit: Visit) -> Nothing:
        await visit.call("worker.work", given)
        return Nothing()

    def apply_output(self, state: Nothing, output: Nothing) -> Nothing:
        return output


class Worker:
    """An agent that is an object, so that an iteration costs next to nothing. In each it counts in `progress.txt` and
    does what `deeds` has for that iteration; it waits in those that are held."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.deeds: dict[int, Deed] = {}
        self.begun: list[int] = []
        self.given: list[Assignment] = []
        self._held: dict[int, asyncio.Event] = {}

    def hold(self, iteration: int) -> None:
        self._held[iteration] = asyncio.Event()

    def let_go(self) -> None:
        for each in self._held.values():
            each.set()

    async def pins(self) -> dict[str, bytes]:
        return {}

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        self.given.append(given)
        title = f"iteration {given.iteration}"
        return ChildRun(WORK, Turn(iteration=given.iteration), Nothing(), title=title, limits={}, pins={})

    def told(self, state: RunState, hint: str) -> Told:
        return ended(state, hint, "worked")

    async def work(self, args: Json, scope: Scope) -> Json:
        number = args["iteration"]
        self.begun.append(number)
        if number in self._held:
            await self._held[number].wait()
        (self.workspace / "progress.txt").write_text(f"{number}\n")
        if number in self.deeds:
            self.deeds[number](self.workspace)
        return {}

    def type(self) -> GraphType:
        def operations(row: RunRow, context: Turn, pinned: Pinned) -> Mapping[str, Operation]:
            return {"worker.work": Operation("worker.work", self.work, Effect.IDEMPOTENT)}

        graph = Graph(WORK, [_Work()], start="Work")
        return GraphType(WORK, Turn, Nothing, lambda *_: graph, operations)


def makes(*names: str) -> Deed:
    """What brings about conditions that are `exists(name)`."""
    return lambda workspace: [(workspace / name).write_text("") for name in names]


class Stage:
    """An operator with one agent. What is asked with `do` runs on an event loop of the stage, on which a session that
    was begun goes on meanwhile; between steps everything stands still."""

    def __init__(self, place: Path, home: Path) -> None:
        self.place = place
        self.home = home
        self.workspace = place / "work"
        self.workspace.mkdir()
        self.worker = Worker(self.workspace)
        self.options = LoopOptions()
        self.limits = Limits()
        self.exits: tuple[str, ...] = ()
        self.configured: dict[str, object] = {}
        self.run_id = ""
        self.begun: Session | None = None
        """As it was when it was written down."""
        self.reports: list[ProgressReport] = []
        self.terminals: list[asyncio.subprocess.Process] = []
        """Others that look on; they are closed with the stage."""
        self._runner = asyncio.Runner()
        self._open = AsyncExitStack()
        self._gateway: Gateway | None = None
        self._working: asyncio.Task[Session] | None = None
        self._beside: list[asyncio.Task[None]] = []

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    @property
    def gateway(self) -> Gateway:
        if self._gateway is None:
            self._gateway = self.do(
                self._open.enter_async_context(gateway_in(self.home, self.workspace, **self.configured))
            )
            self._gateway.runs.register(self.worker.type())
        return self._gateway

    def judged_by(self, **commands: str) -> None:
        """The exit conditions, each with the command that judges it."""
        self.exits = tuple(commands)
        settings = {name: ConditionSetting(command=command, timeout_s=30.0) for name, command in commands.items()}
        self.options = self.options.with_(conditions=settings)

    def begin(self, *, agent: str | None = None, name: str | None = None) -> None:
        """Begin a session, as far as that it is written down; a command where one is named, else the worker."""
        loops = self.gateway.loops

        async def begin() -> Session:
            begun: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
            work = loops.start(
                TASK,
                exits=self.exits,
                options=self.options.with_(agent=agent) if agent else self.options,
                limits=self.limits,
                name=name,
                agent=None if agent else self.worker,
                on_begin=begun.set_result,
            )
            self._working = asyncio.create_task(work)
            await asyncio.wait({begun, self._working}, return_when=asyncio.FIRST_COMPLETED)
            return begun.result() if begun.done() else await self._working

        self.begun = self.do(begin())
        self.run_id = self.begun.run_id

    def until_begun(self, iteration: int) -> None:
        """Until the worker is at that iteration: where it is held, the session does not get further."""
        self.do(until(lambda: iteration in self.worker.begun or self._over(), patience_s=PATIENCE_S))
        assert iteration in self.worker.begun, f"the session ended: {self.session}"

    def to_the_end(self) -> Session:
        assert self._working is not None
        return self.do(_patiently(self._working))

    @property
    def checkpoints(self) -> Checkpoints:
        return self.gateway.loops.checkpoints(self.run_id)

    @property
    def session(self) -> Session:
        return self.gateway.loops.session(self.run_id)

    def is_idle(self) -> bool:
        """Whether a session of the agent could begin."""

        store = self.gateway.runs.store

        async def held() -> bool:
            async with holding(store, f"agent:{self.workspace}"):
                return True

        try:
            return self.do(held())
        except RunBusy:
            return False

    def report(self) -> ProgressReport:
        return self.gateway.loops.report(self.run_id)

    def watch(self) -> None:
        """Look on from now on, as another terminal would: `reports` grows."""

        async def look(reports: AsyncIterator[ProgressReport]) -> None:
            async for each in reports:
                self.reports.append(each)

        before, watched = len(self.reports), self.gateway.loops.watch(self.run_id)

        async def begin() -> None:
            self._beside.append(asyncio.create_task(look(watched)))
            await until(lambda: len(self.reports) > before)

        self.do(begin())

    def close(self) -> None:
        """End what still goes on, as Ctrl-C does."""

        async def close() -> None:
            for each in asyncio.all_tasks() - {asyncio.current_task()}:
                each.cancel()
                await asyncio.wait({each})
            for terminal in self.terminals:
                with suppress(ProcessLookupError):
                    terminal.kill()
                await terminal.wait()
            await self._open.aclose()

        self.do(close())
        self._runner.close()

    def _over(self) -> bool:
        return self._working is not None and self._working.done()


@contextmanager
def staged(place: Path, home: Path) -> Iterator[Stage]:
    """A stage, until it is not needed any more."""
    stage = Stage(place, home)
    try:
        yield stage
    finally:
        stage.close()


async def _patiently(work: asyncio.Task[T]) -> T:
    async with asyncio.timeout(PATIENCE_S):
        return await work


def echelon(*arguments: str) -> tuple[int, str]:
    """The command line, in this process and in the test's home: the exit code, and what it printed."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = start(arguments)
    return code, out.getvalue()
