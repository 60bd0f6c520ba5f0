"""The ways in: the command line, the library (`run` and `stream`), and HTTP. One home, one workspace, one model."""

from __future__ import annotations

import asyncio
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, TypeVar

from echelon.ending import exit_code
from echelon.server.listening import listening
from gateway import Gateway, Turn
from gateway.errors import EchelonError
from gateway.stream import TurnEnded

from .house import House

T = TypeVar("T")
REFUSED = "refused"  # the status of what could not begin
WAIT_S = 20.0


@dataclass(frozen=True)
class Ended:
    """What came of a request: `code` is an exit code, through HTTP a status; `said` the error and what to do."""

    status: str
    code: int
    said: str = ""
    reason: str = ""
    response: str = ""
    run: str = ""
    session: str = ""
    turn: int = 0


class Door(ABC):
    """One way in."""

    http = False

    def __init__(self, house: House) -> None:
        self.house = house

    @abstractmethod
    def ask(self, request: str = "Hi", *, session: str = "work") -> Ended:
        """A request, and how it ended."""

    @abstractmethod
    def resume(self, request: str, ended: Ended) -> Ended:
        """Go on with the turn of a request."""

    @abstractmethod
    def reopen(self) -> None:
        """End what is under way as a process ends, and begin anew."""

    @abstractmethod
    def close(self) -> None:
        """For good."""

    def code(self, exit: int, http: int) -> int:
        """Which of the two this door is to give."""
        return http if self.http else exit


class CommandLine(Door):
    """`echelon run`, in this process."""

    def ask(self, request: str = "Hi", *, session: str = "work") -> Ended:
        return self._ended("run", request, "--session", session, "--json", "--no-input")

    def resume(self, request: str, ended: Ended) -> Ended:
        base = self.house.settings["api_base"]  # else it goes on with the server that it began with
        return self._ended("runs", "resume", ended.run, "--api-base", base, "--json", "--no-input")

    def reopen(self) -> None:
        pass  # every command is a process of its own

    def close(self) -> None:
        pass

    def _ended(self, *arguments: str) -> Ended:
        ran = self.house.cli(*arguments)
        assert "Traceback" not in ran.stderr and "defect" not in ran.stderr, ran.stderr
        _, marked, said = f"\n{ran.stderr}".rpartition("\nerror: ")
        said = " ".join(said.split("\nwhen the cause")[0].split("\ncontext: ")[0].split())
        if not ran.stdout:
            assert len([line for line in ran.stderr.splitlines() if line[:7] in ("error: ", "       ")]) <= 2
            return Ended(REFUSED, ran.returncode, said)
        told = json.loads(ran.stdout)
        return Ended(
            *(told["status"], ran.returncode, said if marked else "", told["stop_reason"] or ""),
            *(told["response"] or (told["waiting"] or {}).get("question") or "", told["run"]),
            *(told["session"], told["turn"]),
        )


class Library(Door):
    """`Gateway.run`."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._runner = asyncio.Runner()
        self._gateway: Gateway | None = None

    def ask(self, request: str = "Hi", *, session: str = "work") -> Ended:
        return self._ended(lambda gateway: self._asked(gateway, request, session))

    def resume(self, request: str, ended: Ended) -> Ended:
        return self._ended(lambda gateway: gateway.resume(ended.run))

    def reopen(self) -> None:
        if self._gateway is not None:
            self._runner.run(self._gateway.__aexit__(None, None, None))
            self._gateway = None

    def close(self) -> None:
        self.reopen()
        self._runner.close()

    async def _asked(self, gateway: Gateway, request: str, session: str) -> Turn:
        return await gateway.run(request, session=session)

    def _ended(self, act: Any) -> Ended:
        try:
            self._gateway = self._gateway or Gateway(self.house.load())
            turn: Turn = self._runner.run(act(self._gateway))
        except EchelonError as error:
            return Ended(REFUSED, error.exit_code, f"{error} {error.hint}", f"error:{error.kind}")
        said = f"{turn.error or ''} {turn.hint}".strip()
        response = turn.waiting.question if turn.waiting else turn.response
        place = (turn.run_id, turn.session, turn.number)
        return Ended(turn.status.value, exit_code(turn), said, turn.stop_reason or "", response, *place)


class LibraryStream(Library):
    """`Gateway.stream`."""

    async def _asked(self, gateway: Gateway, request: str, session: str) -> Turn:
        told = [event async for event in gateway.stream(request, session=session)]
        assert isinstance(told[-1], TurnEnded)
        return told[-1].turn


class Http(Door):
    """`echelon serve`, in a thread of this process."""

    http = True

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._thread: _Loop | None = None
        self._stack = AsyncExitStack()
        self._address = ("", 0)

    def ask(self, request: str = "Hi", *, session: str = "work") -> Ended:
        return self._post(request, session, {})

    def resume(self, request: str, ended: Ended) -> Ended:
        return self._post(request, ended.session, {"x-stainless-retry-count": "1"})

    def reopen(self) -> None:
        if self._thread is not None:
            self._thread.run(self._stack.aclose())
            self._thread.end()
            self._thread = None

    def close(self) -> None:
        self.reopen()

    def _open(self) -> None:
        if self._thread is None:
            thread = _Loop()
            try:
                entered = self._stack.enter_async_context(listening(self.house.load(), lambda line: None))
                base, _ = thread.run(entered)
            except BaseException:
                thread.end()
                raise
            self._thread = thread
            host, _, port = base.removeprefix("http://").removesuffix("/v1").partition(":")
            self._address = (host, int(port))

    def _post(self, request: str, session: str, headers: dict[str, str]) -> Ended:
        try:
            self._open()
        except EchelonError as error:  # the server does not start, and `echelon serve` ends with this
            return Ended(REFUSED, error.exit_code, f"{error} {error.hint}", f"error:{error.kind}")
        with self._connection() as connection:
            body = json.dumps({"messages": [{"role": "user", "content": request}]})
            connection.request("POST", "/v1/chat/completions", body, {"X-Echelon-Session": session, **headers})
            response = connection.getresponse()
            told = json.loads(response.read())
        place = (response.headers.get("X-Echelon-Run", ""), session, int(response.headers.get("X-Echelon-Turn", 0)))
        if "error" in told:
            assert response.status < 500 or response.headers["x-should-retry"] == "false"
            status = "failed" if place[0] else REFUSED
            message = told["error"]["message"]
            assert "defect" not in message
            return Ended(status, response.status, message, str(told["error"]["code"]), "", *place)
        content = told["choices"][0]["message"]["content"]
        return Ended(told["echelon"]["status"], response.status, "", "", content, *place)

    @contextmanager
    def _connection(self) -> Iterator[HTTPConnection]:
        connection = HTTPConnection(*self._address, timeout=WAIT_S)
        try:
            yield connection
        finally:
            connection.close()


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()


def meanwhile(door: Door, *given: Any, **more: Any) -> Future[Ended]:
    """Ask in a thread; not through the command line, whose signals need the main one."""
    assert not isinstance(door, CommandLine)
    ended: Future[Ended] = Future()

    def ask() -> None:
        try:
            ended.set_result(door.ask(*given, **more))
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    return ended


DOORS: dict[str, Callable[[House], Door]] = {
    "command-line": CommandLine,
    "run": Library,
    "stream": LibraryStream,
    "http": Http,
}
