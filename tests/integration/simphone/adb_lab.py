"""A device for the tests of adb: the daemon and the shell, with commands that only record and answer."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from simphone.adbd.auth import NONE, Authentication
from simphone.adbd.daemon import Daemon
from simphone.commands import CommandIO
from simphone.faults import Faults
from simphone.files import DeviceFiles
from simphone.shell.runner import ShellRunner

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2000  # half a megabyte, with every byte in it


class Recorder:
    """`input` records its arguments; `screencap` answers bytes; `cmd` reads as much as -S says; `settings` answers on
    both outputs and fails; `logcat` never ends; `am` ends when its input does, and says how much came; `wm` breaks."""

    names = frozenset(("am", "cmd", "input", "logcat", "screencap", "settings", "wm"))

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.installed: list[str] = []
        self.waiting = asyncio.Event()
        self.ended = asyncio.Event()

    async def run(self, argv: Sequence[str], io: CommandIO) -> int:
        self.calls.append(list(argv))
        return int(await getattr(self, f"_{argv[0]}")(argv, io) or 0)

    async def _input(self, argv: Sequence[str], io: CommandIO) -> None:
        pass

    async def _wm(self, argv: Sequence[str], io: CommandIO) -> int:
        raise RuntimeError("broken")

    async def _screencap(self, argv: Sequence[str], io: CommandIO) -> None:
        await io.out(PICTURE)

    async def _settings(self, argv: Sequence[str], io: CommandIO) -> int:
        await io.out(b"to standard output\n")
        await io.err(b"to standard error\n")
        return 7

    async def _logcat(self, argv: Sequence[str], io: CommandIO) -> None:
        await io.out(b"--------- beginning of main\n")
        self.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()

    async def _am(self, argv: Sequence[str], io: CommandIO) -> None:
        count = len(await io.read())
        self.ended.set()
        await io.out(b"%d\n" % count)

    async def _cmd(self, argv: Sequence[str], io: CommandIO) -> None:
        left = int(argv[argv.index("-S") + 1])
        digest = hashlib.sha256()
        while left:
            data = await io.read(min(left, 1 << 16))
            assert data
            digest.update(data)
            left -= len(data)
        self.installed.append(digest.hexdigest())
        await io.out(b"Success\n")


class Lab:
    """`port` is where the device listens."""

    def __init__(self, folder: Path, authentication: Authentication) -> None:
        self.faults = Faults()
        self.files = DeviceFiles(folder, self.faults)
        self.commands = Recorder()
        self.runner = ShellRunner(self.commands, self.files, self.faults)
        self.daemon = Daemon(self.runner, self.files, self.faults, _banner, authentication=authentication)

    @property
    def port(self) -> int:
        return self.daemon.port

    @property
    def serial(self) -> str:
        return f"127.0.0.1:{self.port}"


def _banner() -> dict[str, str]:
    return {"ro.product.name": "lab", "ro.product.model": "Lab; one:two", "ro.product.device": "lab_device"}


@asynccontextmanager
async def device(folder: Path, authentication: Authentication = NONE) -> AsyncIterator[Lab]:
    lab = Lab(folder, authentication)
    await lab.daemon.start()
    try:
        yield lab
    finally:
        await lab.daemon.stop()
        await lab.runner.stop()
