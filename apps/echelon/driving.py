"""Working on a turn from the terminal: progress, questions in place, and an end that can be resumed from."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from types import TracebackType

import click

from echelon import calling
from echelon.cli import INTERRUPTED, Invocation
from echelon.ending import answer_command, question_lines, report
from echelon.progress import Progress
from echelon.terminal import interactive, own_stdout, read_line, say
from gateway import Gateway, Settings, Turn
from gateway.errors import StoreError, UsageError
from gateway.stream import OnEvent

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = "\x1b[?25h"

Act = Callable[[Gateway, OnEvent], Awaitable[Turn]]


def carry_out(
    settings: Settings, act: Act, *, as_json: bool, no_input: bool, assume_yes: bool = False, direct: bool = False
) -> int:
    """Let `act` work on a turn, ask what it asks, and report how it ended; the exit code. Where `direct`, it is one
    tool call, and shown as that."""
    verbose = click.get_current_context().ensure_object(Invocation).verbose
    ask = interactive() and not no_input
    progress = Progress(verbose=verbose, direct=direct)
    return asyncio.run(_carry_out(settings, act, progress, as_json, ask, assume_yes))


async def _carry_out(
    settings: Settings, act: Act, progress: Progress, as_json: bool, ask: bool, assume_yes: bool
) -> int:
    async with Gateway(settings, assume_yes=assume_yes) as gateway:
        asked: Turn | None = None
        try:
            with own_stdout(), Interrupts() as interrupts:
                with progress:
                    turn = await act(gateway, progress)
                while turn.waiting is not None and ask:
                    asked = turn
                    if not await _answered(gateway, turn):
                        break
                    asked = None
                    with progress:
                        turn = await gateway.resume(turn.run_id, on_event=progress)
        except asyncio.CancelledError:
            if not interrupts.seen:
                raise
            gateway.close()
            _leave(progress.run_id, asked)
        except StoreError as error:
            if progress.run_id is not None:
                error.hint = "; then ".join(filter(None, (error.hint, f"echelon runs resume {progress.run_id}")))
            raise
        if calling.is_call(gateway, turn):
            return calling.report(*calling.told(gateway, turn), as_json=as_json)
    return report(turn, as_json=as_json)


async def _answered(gateway: Gateway, turn: Turn) -> bool:
    """Ask the turn's question; False where nobody answers. A deadline that passes counts as an answer."""
    assert turn.waiting is not None
    for line in question_lines(turn.waiting):
        say(line)
    while True:
        click.echo("> ", err=True, nl=False)
        try:
            text = await read_line(turn.waiting.deadline)
        except TimeoutError:
            say("\nno answer in time")
            return True
        if text is None:
            say()
            return False
        if not text:
            continue
        try:
            await gateway.runs.answer(turn.run_id, text)
            return True
        except UsageError as error:
            if not turn.waiting.options:
                raise
            say(str(error))


class Interrupts:
    """Ctrl-C and SIGTERM: the first cancels the task that entered, so that the run is left resumable; the second ends
    the process at once."""

    def __init__(self) -> None:
        self.seen = False

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

    def _signalled(self) -> None:
        if self.seen:
            end()
        self.seen = True
        assert self._task is not None
        self._task.cancel()


def _leave(run_id: str | None, asked: Turn | None) -> None:
    """Say how to go on, and end: what threads still compute is not waited for."""
    if asked is not None:
        say(f"\ninterrupted; answer with: {answer_command(asked)}")
    elif run_id is not None:
        say(f"interrupted; resume with: echelon runs resume {run_id}")
    else:
        say("interrupted before anything was begun")
    end()


def end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
