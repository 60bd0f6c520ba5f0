"""From a client's request to the turn that it is: which session it belongs to, and whether it answers or repeats."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

from echelon.server.chats import Begun, Chats, Position
from echelon.server.messages import ChatRequest, Message, digest, exchanges, identity
from echelon.server.problem import Problem
from echelon.server.reply import Reply
from echelon.server.work import Work
from gateway import Gateway, Turn
from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import RunRow
from gateway.errors import RunNotFound, UsageError
from gateway.sessions import check_session
from gateway.stream import OnEvent, SessionBusy, TurnEvent, TurnStarted

RETRY_S = 600.0  # for so long a client that asks again by itself is sent the same reply
LEFT_S = 3600.0  # for so long the same words go on with a turn that was left; later they are a new request


@dataclass(frozen=True)
class Place:
    """The session that a request belongs to, and that session's last turn; None for one that begins."""

    session: str
    last: RunRow | None


class Talks:
    """The conversations of one user; `owner` is the user's name."""

    def __init__(self, owner: str, gateway: Gateway) -> None:
        self.gateway = gateway
        self._owner = owner
        self._now = gateway.runs.clock.now
        self._chats = Chats(gateway.home / "chats.db", self._now())
        self._works: dict[str, Work] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def close(self) -> None:
        self._chats.close()

    def works(self) -> list[Work]:
        """What is under way."""
        return list(self._works.values())

    async def begin(self, asked: ChatRequest, task_type: str | None) -> Work:
        """The work on a request; of two that are the same at once, one and the same. Whoever gets it has to follow it
        before anything else is awaited."""
        if asked.session is not None:
            check_session(asked.session)
        name = identity(self._owner, asked)
        while (work := self._works.get(name)) is not None and (work.abandoned or work.task.done()):
            await asyncio.wait([work.task])
            self._forget(name, work)
        if work is None:
            work = Work(lambda tell: self._reply(_Request(self._owner, asked, name, task_type), tell))
            self._works[name] = begun = work
            work.task.add_done_callback(lambda _: self._forget(name, begun))
        return work

    def _forget(self, name: str, work: Work) -> None:
        if self._works.get(name) is work:
            del self._works[name]

    async def _reply(self, request: _Request, tell: OnEvent) -> Reply:
        """The reply to a request that was sent before, or the turn that it begins or goes on with."""
        earlier = self._earlier(request)
        row = self._row(earlier.run_id) if earlier is not None else None
        if earlier is not None and row is not None:
            async with self._in_turn(str(row.session), tell):
                reply = await self._again(request, earlier, row, tell)
            if reply is not None:
                return reply
        place = self._place(request.asked)
        if place.last is None and request.asked.session is None:
            return await self._in(place, request, tell)
        async with self._in_turn(place.session, tell):
            now = self._place(request.asked)
            if now.session == place.session:
                return await self._in(now, request, tell)
        return await self._in(now, request, tell)  # whoever was waited for has gone on with the session

    # requests that were sent before

    def _earlier(self, request: _Request) -> Begun | None:
        """What is known of the request, if this one only repeats it."""
        if request.once is not None and (keyed := self._chats.request(request.once)) is not None:
            if keyed.identity != request.name:
                raise Problem(400, "another request had this Idempotency-Key", code="idempotency_key_reused")
            return keyed
        known = self._chats.request(request.name)
        if known is None or known.ended is None:
            return known
        again = request.asked.retry and request.once is None and self._now() - known.ended < RETRY_S
        return known if again else None

    async def _again(self, request: _Request, earlier: Begun, row: RunRow, tell: OnEvent) -> Reply | None:
        """Goes on where the request was left, or gives its reply once more; None where it has to begin anew."""
        if earlier.ended is None and not request.asked.retry and self._now() - row.updated > LEFT_S:
            return None
        state = self.gateway.state(row)
        reply = Reply.of(self._turn(row), earlier.before)
        unfinished = state.status is Status.RUNNING
        if earlier.ended is not None:
            unfinished = unfinished or (state.status is Status.FAILED and bool(reply.error))
            if not unfinished:
                return reply
        self._began(request, earlier)
        if unfinished:
            turn = await self.gateway.resume(row.id, on_event=tell)
        elif state.status is Status.WAITING and self._asked_at(row) == earlier.question:
            turn = await self._answered(row, state, request.asked.text, tell)
        elif reply.error:
            return None
        else:  # it ended, and nobody was told
            turn = self._turn(row)
        return self._ended(request, turn, earlier.before)

    # turns

    def _place(self, asked: ChatRequest) -> Place:
        """Where the request belongs. Raises nothing: what is unknown begins a session."""
        if asked.session is not None:
            return Place(asked.session, self._last(asked.session))
        position = None if asked.begins else self._chats.position(digest(self._owner, asked.before))
        last = self._last(position.session) if position is not None else None
        if position is None or last is None or position != self._position(last):
            return Place(f"chat-{secrets.token_hex(6)}", None)
        return Place(position.session, last)

    async def _in(self, place: Place, request: _Request, tell: OnEvent) -> Reply:
        """A turn in this session, or the answer to its last one's question."""
        if place.last is not None:
            state = self.gateway.state(place.last)
            if state.status is Status.WAITING and state.waiting is not None:
                return await self._answer(place.last, state, state.waiting, request, tell)

        def told(event: TurnEvent) -> None:
            if isinstance(event, TurnStarted):
                self._began(request, Begun(request.name, event.run_id, 0, {}))
            tell(event)

        turn = await self.gateway.run(
            request.asked.text,
            session=place.session,
            task_type=request.task_type,
            history=[] if place.last is not None else exchanges(request.asked.before),
            on_event=told,
        )
        return self._ended(request, turn, {})

    async def _answer(self, row: RunRow, state: RunState, waiting: Waiting, request: _Request, tell: OnEvent) -> Reply:
        """Goes on with the answer; one that is not among the options changes nothing, and is asked for again."""
        if waiting.options and _option(waiting, request.asked.text) is None:
            reply = Reply.of(self._turn(row), state.counters)
            self.continues(request.asked, reply, reply.content)
            return reply
        self._began(request, Begun(request.name, row.id, self._asked_at(row), state.counters))
        turn = await self._answered(row, state, request.asked.text, tell)
        return self._ended(request, turn, state.counters)

    async def _answered(self, row: RunRow, state: RunState, text: str, tell: OnEvent) -> Turn:
        assert state.waiting is not None
        try:
            await self.gateway.runs.answer(row.id, _option(state.waiting, text) or text)
        except UsageError:  # it was answered, and the answer was not yet gone on with
            if self._position(row).seq == self._asked_at(row):
                raise
        return await self.gateway.resume(row.id, on_event=tell)

    @contextlib.asynccontextmanager
    async def _in_turn(self, session: str, tell: OnEvent) -> AsyncIterator[None]:
        """One request of a session at a time: only after it can be told what the next one is, a turn or an answer."""
        lock = self._turns.get(session) or self._turns.setdefault(session, asyncio.Lock())
        if lock.locked():
            tell(SessionBusy(session, "another request of it is being worked on"))
        async with lock:
            yield

    # what is remembered

    def _began(self, request: _Request, begun: Begun) -> None:
        for name in request.names:
            self._chats.begin(name, begun)

    def _ended(self, request: _Request, turn: Turn, before: Mapping[str, float]) -> Reply:
        reply = Reply.of(turn, before)
        if not reply.error:
            self.continues(request.asked, reply, reply.content)
        elif not request.asked.begins:  # nothing was said: the conversation is as it was, and its session is one on
            self._chats.remember(digest(self._owner, request.asked.before), self._position_of(reply))
        for name in request.names:
            self._chats.end(name, self._now())
        return reply

    def continues(self, asked: ChatRequest, reply: Reply, content: str) -> None:
        """The conversation goes on after this answer, in the form that the client was shown and will send back."""
        said = [*asked.messages, Message("assistant", content)]
        self._chats.remember(digest(self._owner, said), self._position_of(reply))

    def _position_of(self, reply: Reply) -> Position:
        return Position(reply.session, reply.turn, self.gateway.runs.store.last_seq(reply.run))

    def _position(self, row: RunRow) -> Position:
        return Position(str(row.session), row.ordinal or 0, self.gateway.runs.store.last_seq(row.id))

    def _asked_at(self, row: RunRow) -> int:
        """The number of the last event before a run's question was put."""
        return self.gateway.runs.store.snapshot(row.id)[0]

    def _turn(self, row: RunRow) -> Turn:
        return self.gateway.turn(row.ordinal, row.session)

    def _row(self, run_id: str) -> RunRow | None:
        try:
            return self.gateway.runs.store.run(run_id)
        except RunNotFound:
            return None

    def _last(self, session: str) -> RunRow | None:
        try:
            return self.gateway.runs.store.at(session)
        except RunNotFound:
            return None


class _Request:
    """A request and the names that it is remembered by."""

    def __init__(self, owner: str, asked: ChatRequest, name: str, task_type: str | None) -> None:
        self.asked = asked
        self.name = name
        self.task_type = task_type
        self.once = None if asked.once is None else f"once:{digest(owner, [Message('key', asked.once)])}"
        self.names = [name, *([self.once] if self.once else [])]


def _option(waiting: Waiting, text: str) -> str | None:
    """The option that was said, in whatever case; an approval is not guessed from a beginning of it."""
    said = text.strip().casefold()
    return next((option for option in waiting.options if option.casefold() == said), None)
