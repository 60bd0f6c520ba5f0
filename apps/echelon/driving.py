"""Working on a turn, or on a task, from the terminal: progress, questions in place, and an end that can be resumed
from."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from types import FrameType, TracebackType
from typing import Protocol, TypeVar

import click

from echelon import calling
from echelon.cli import INTERRUPTED, Invocation
from echelon.ending import Ended, answer_command, question_lines, report
from echelon.progress import Progress
from echelon.terminal import interactive, own_stdout, read_line, say
from gateway import Gateway, Settings, Turn
from gateway.engine.state import Status
from gateway.errors import StoreError, UsageError
from gateway.stream import OnEvent

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = "\x1b[?25h"
FREE_S = 15.0  # for what an interrupted run still holds

Act = Callable[[Gateway, OnEvent], Awaitable[Turn]]
E = TypeVar("E", bound=Ended)


class Shown(Protocol):
    """What shows the progress while it is entered; `run_id` once something was begun."""

    run_id: str | None

    def __enter__(self) -> object: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Work(Protocol[E]):
    """What is carried out. Where it is `holding` something of the outside, that is given back before the process ends,
    also when it is interrupted."""

    @property
    def progress(self) -> Shown: ...
    @property
    def holding(self) -> bool: ...

    async def begin(self, gateway: Gateway) -> E: ...
    async def resume(self, gateway: Gateway, run_id: str) -> E: ...
    def interrupted(self, gateway: Gateway, asked: E | None) -> str:
        """What is said then; `asked` is what was just being asked."""

    def report(self, gateway: Gateway, ended: E) -> int:
        """Say how it ended; the exit code."""


class TurnWork:
    """A turn. Where `direct`, it is one tool call, and shown as that."""

    holding = False

    def __init__(self, act: Act, *, as_json: bool, direct: bool = False) -> None:
        self.progress = Progress(verbose=verbose(), direct=direct)
        self._act = act
        self._as_json = as_json

    async def begin(self, gateway: Gateway) -> Turn:
        return await self._act(gateway, self.progress)

    async def resume(self, gateway: Gateway, run_id: str) -> Turn:
        return await gateway.resume(run_id, on_event=self.progress)

    def interrupted(self, gateway: Gateway, asked: Turn | None) -> str:
        return interrupted(self.progress.run_id, asked)

    def report(self, gateway: Gateway, ended: Turn) -> int:
        if calling.is_call(gateway, ended):
            return calling.report(*calling.told(gateway, ended), as_json=self._as_json)
        return report(ended, as_json=self._as_json)


def verbose() -> bool:
    return click.get_current_context().ensure_object(Invocation).verbose


def carry_out(
    settings: Settings, act: Act, *, as_json: bool, no_input: bool, assume_yes: bool = False, direct: bool = False
) -> int:
    """Let `act` work on a turn, ask what it asks, and report how it ended; the exit code."""
    work = TurnWork(act, as_json=as_json, direct=direct)
    return work_on(settings, work, no_input=no_input, assume_yes=assume_yes)


def work_on(settings: Settings, work: Work[E], *, no_input: bool, assume_yes: bool = False) -> int:
    """Carry it out, ask what it asks, and report how it ended; the exit code."""
    return asyncio.run(_work_on(settings, work, interactive() and not no_input, assume_yes))


async def _work_on(settings: Settings, work: Work[E], ask: bool, assume_yes: bool) -> int:
    async with Gateway(settings, assume_yes=assume_yes) as gateway:
        asked: E | None = None
        try:
            with own_stdout(), Interrupts(last=work.holding) as interrupts:
                with work.progress:
                    ended = await work.begin(gateway)
                while ended.waiting is not None and ask:
                    asked = ended
                    if not await _answered(gateway, ended):
                        break
                    asked = None
                    with work.progress:
                        ended = await work.resume(gateway, ended.run_id)
        except asyncio.CancelledError:
            if not interrupts.seen:
                raise
            return _leave(gateway, work, asked)
        except StoreError as error:
            if work.progress.run_id is not None:
                error.hint = "; then ".join(filter(None, (error.hint, f"echelon runs resume {work.progress.run_id}")))
            raise
        return work.report(gateway, ended)


async def _answered(gateway: Gateway, ended: Ended) -> bool:
    """Ask its question; False where nobody answers. A deadline that passes counts as an answer."""
    assert ended.waiting is not None
    for line in question_lines(ended.waiting):
        say(line)
    while True:
        click.echo("> ", err=True, nl=False)
        try:
            text = await read_line(ended.waiting.deadline)
        except TimeoutError:
            say("\nno answer in time")
            return True
        if text is None:
            say()
            return False
        if not text:
            continue
        try:
            await gateway.runs.answer(ended.run_id, text)
            return True
        except UsageError as error:
            if not ended.waiting.options or gateway.runs.store.run(ended.run_id).status != Status.WAITING:
                raise  # somebody else has answered meanwhile
            say(str(error))


class Interrupts:
    """Ctrl-C and SIGTERM: the first cancels the task that entered, so that the run is left resumable; the second ends
    the process at once, also afterwards where this is the `last` thing that it does."""

    def __init__(self, *, last: bool = False) -> None:
        self.seen = False
        self._last = last

    def __enter__(self) -> Interrupts:
        self._task = asyncio.current_task()
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._signalled)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            if self.seen and self._last:
                signal.signal(number, _end_at_once)

    def _signalled(self) -> None:
        if self.seen:
            end()
        self.seen = True
        assert self._task is not None
        self._task.cancel()


def interrupted(run_id: str | None, asked: Ended | None) -> str:
    """How to go on."""
    if asked is not None:
        return f"\ninterrupted; answer with: {answer_command(asked)}"
    if run_id is not None:
        return f"interrupted; resume with: echelon runs resume {run_id}"
    return "interrupted before anything was begun"


def _leave(gateway: Gateway, work: Work[E], asked: E | None) -> int:
    """Say how to go on, and end: what threads still compute is not waited for, unless it is `holding` something."""
    said = work.interrupted(gateway, asked)
    if not work.holding:
        gateway.close()
        say(said)
        end()
    say(said)
    late = threading.Timer(FREE_S, end)
    late.daemon = True
    late.start()
    return INTERRUPTED


def _end_at_once(number: int, frame: FrameType | None) -> None:
    end()


def end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
