"""Android's commands, each simulated in a module of its own; here, what they and the shell ask of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class CommandIO(Protocol):
    """The standard streams of one command. Writing waits while the reader at the other end is slow, and raises
    ConnectionError when there is none any more."""

    async def read(self, n: int = -1) -> bytes:
        """Up to `n` bytes of standard input, waiting for at least one; all of it for -1; b"" at its end."""
        ...

    async def out(self, data: bytes) -> None: ...

    async def err(self, data: bytes) -> None: ...


class Commands(Protocol):
    """What is simulated. A command is cancelled when nobody waits for it any more."""

    names: frozenset[str]

    async def run(self, argv: Sequence[str], io: CommandIO) -> int:
        """The exit code; argv[0] is one of `names`."""
        ...
