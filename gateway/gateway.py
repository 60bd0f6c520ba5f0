"""The library's face: requests in, turns out. The command line and the server are thin over it.

async with Gateway(Settings.load()) as gateway:
    turn = await gateway.run("Remember that my deploy server is called heron")
    print(turn.response, turn.context)
    async for event in gateway.stream("What is my deploy server called?"):
        print(event)
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gateway.config import Settings
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.ports import Clock, Model, Random
from gateway.engine.runs import Replayed, Runs
from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import RunRow, Store
from gateway.errors import EchelonError, ModelUnavailable, ToolError, UsageError
from gateway.loop import COMMAND_RUN, LOOP
from gateway.phone import PHONE
from gateway.redact import redactor
from gateway.sessions import check_session, one_at_a_time
from gateway.stream import Narrator, Notice, OnEvent, TurnEnded, TurnEvent, TurnStarted, streamed
from gateway.toolbox import Toolbox
from gateway.tools.policy import Policy
from gateway.tools.registry import Registry
from gateway.turn import TURN

if TYPE_CHECKING:
    from gateway.engine.graph import Graph
    from gateway.engine.graph_type import GraphType
    from gateway.engine.sessions import SessionRow
    from gateway.llm.providers import Providers
    from gateway.llm.recipes import RecipeFile
    from gateway.loops import Loops
    from gateway.phones import Phones
    from gateway.tools.memories import Memory
    from gateway.tools.skills.library import SkillLibrary
    from gateway.turn.patterns.library import PatternLibrary
    from gateway.turn.state import TurnContext, TurnState

ROLES = ("planner", "executor", "responder")
MEMORIES = 50  # that a search by a person shows
HISTORY = 5  # exchanges from before a session that a turn is told


@dataclass(frozen=True)
class Turn:
    """How a turn ended. `context` is the path of its `context.md`; `waiting` is set where it needs an answer.

    `error` says why it failed, and `hint` what can be done about that, where whoever raised it knew.
    """

    run_id: str
    session: str
    number: int
    status: Status
    stop_reason: str | None
    error: str | None
    response: str
    context: Path
    usage: Mapping[str, float]
    waiting: Waiting | None = None
    hint: str = ""


class Gateway:
    """Runs turns in one home directory, for one configuration."""

    def __init__(
        self,
        settings: Settings,
        *,
        model: Model | None = None,
        registry: Callable[[], Registry] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        assume_yes: bool = False,
    ) -> None:
        self.settings = settings
        self.toolbox = Toolbox(settings, registry)
        self._model = model
        self._clock = clock
        self._random = random
        self.assume_yes = assume_yes
        self._opened: Runs | None = None
        self._providers: Providers | None = None  # opened here, so closed here

    async def __aenter__(self) -> Gateway:
        await self.erase_forgotten()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._providers is not None:
            await self._providers.close()
        await self.toolbox.close()
        self.close()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.store.close()
            self._opened = None

    @property
    def home(self) -> Path:
        return self.settings.home

    @cached_property
    def phones(self) -> Phones:
        """Tasks on phones."""
        from gateway.phones import Phones

        return Phones(self)

    @cached_property
    def loops(self) -> Loops:
        """Autonomous sessions."""
        from gateway.loops import Loops

        return Loops(self)

    @property
    def runs(self) -> Runs:
        """The runs of this home; opened when first needed."""
        if self._opened is None:
            from gateway.llm.providers import model_of

            opened = Runs(
                Store(self.home / "echelon.db"),
                ArtifactStore(self.home / "artifacts"),
                clock=self._clock,
                random=self._random,
                redact=redactor(self.settings, os.environ),
            )
            model = self._model
            if model is None:
                model = self._providers = model_of(self.settings)
            opened.register_later(LOOP, lambda: self.loops.type(opened))
            opened.register_later(COMMAND_RUN, lambda: self.loops.command_type())
            opened.register_later(PHONE, lambda: self.phones.type(opened.store, model))
            opened.register_later(TURN, lambda: self._turn_type(opened, model))
            self._opened = opened
        return self._opened

    def _turn_type(self, runs: Runs, model: Model) -> GraphType:
        from gateway.turn.graph import turn_type

        return turn_type(self.home, self.toolbox.pinned, model, runs)

    async def run(
        self,
        request: str,
        *,
        session: str = "default",
        task_type: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        on_event: OnEvent | None = None,
    ) -> Turn:
        """One turn, from request to response. Turns of one session follow each other, also from several processes.

        `task_type` fixes the type; `history` are requests and answers from before the session, oldest first;
        `on_event` is told what goes on (see `gateway.stream`).
        Raises EchelonError where it cannot begin; once begun, a turn that fails is returned with its `error`.
        Cancelling leaves it resumable.
        """
        from gateway.turn.parts import PlainTexts, assemble, collect
        from gateway.turn.state import TurnState

        check_request(request)
        context = self._context(request, session, task_type=task_type, history=_exchanges(history))
        pins = collect(self.folders("prompts"), self.folders("recipes"))
        if task_type is not None and task_type not in assemble(PlainTexts(pins), self.toolbox.registry).programs:
            self.patterns().get(task_type)  # raises: it knows the nearest, or what is wrong with the file
        offered, warnings = await self.toolbox.offered()
        return await self._begin(context, TurnState(), pins | offered, on_event, [*self.toolbox.unsaid(), *warnings])

    async def call_tool(
        self, name: str, args: Mapping[str, Any], *, session: str = "tools", on_event: OnEvent | None = None
    ) -> Turn:
        """One tool call, as a turn of its own: journaled, asked for approval like any other, its text the response.

        Raises UsageError for a tool or arguments that there are not. A tool's own error is its result.
        """
        from gateway.turn.parts import PlainTexts, collect
        from gateway.turn.state import TurnState

        offered, warnings = await self.toolbox.offered(name)
        unsaid = self.toolbox.unsaid()
        tool = self.toolbox.find(self.toolbox.pinned(PlainTexts(offered)), name, [*unsaid, *warnings])
        try:
            tool.parse(args)
        except ToolError as error:
            raise UsageError(str(error), hint=f"echelon tools show {name}") from None
        if Policy(self.settings.public()["tools"]).denies(name):
            raise UsageError(f"the configuration denies {name}", hint="see tools.deny and tools.policy there")
        context = self._context(f"{name} {json.dumps(args, ensure_ascii=False)}", session, direct=True)
        pins = collect(self.folders("prompts"), self.folders("recipes")) | offered
        return await self._begin(context, TurnState.calling(name, dict(args)), pins, on_event, unsaid)

    async def _begin(
        self,
        context: TurnContext,
        state: TurnState,
        pins: Mapping[str, bytes],
        on_event: OnEvent | None,
        warnings: Sequence[str] = (),
    ) -> Turn:
        limits, session = self.settings.limits, context.session
        async with one_at_a_time(self.runs, session, on_event):
            row, owned = await self.runs.create(
                TURN,
                context,
                state,
                title=context.request,
                limits={
                    "steps": limits.max_steps,
                    "taps": limits.max_taps,
                    "time_s": limits.max_time_s,
                    "tokens": limits.max_tokens,
                    "cost_usd": limits.max_cost_usd,
                },
                pins=pins,
                session=session,
            )
            observer = self._observer(row, on_event)
            if on_event is not None:
                for each in warnings:
                    on_event(Notice(each))
            ended = await self.runs.drive(row, owned, observer)
        await self.erase_forgotten()
        return self._ended(row, ended, on_event)

    async def resume(
        self, run_id: str, *, on_event: OnEvent | None = None, limits: Mapping[str, float] | None = None
    ) -> Turn:
        """Go on with a turn that was interrupted, answered, has reached a limit that `limits` raises ({"time_s": 900}:
        for the whole turn), or failed for a reason that may be gone."""
        row = self.runs.store.run(run_id)
        async with (
            one_at_a_time(self.runs, row.session, on_event) if row.session is not None else contextlib.nullcontext()
        ):
            state = await self.runs.resume(row.id, self._observer(row, on_event), limits=limits)
        await self.erase_forgotten()
        return self._ended(row, state, on_event)

    async def answer(self, run_id: str, text: str, *, on_event: OnEvent | None = None) -> Turn:
        """Answer a turn's question, and go on with it."""
        await self.runs.answer(run_id, text)
        return await self.resume(run_id, on_event=on_event)

    def stream(
        self,
        request: str,
        *,
        session: str = "default",
        task_type: str | None = None,
        history: Sequence[tuple[str, str]] = (),
    ) -> AsyncIterator[TurnEvent]:
        """As `run`, telling what goes on: the last event is `TurnEnded`, with the turn.

        Leaving the loop early, or cancelling, leaves the turn resumable.
        """
        return streamed(partial(self.run, request, session=session, task_type=task_type, history=history))

    def stream_resumed(self, run_id: str) -> AsyncIterator[TurnEvent]:
        """As `resume`, telling what goes on."""
        return streamed(partial(self.resume, run_id))

    def stream_answered(self, run_id: str, text: str) -> AsyncIterator[TurnEvent]:
        """As `answer`, telling what goes on."""
        return streamed(partial(self.answer, run_id, text))

    async def cancel(self, run_id: str) -> bool:
        """End a run for good; False if its owner, another process, has been asked to."""
        return await self.runs.cancel(run_id)

    async def replay(self, run_id: str) -> Replayed:
        """Run it again from its log alone; ReplayMismatch at the first event that differs."""
        return await self.runs.replay(run_id)

    def turn(self, number: int | None = None, session: str | None = None) -> Turn:
        """A turn by its number, None for the last; `session` None for the one of the last turn."""
        if session is None:
            newest = self.turns()
            session = newest[0].session if newest else "default"
        assert session is not None
        row = self.runs.store.at(session, number)
        return self._turn(row, self.state(row))

    def results(self, turn: Turn) -> list[Mapping[str, Any]]:
        """What the turn's tools gave, in order: `{"tool", "args", "ok", "text", "data"}` each."""
        from gateway.turn.operations import load_result
        from gateway.turn.state import TurnState

        data = self.state(self.runs.store.run(turn.run_id)).data
        assert isinstance(data, TurnState)
        return [load_result(self.runs.artifacts, entry.result) for entry in data.entries]

    def turns(self, session: str | None = None, limit: int = 50) -> list[RunRow]:
        """The newest turns first, of one session or of all."""
        return [row for row in self.runs.store.runs(session=session, limit=limit) if row.session is not None]

    def sessions(self) -> list[SessionRow]:
        """Every session, the one that was used last first."""
        from gateway.engine.sessions import sessions

        return sessions(self.runs.store)

    async def entitle_session(self, session: str, title: str) -> None:
        """Call a session by a title, for people. Raises RunNotFound."""
        from gateway.engine.sessions import entitle

        await entitle(self.runs.store, session, title)

    async def forget_session(self, session: str) -> int:
        """Erase a session: its turns, their documents, and what only they have; how many turns. What was remembered
        (`memory.save`), changed or written stays. Raises RunNotFound, RunBusy."""
        import shutil

        from gateway.engine.sessions import forget
        from gateway.turn.operations import turn_folder

        turns = len(self.turns(session, limit=-1))
        await forget(self.runs.store, self.runs.artifacts, session, self.runs.clock.now())
        shutil.rmtree(turn_folder(self.home, session, 0).parent, ignore_errors=True)
        return turns

    def memories(self, query: str | None = None, *, session: str | None = None) -> list[Memory]:
        """What is remembered: the newest first, or what matches the query best. Raises ToolError."""
        from gateway.tools.memories import Memories

        there = Memories(self.home)
        return there.all(session=session) if query is None else there.search(query, session=session, limit=MEMORIES)

    async def forget_memory(self, key: str) -> bool:
        """Forget what is remembered under the key, and erase it from the record of the turns; False where some of them
        have to end before that. Raises ToolError."""
        from gateway.tools.memories import Memories

        await asyncio.to_thread(Memories(self.home).forget, key)
        return await self.erase_forgotten()

    async def erase_forgotten(self) -> bool:
        """Take what was forgotten out of every turn that nobody works on; whether nothing of it is left anywhere.

        Done after every turn and when the gateway is entered: what cannot be done now is done then.
        """
        from gateway.tools.memories import FILE, Memories

        if not (self.home / FILE).exists():
            return True
        try:
            pending = await asyncio.to_thread(Memories(self.home).pending)
            if not pending:
                return True
            from gateway.engine.erasing import erase
            from gateway.tools.erasure import Eraser

            if not await erase(self.runs, Eraser(pending)):
                return False
            await asyncio.to_thread(Memories(self.home).erased, pending)
        except (EchelonError, ValueError):  # no turn fails for it
            return False
        return True

    def graph(self, name: str = "turn") -> Graph:
        """A kind of run as nodes and edges, as its next run would have them. Raises UsageError for an unknown name."""
        from gateway.turn.graph import turn_graph
        from gateway.turn.parts import PlainTexts, assemble, collect
        from gateway.turn.state import TurnContext

        if name == PHONE:
            return self.phones.graph()
        if name == LOOP:
            return self.loops.graph()
        if name != TURN:
            raise UsageError(f"there is no graph {name!r}", hint=f"there are: {TURN}, {PHONE}, {LOOP}")
        parts = assemble(PlainTexts(collect(self.folders("prompts"), self.folders("recipes"))), self.toolbox.registry)
        return turn_graph(parts, TurnContext(request="", session="default", workspace="", models={}, settings={}))

    def patterns(self) -> PatternLibrary:
        """The task types that there are, the broken ones too: the workspace's, the home's, the shipped ones."""
        from gateway.resources import shipped
        from gateway.turn.patterns.library import PatternLibrary, Source

        workspace, home = self.folders("prompts")
        folders = {"workspace": workspace, "home": home, "shipped": shipped("prompts")}
        return PatternLibrary([Source(origin, folder / "patterns") for origin, folder in folders.items()])

    def recipes(self) -> list[RecipeFile]:
        """What model calls are made of: the workspace's recipes, the home's, the shipped ones."""
        from gateway.llm.recipes import files

        return files(self.folders("recipes"), self.folders("prompts"))

    def skills(self) -> SkillLibrary:
        """The skills that there are: those of the workspace, those of this home, and their versions."""
        from gateway.tools.skills.library import SkillLibrary

        return SkillLibrary(self.home, self.settings.workspace)

    def state(self, row: RunRow) -> RunState:
        """Where a run is, as it was last saved."""
        return RunState.load(self.runs.store.snapshot(row.id)[1], self.runs.types[row.graph].state)

    def _observer(self, row: RunRow, on_event: OnEvent | None) -> Narrator | None:
        if on_event is None:
            return None
        on_event(TurnStarted(row.id, row.session or "", row.ordinal or 0))
        return Narrator(row.id, on_event)

    def _ended(self, row: RunRow, state: RunState, on_event: OnEvent | None) -> Turn:
        turn = self._turn(row, state)
        if on_event is not None:
            on_event(TurnEnded(turn))
        return turn

    def _turn(self, row: RunRow, state: RunState) -> Turn:
        from gateway.turn.operations import turn_folder
        from gateway.turn.state import TurnState

        data = state.data
        assert isinstance(data, TurnState)
        status, stop_reason = state.status, state.stop_reason
        if status is Status.RUNNING and row.status == Status.STOPPED:  # interrupted: the state is where it goes on
            status, stop_reason = Status.STOPPED, row.stop_reason
        return Turn(
            run_id=row.id,
            session=row.session or "",
            number=row.ordinal or 0,
            status=status,
            stop_reason=stop_reason,
            error=state.error,
            response=data.response or "",
            context=turn_folder(self.home, row.session or "", row.ordinal or 0) / "context.md",
            usage=dict(state.counters),
            waiting=state.waiting,
            hint=self.runs.hint(row.id) if state.error is not None else "",
        )

    def _context(self, request: str, session: str, **more: Any) -> TurnContext:
        from gateway.turn.state import TurnContext

        check_session(session)
        if not self.settings.workspace.is_dir():
            raise UsageError(
                f"the workspace {self.settings.workspace} is not a directory", hint="name one with --workspace"
            )
        models = {role: self.settings.model_for(role) for role in ROLES}  # type: ignore[arg-type]
        if not all(models.values()) and not more.get("direct"):
            raise ModelUnavailable(
                "no model is configured", hint="name one with --model, ECHELON_MODEL or `model:` in echelon.yaml"
            )
        return TurnContext(
            request=request,
            session=session,
            workspace=str(self.settings.workspace),
            models={role: str(name) for role, name in models.items() if name},
            settings=self.settings.public(),
            assume_yes=self.assume_yes,
            **more,
        )

    def folders(self, kind: str) -> list[Path]:
        """A user's own prompts or recipes: the workspace's first, then the home's."""
        return [self.settings.workspace / ".echelon" / kind, self.home / kind]


def _exchanges(history: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"request": asked, "response": said} for asked, said in history[-HISTORY:]]


def check_request(text: str) -> None:
    """A request is text that can be written down. Raises UsageError."""
    if not text.strip():
        raise UsageError("the request is empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the request is not valid text: {error.reason} at character {error.start + 1}") from error
