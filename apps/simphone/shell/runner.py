"""Runs a whole command line, as /system/bin/sh would."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from simphone.commands import CommandIO, Commands
from simphone.faults import Faults
from simphone.files import DeviceFiles
from simphone.shell.builtins import BUILTINS, PURE
from simphone.shell.builtins import run as run_builtin
from simphone.shell.confined import ConfinedShell
from simphone.shell.container import Container, NotAvailable
from simphone.shell.shim_server import ShimServer
from simphone.shell.terminal import Terminal
from simphone.shell.words import Step, parse

_SH = "/system/bin/sh"
_log = logging.getLogger(__name__)


class ShellRunner:
    """Simulated commands are answered directly where the line is plain; everything else takes the container."""

    def __init__(self, commands: Commands, files: DeviceFiles, faults: Faults) -> None:
        self._commands = commands
        self._files = files
        self._faults = faults
        self._starting = asyncio.Lock()
        self._container: Container | None = None
        self._confined: ConfinedShell | None = None
        self._shims: ShimServer | None = None
        self._lacking = ""  # why there is no container

    async def start(self) -> None:
        """Starts the container now rather than for the first line that needs it."""
        await self._ready()

    async def stop(self) -> None:
        """Whatever still runs is ended."""
        if self._confined:
            self._confined.close()
        if self._shims:
            await self._shims.stop()
        if self._container:
            await self._container.stop()

    async def run(self, line: str, io: CommandIO, terminal: Terminal | None = None) -> int:
        """The line's exit code; 127 for a name that there is not. An empty line is a shell that reads its lines from
        `io`. Raises ConnectionError when the computer is gone."""
        steps = parse(line)
        if steps and not terminal and all(each.name in self._commands.names | PURE for each in steps):
            return await self._steps(steps, io)
        if confined := await self._ready():
            return await confined.run(line, io, terminal, full=self._faults.stands("storage_full", line))
        if not line:
            return await self._lines(io)
        if steps is None:
            return await self._not_available(line.split()[0] if line.split() else line, io)
        return await self._steps(steps, io)

    async def _ready(self) -> ConfinedShell | None:
        async with self._starting:
            if self._lacking or (self._confined and self._confined.alive):
                return self._confined
            await self.stop()
            self._container = Container(self._files, self._commands.names)
            self._shims = ShimServer(self._container.socket_path, self._command)
            try:
                await self._container.start()
                await self._shims.start()
            except (NotAvailable, OSError) as error:
                self._lacking = str(error)
                _log.warning("command lines cannot be confined: %s", error)
                return None
            self._confined = ConfinedShell(self._container)
            return self._confined

    async def _command(self, argv: Sequence[str], io: CommandIO) -> int:
        if argv[0] not in self._commands.names:
            return 127
        try:
            return await self._commands.run(argv, io)
        except ConnectionError:
            raise
        except Exception as error:
            _log.exception("%s failed", argv[0])
            await io.err(f"{argv[0]}: the simulation failed: {error!r}\n".encode())
            return 255

    async def _steps(self, steps: Sequence[Step], io: CommandIO) -> int:
        code = 0
        for each in steps:
            if (each.joint == "&&" and code) or (each.joint == "||" and not code):
                continue
            argv = each.argv(code)
            if argv[0] in self._commands.names:
                code = await self._command(argv, io)
            elif argv[0] in BUILTINS:
                code = await run_builtin(self._files, argv, io)
            else:
                code = await self._not_available(argv[0], io)
        return code

    async def _not_available(self, name: str, io: CommandIO) -> int:
        await io.err(f"{_SH}: {name}: not available in this simulation: {self._lacking}\n".encode())
        return 127

    async def _lines(self, io: CommandIO) -> int:
        code, rest = 0, b""
        while True:
            piece = await io.read(1 << 16)
            *lines, rest = (rest + (piece or b"\n")).split(b"\n")
            for each in filter(None, map(bytes.strip, lines)):
                if each == b"exit":
                    return code
                code = await self.run(each.decode("utf-8", "surrogateescape"), _WithoutInput(io))
            if not piece:
                return code


class _WithoutInput:
    """For a command of a shell that reads its own lines from the same input."""

    def __init__(self, io: CommandIO) -> None:
        self.out = io.out
        self.err = io.err

    async def read(self, n: int = -1) -> bytes:
        return b""
