"""Autonomous sessions: begun, resumed, extended, paused, stopped, looked at. `Gateway.loops` is one.

async with Gateway(Settings.load()) as gateway:
    session = await gateway.loops.start("Make the tests pass", exits=["all_tests_pass"])
    print(session.status, session.state.iteration)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.engine.holding import holding
from gateway.engine.state import Status
from gateway.engine.store import RunRow
from gateway.errors import AgentBusy, RunBusy, RunNotFound, UsageError, UserCancelled
from gateway.loop import LOOP
from gateway.loop.beginning import ID, LAST, check_limits, check_name, check_place, in_place, limits_of, options_of
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.conditions.evaluation import check_names
from gateway.loop.limits import reached
from gateway.loop.report import ProgressReport
from gateway.loop.session import ENDED, EXECUTING, INTERRUPTED, PAUSED, STOPPED, Session, session_of
from gateway.loop.signals import EXITS, EXTEND, FROM, PAUSE, RESUME, STOP
from gateway.loop.state import Limits, LoopContext, LoopOptions, LoopState

if TYPE_CHECKING:
    from gateway.engine.graph import Graph
    from gateway.engine.graph_type import GraphType
    from gateway.engine.runs import Runs
    from gateway.engine.store import Store
    from gateway.gateway import Gateway
    from gateway.loop.agents.agent import Agent
    from gateway.loop.operations import Recipients

LISTED = "`echelon loop list` shows them"
WATCH_S = 0.1  # between two looks of a watcher


class Loops:
    """The autonomous sessions of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._agents: dict[str, Agent] = {}

    def type(self, runs: Runs) -> GraphType:
        """The kind of run that a session is."""
        from gateway.loop.graph import loop_type

        return loop_type(self._gateway.home, runs, self._agent, self._recipients())

    def command_type(self) -> GraphType:
        """The kind of run that an iteration is whose agent is a command."""
        from gateway.loop.agents.command import command_type

        return command_type()

    async def start(
        self,
        task: str,
        *,
        exits: Sequence[str] = (),
        options: LoopOptions | None = None,
        limits: Limits | None = None,
        workspace: Path | None = None,
        name: str | None = None,
        agent: Agent | None = None,
        on_begin: Callable[[Session], None] | None = None,
    ) -> Session:
        """Let an agent work until its exit conditions hold, a limit is reached, or it needs an answer. `workspace` is
        that of the configuration unless given; `name` is the agent's, its workspace unless given; `agent` is an object
        in place of `options.agent`; `on_begin` is told the session once it is written down.

        Raises AgentBusy where the agent is executing already, and EchelonError where the session cannot begin; once
        begun, one that fails is returned with its `error`. Cancelling leaves it resumable.
        """
        from gateway.gateway import check_request
        from gateway.loop_agents import models_of

        check_request(task)
        check_names(exits)
        gateway, runs = self._gateway, self._gateway.runs
        settings = gateway.settings.public()
        place = (workspace or gateway.settings.workspace).resolve()
        check_place(place, gateway.home)
        if name is not None:
            check_name(name)
        options = in_place(options or options_of(gateway.settings), place)
        limits = limits or limits_of(gateway.settings)
        check_limits(limits.model_dump())
        run_id = runs.random.identifier(runs.clock.now())
        context = LoopContext(
            run_id=run_id,
            task=task,
            name=name or str(place),
            workspace=str(place),
            options=options,
            models=models_of(gateway.settings),
            settings=settings,
            assume_yes=gateway.assume_yes,
        )
        if agent is not None:
            self._agents[run_id] = agent
        working = self._agent(context)
        async with self._executing(context.name):
            pins = await working.pins()
            row, owned = await runs.create(
                LOOP,
                context,
                LoopState(exits=tuple(dict.fromkeys(exits)), limits=limits),
                title=task,
                limits={},
                pins=pins,
                run_id=run_id,
            )
            if on_begin is not None:
                on_begin(self.session(row.id))
            await runs.drive(row, owned)
        return self.session(row.id)

    async def resume(
        self,
        run_id: str,
        *,
        from_checkpoint: int | None = None,
        restore_workspace: bool = False,
        agent: Agent | None = None,
        on_begin: Callable[[Session], None] | None = None,
    ) -> Session:
        """Go on with a session that was paused, interrupted, extended, answered, or that ended without being complete;
        where it was, or at a checkpoint. The workspace is put back only where that is asked for.

        Raises AgentBusy while the agent is executing, UsageError for a complete session and for one whose limit is
        still reached, and CheckpointDamaged.
        """
        runs = self._gateway.runs
        session = self.session(run_id)
        if session.status == "completed":
            await runs.resume(session.run_id)  # it may have been killed before its document said so
        self._open(session.run_id)
        if agent is not None:
            self._agents[session.run_id] = agent
        async with self._executing(session.agent):
            session = self._open(session.run_id)  # as it is, now that nobody else can go on with it
            if from_checkpoint is not None:
                await asyncio.to_thread(self.checkpoints(session.run_id).load, from_checkpoint)
                data = {"checkpoint": from_checkpoint, "restore_workspace": restore_workspace}
                await runs.signal(session.run_id, FROM, data)
            await self._reopen(session, going_back=from_checkpoint is not None)
            if on_begin is not None:
                on_begin(self.session(session.run_id))
            await runs.resume(session.run_id)
        return self.session(session.run_id)

    async def extend(
        self,
        run_id: str,
        *,
        iterations: int | None = None,
        time_s: float | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> Limits:
        """Raise limits, while the session runs or afterwards; the limits that it has then. The greater one counts: of
        two who extend at once nobody takes from the other. Raises UsageError for a complete session."""
        session = self._open(run_id)
        asked = {"iterations": iterations, "time_s": time_s, "tokens": tokens, "cost_usd": cost_usd}
        check_limits(asked)
        await self._gateway.runs.signal(
            session.run_id, EXTEND, {name: value for name, value in asked.items() if value is not None}
        )
        return self._heard(session).limits

    async def pause(self, run_id: str) -> None:
        """Let the session rest after the current iteration. Raises UsageError where it is not executing."""
        session = self.session(run_id)
        if session.status != EXECUTING:
            how = session.status.replace("_", " ")
            raise UsageError(f"session {session.run_id} is {how}", hint="only one that executes can pause")
        await self._gateway.runs.signal(session.run_id, PAUSE, {})

    async def stop(self, run_id: str) -> Session:
        """End a session for good, with a last checkpoint: what goes on is cut off. Where another process works on it,
        that one ends it within seconds. Raises AgentBusy where its agent executes another session."""
        session = self._open(run_id)
        runs = self._gateway.runs
        if session.status == STOPPED and session.stop_reason == UserCancelled.kind:
            return session
        other = self._at_work(session.agent)
        if other is not None and other.run_id != session.run_id:
            raise _busy(session.agent, other)
        await runs.signal(session.run_id, STOP, {})
        if session.status == EXECUTING:
            return session
        with suppress(AgentBusy, RunBusy):  # somebody has just gone on with it, and ends it
            async with self._executing(session.agent):
                now = self.session(session.run_id)
                if now.status == session.status or now.status in (PAUSED, Status.WAITING, INTERRUPTED):  # not ended yet
                    await self._unblock(now)
                    await runs.resume(session.run_id)
        return self.session(session.run_id)

    async def change_exits(
        self, run_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Change the exit conditions while the session runs; those that it has then."""
        session = self._open(run_id)
        check_names(add)
        now = self._heard(session).exits
        unknown = [each for each in remove if each not in now]
        if unknown:
            raise UsageError(
                f"{', '.join(unknown)}: no exit condition of the session", hint=f"it has: {', '.join(now) or 'none'}"
            )
        if not add and not set(now) - set(remove):
            raise UsageError("a session without exit conditions never completes", hint="add another, or stop it")
        await self._gateway.runs.signal(session.run_id, EXITS, {"add": list(add), "remove": list(remove)})
        return self._heard(session).exits

    def graph(self) -> Graph:
        """Its nodes and edges, which are the same for every session."""
        from gateway.loop.graph import loop_graph

        context = LoopContext(run_id="", task="", name="", workspace="", options=LoopOptions())
        return loop_graph(context)

    def session(self, run_id: str) -> Session:
        """A session by its id, by how that begins, by its agent's name (the newest of it), or `last`. Raises
        RunNotFound, and UsageError for a run of another kind."""
        return self._session(self._row(run_id))

    def all(self, limit: int = 20) -> list[Session]:
        """The newest first."""
        rows = self._gateway.runs.store.runs(graph=LOOP, limit=limit)
        return [self._session(row) for row in rows]

    def report(self, run_id: str) -> ProgressReport:
        """What an operator wants to know of a session now."""
        from gateway.loop.report import report

        runs = self._gateway.runs
        return report(runs.store, runs.artifacts, self.session(run_id), now=runs.clock.now())

    async def watch(self, run_id: str) -> AsyncIterator[ProgressReport]:
        """Reports: one now, and one whenever something has changed, until nobody works on the session any more. A
        watcher that is cut off begins again with how things are then."""
        seen, row = None, self._row(run_id)
        while True:
            now = self._marks(row.id)
            if now != seen:
                seen = now
                told = self.report(row.id)
                yield told
                if told.status != EXECUTING:
                    return
            await asyncio.sleep(WATCH_S)

    def checkpoints(self, run_id: str) -> Checkpoints:
        """The session's checkpoints, on disk."""
        session = self.session(run_id)
        return Checkpoints(session.folder, session.workspace, apart=self._gateway.home)

    def _recipients(self) -> Recipients:
        from gateway.loop.operations import Recipients
        from gateway.tools.code.command_line import words

        configured = self._gateway.settings.loop.notify
        webhook = configured.webhook.get_secret_value() if configured.webhook else ""
        return Recipients(tuple(words(configured.command)) if configured.command else (), webhook)

    def _agent(self, context: LoopContext) -> Agent:
        given = self._agents.get(context.run_id)
        if given is not None:
            return given
        from gateway.loop_agents import agent_of

        return agent_of(self._gateway, context)

    @asynccontextmanager
    async def _executing(self, name: str) -> AsyncIterator[None]:
        """The agent of that name, for one session at a time. Raises AgentBusy."""
        held = holding(self._gateway.runs.store, f"agent:{name}")
        try:
            await held.__aenter__()
        except RunBusy:
            raise _busy(name, self._at_work(name)) from None
        try:
            yield
        finally:
            await held.__aexit__(None, None, None)

    def _at_work(self, name: str) -> Session | None:
        """The session that the agent of that name executes."""
        rows = self._gateway.runs.store.runs(graph=LOOP, limit=-1)
        sessions = (self.session(row.id) for row in rows if row.context["name"] == name)
        return next((each for each in sessions if each.status == EXECUTING), None)

    async def _reopen(self, session: Session, *, going_back: bool) -> None:
        """Let an ended or paused session know that it is to go on. Raises UsageError where its limit is reached."""
        heard = self._heard(session)
        if session.status == PAUSED or (session.waiting is not None and going_back):
            await self._unblock(session)
        elif session.status in ENDED:
            limit = reached(heard)
            if limit is not None and not going_back:
                more = f"--max-{limit.name.partition('_')[0]} N"
                raise UsageError(
                    f"the limit of session {session.run_id} is reached: {limit.in_words()}",
                    hint=f"extend it first: echelon loop extend {session.run_id} {more}",
                )
            if heard.ending or heard.paused:
                await self._gateway.runs.signal(session.run_id, RESUME, {})
        elif heard.paused and not heard.ending:  # it was interrupted before it could rest
            await self._gateway.runs.signal(session.run_id, RESUME, {})

    async def _unblock(self, session: Session) -> None:
        """Have a session that waits hear what it has been told: a pause is over, an iteration that asks is given up."""
        waiting = session.waiting
        with suppress(UsageError):  # it has its answer already
            if waiting is not None and waiting.run_id == session.run_id:
                await self._gateway.runs.answer(session.run_id, "continue")
            elif waiting is not None:
                await self._gateway.runs.cancel(waiting.run_id)

    def _heard(self, session: Session) -> LoopState:
        """The state with what operators have said since it was written."""
        from gateway.loop.signals import heard

        state = session.state
        for signal in self._gateway.runs.store.signals(session.run_id, state.heard):
            if signal.name != FROM:
                state = heard(state, signal.name, signal.data, signal.at)
        return state

    def _open(self, run_id: str) -> Session:
        session = self.session(run_id)
        if session.status == "completed":
            raise UsageError(f"session {session.run_id} is completed", hint="begin another: echelon loop start")
        return session

    def _marks(self, run_id: str) -> tuple[object, ...]:
        """What differs whenever something has changed: how far the logs are, of the session and its last iteration."""
        runs, store = self._gateway.runs, self._gateway.runs.store
        row = store.run(run_id)
        children = store.runs(parent=run_id, limit=1)
        told = [store.last_seq(each.id) for each in children]
        return (
            runs.status(row),
            store.last_seq(run_id),
            store.signals(run_id)[-1:],
            *(each.id for each in children),
            *told,
        )

    def _row(self, run_id: str) -> RunRow:
        store = self._gateway.runs.store
        if run_id == LAST:
            found = store.runs(graph=LOOP, limit=1)
            if not found:
                raise RunNotFound("there is no session yet", hint='begin one: echelon loop start "…"')
            return found[0]
        named = None
        if not ID.fullmatch(run_id):
            every = store.runs(graph=LOOP, limit=-1)
            named = next((row for row in every if row.context.get("name") == run_id), None)
            begins = [row for row in every if row.id.startswith(run_id.upper())]  # as its iterations' ids do, too
            if named is None and len(begins) == 1:
                return begins[0]
            if named is None and begins:
                raise RunNotFound(f"more than one session has an id that begins with {run_id!r}", hint=LISTED)
        row = named or _found(store, run_id)
        if row.graph != LOOP:
            raise UsageError(f"run {row.id} is a {row.graph}, not an autonomous session")
        return row

    def _session(self, row: RunRow) -> Session:
        runs, state = self._gateway.runs, self._gateway.state(row)
        hint = runs.hint(row.id) if state.error is not None else ""
        return session_of(row, state, working=runs.status(row), home=self._gateway.home, hint=hint)


def _found(store: Store, run_id: str) -> RunRow:
    try:
        return store.run(run_id.upper())
    except RunNotFound:
        raise RunNotFound(f"there is no session {run_id!r}", hint=LISTED) from None


def _busy(name: str, other: Session | None) -> AgentBusy:
    which = f"session {other.run_id}, after iteration {other.state.iteration}" if other else "another session"
    watch = f"echelon loop watch {other.run_id}" if other else "echelon loop list"
    return AgentBusy(f"agent {name} is already executing: {which}", hint=f"{watch}; or begin another agent with --name")
