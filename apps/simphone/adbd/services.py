"""What a computer may open: the service behind a name such as "shell:ls"."""

from __future__ import annotations

from functools import partial

from simphone.adbd.connection import Service
from simphone.adbd.shell_service import Exec, FramedShell, PlainShell
from simphone.adbd.stream import Stream
from simphone.adbd.sync_service import SyncService
from simphone.files import DeviceFiles
from simphone.shell.runner import ShellRunner
from simphone.shell.terminal import Terminal

REFUSALS = {
    "reboot": "reboot: not available in this simulation\n",
    "remount": 'Not running as root. Try "adb root" first.\n',
    "root": "adbd cannot run as root in production builds\n",
    "unroot": "adbd not running as root\n",
}


class Services:
    """Names that are not here are refused, as by a device that does not know them: among them are tcpip, usb, reverse,
    abb, framebuffer, jdwp and what `adb forward` needs."""

    def __init__(self, runner: ShellRunner, files: DeviceFiles) -> None:
        self._runner = runner
        self._files = files

    def open(self, name: str) -> Service | None:
        kind, colon, rest = name.partition(":")
        kind, *options = kind.split(",")
        if not colon:
            return None
        if kind == "shell":
            return self._shell(options, rest)
        if name == "sync:":
            return SyncService(self._files).serve
        if kind == "exec" and not options:
            return Exec(self._runner, rest).serve
        if kind in REFUSALS and not options:
            return partial(_say, REFUSALS[kind])
        return None

    def _shell(self, options: list[str], line: str) -> Service:
        """Without options it is version 1, on a terminal if no line is given. "v2" has its streams apart; "pty" and
        "raw" say whether it is on a terminal."""
        interactive = "pty" in options or (not line and "raw" not in options)
        name = next((each.removeprefix("TERM=") for each in options if each.startswith("TERM=")), "dumb")
        terminal = Terminal(name) if interactive else None
        service = FramedShell if "v2" in options else PlainShell
        return service(self._runner, line, terminal).serve


async def _say(text: str, stream: Stream) -> None:
    await stream.write(text.encode())
