"""One command under way, and the ways in which Android's commands fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from simphone.commands import CommandIO
from simphone.faults import Fault
from simphone.system.system import System

UNKNOWN = 255  # what -1 becomes as an exit code
_EXEC = (
    "com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)",
    "android.os.ShellCommand.exec(ShellCommand.java:38)",
)
_BINDER = (
    "android.os.Binder.shellCommand(Binder.java:1075)",
    "android.os.Binder.onTransact(Binder.java:895)",
)


class CommandFailed(Exception):
    """Ends a command: the text goes to standard error (or output), the code is its exit code."""

    def __init__(self, text: str, code: int = 1, *, to_output: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.to_output = to_output


class JavaThrown(CommandFailed):
    """What a command that is carried out by the system server prints when something is thrown there."""

    def __init__(self, command: str, thrown: str, *frames: str) -> None:
        at = "".join(f"\n\tat {each}" for each in (*frames, *_EXEC, *_BINDER))
        super().__init__(f"\nException occurred while executing '{command}':\n{thrown}{at}", UNKNOWN)


@dataclass(frozen=True)
class Call:
    """`argv` as it was given, the command's name first."""

    system: System
    argv: Sequence[str]
    io: CommandIO

    @property
    def words(self) -> list[str]:
        """Without the command's name."""
        return list(self.argv[1:])

    @property
    def line(self) -> str:
        """What faults look at."""
        return " ".join(self.argv)

    def as_command(self, *argv: str) -> Call:
        """The same streams for another command."""
        return Call(self.system, argv, self.io)

    def fault(self, name: str) -> Fault | None:
        return self.system.faults.take(name, self.line)

    async def say(self, text: str) -> None:
        """A line (or several) on standard output."""
        await self.io.out(f"{text}\n".encode())

    async def complain(self, text: str) -> None:
        """A line (or several) on standard error."""
        await self.io.err(f"{text}\n".encode())


Command = Callable[[Call], Awaitable[int]]
"""Gives the exit code; raises CommandFailed."""
