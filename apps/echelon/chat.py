"""`echelon chat`: requests one after the other, in one session."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.choosing import with_models
from echelon.cli import INTERRUPTED, Invocation
from echelon.driving import Interrupts
from echelon.ending import question_lines, report
from echelon.progress import Progress
from echelon.terminal import interactive, own_stdout, say

if TYPE_CHECKING:
    from gateway import Gateway, Settings, Turn

HELP = """/context   where the last turn's context.md is
/resume    go on with the last turn, where it was interrupted
/new NAME  go on in another session
/help      this list
/quit      leave (or Ctrl-D)"""


@click.command(
    epilog="""\b
Examples:
  echelon chat
  echelon chat --session work --workspace ~/projects/pager
  printf 'Remember that I sit in room 12\\nWhere do I sit?\\n' | echelon chat --session trial
"""
)
@click.option("--session", metavar="S", default="default", show_default=True, help="The session to go on with.")
@options.model
@options.corpus_option
@click.option("--yes", "assume_yes", is_flag=True, help="Approve what would be asked, and pull a missing model.")
def chat(settings: Settings, session: str, corpus: Path | None, assume_yes: bool) -> int:
    """Carry out requests one after the other, each a turn of one session.

    A question of the gateway is answered by the next line. Ctrl-C stops the turn that is worked on, which /resume goes
    on with; at the prompt it leaves. Lines may also come from a file or a pipe: then the exit code is the last turn's.
    """
    from gateway import Gateway
    from gateway.sessions import check_session

    check_session(session)
    settings = with_models(options.with_corpus(settings, corpus), assume_yes=assume_yes, no_input=False)
    verbose = click.get_current_context().ensure_object(Invocation).verbose
    with asyncio.Runner() as runner:
        gateway = Gateway(settings, assume_yes=assume_yes)
        try:
            return Conversation(gateway, session, runner, verbose=verbose).hold()
        finally:
            runner.run(gateway.__aexit__(None, None, None))


class Conversation:
    """Reads lines until there are no more; the last turn is the one that commands are about."""

    def __init__(self, gateway: Gateway, session: str, runner: asyncio.Runner, *, verbose: bool) -> None:
        self._gateway = gateway
        self._session = session
        self._runner = runner
        self._verbose = verbose
        self._turn: Turn | None = None
        self._code = 0
        self._there = interactive()

    def hold(self) -> int:
        """The exit code: the last turn's where the lines come from a program, else 0."""
        if self._there:
            import readline  # noqa: F401  # line editing, and the lines before with the arrow keys

            say(f"session {self._session} · /help for commands")
        self._pick_up()
        while (line := self._read()) is not None:
            if line.startswith("/"):
                if not self._command(line):
                    break
            elif line:
                self._say(line)
        return 0 if self._there else self._code

    def _pick_up(self) -> None:
        """The session's last turn, with its question where it has one."""
        rows = self._gateway.turns(self._session, limit=1)
        self._turn = self._gateway.turn(session=self._session) if rows else None
        if self._turn is not None and self._turn.waiting is not None:
            for line in question_lines(self._turn.waiting):
                say(line)

    def _read(self) -> str | None:
        waiting = self._turn is not None and self._turn.waiting is not None
        try:
            return input(("? " if waiting else "> ") if self._there else "").strip()
        except EOFError:
            if self._there:
                say()
            return None

    def _command(self, line: str) -> bool:
        """Whether to go on."""
        word, _, rest = line.partition(" ")
        match word:
            case "/quit" | "/exit":
                return False
            case "/context":
                say(str(self._turn.context) if self._turn else "there is no turn yet")
            case "/resume":
                if self._turn is None:
                    say("there is no turn yet")
                else:
                    self._work(self._turn.run_id)
            case "/new":
                self._open(rest.strip())
            case "/help":
                say(HELP)
            case _:
                say(f"there is no command {word}\n{HELP}")
        return True

    def _open(self, name: str) -> None:
        from gateway.errors import UsageError
        from gateway.sessions import check_session

        try:
            check_session(name)
        except UsageError as error:
            say(f"error: {error}\n  {error.hint}")
            return
        self._session = name
        say(f"session {name}")
        self._pick_up()

    def _say(self, line: str) -> None:
        from gateway.errors import UsageError

        turn = self._turn
        if turn is None or turn.waiting is None:
            self._work(None, line)
            return
        try:
            self._runner.run(self._gateway.runs.answer(turn.run_id, line))
        except UsageError as error:
            say(f"error: {error}")
            return
        self._work(turn.run_id)

    def _work(self, run_id: str | None, request: str = "") -> None:
        """A turn, or the rest of one; what goes wrong is said, and the conversation goes on."""
        from gateway.errors import EchelonError

        progress = Progress(verbose=self._verbose)
        try:
            turn = self._runner.run(self._carry_out(progress, run_id, request))
        except EchelonError as error:
            self._code = error.exit_code
            say(f"error: {error}" + (f"\n  {error.hint}" if error.hint else ""))
            return
        if turn is None:
            self._code = INTERRUPTED
            self._pick_up()
            say("interrupted; /resume goes on with it" if progress.run_id else "interrupted before anything was begun")
            if not self._there:
                sys.exit(INTERRUPTED)
            return
        self._turn = turn
        self._code = report(turn, as_json=False, conversing=True)
        say()

    async def _carry_out(self, progress: Progress, run_id: str | None, request: str) -> Turn | None:
        """None where it was interrupted."""
        with own_stdout(), Interrupts() as interrupts:
            try:
                with progress:
                    if run_id is not None:
                        return await self._gateway.resume(run_id, on_event=progress)
                    return await self._gateway.run(request, session=self._session, on_event=progress)
            except asyncio.CancelledError:
                if not interrupts.seen:
                    raise
                return None
