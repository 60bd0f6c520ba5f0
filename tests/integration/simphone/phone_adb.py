"""adb as a person types it, to a phone that runs in a thread."""

from __future__ import annotations

import subprocess

from adb_server import AdbServer

PATIENCE_S = 30.0


class Adb:
    """`adb -s SERIAL …` through a server of one's own; `connect` says which device."""

    def __init__(self, server: AdbServer) -> None:
        self.server = server
        self.serial = ""

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        chosen = ("-s", self.serial) if self.serial else ()
        return subprocess.run(
            (self.server.program, "-P", str(self.server.port), *chosen, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            env=self.server.environment,
        )

    def shell(self, line: str) -> str:
        """What the line prints on both outputs."""
        ended = self("shell", line)
        return (ended.stdout + ended.stderr).decode()

    def connect(self, serial: str) -> None:
        if self.serial != serial:
            self.serial = ""
            said = self("connect", serial).stdout
            assert b"connected to" in said, said
            self.serial = serial
            assert self("wait-for-device").returncode == 0
