"""An adb of one version with a server, keys and settings of its own, which knows no other phone."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

PATIENCE_S = 60.0
PROGRAMS = {
    "adb of the system": shutil.which("adb") or "",
    "adb of adbutils": str(resources.files("adbutils") / "binaries" / "adb"),
}


@dataclass
class AdbServer:
    program: str
    port: int
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "ADB_LOCAL_TRANSPORT_MAX_PORT": "0", "ADB_MDNS": "0"}
        own["ADB_USB"] = "0"  # a newer server waits three seconds for USB where there is none
        return {name: value for name, value in os.environ.items() if not name.startswith("A")} | own

    @property
    def is_old(self) -> bool:
        """Whether it is of the versions that Debian has."""
        return b"Version 29." in subprocess.run([self.program, "version"], capture_output=True, check=True).stdout

    @property
    def public_key(self) -> str:
        return (self.folder / ".android" / "adbkey.pub").read_text()

    async def start(self, *arguments: str | Path, **options: int) -> asyncio.subprocess.Process:
        command = (self.program, "-P", str(self.port), *map(str, arguments))
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
        return await asyncio.create_subprocess_exec(*command, env=self.environment, **pipes | options)

    async def run(self, *arguments: str | Path, stdin: bytes = b"") -> tuple[int | None, bytes, bytes]:
        process = await self.start(*arguments)
        out, errors = await process.communicate(stdin)
        return process.returncode, out, errors

    async def connect(self, serial: str) -> None:
        """Until the device can be used. The server tries by itself, too, after a link has dropped: it may forget the
        device once more after it has said that it is connected, and then waits for it for ever."""
        said = (f"connected to {serial}\n".encode(), f"already connected to {serial}\n".encode())
        async with asyncio.timeout(PATIENCE_S):
            while True:
                code, out, errors = await self.run("connect", serial)
                assert code == 0 and out in said, (out, errors)
                if await self.state(serial) == "device":
                    return
                await asyncio.sleep(0.05)

    async def state(self, serial: str) -> str:
        """As `adb devices` says it, or "" if it does not know the device."""
        _, out, _ = await self.run("devices")
        states = dict(line.split("\t") for line in out.decode().splitlines()[1:] if line)
        return states.get(serial, "")


@contextmanager
def adb_server(program: str, folder: Path) -> Iterator[AdbServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = AdbServer(program, port, folder)
    key = folder / ".android" / "adbkey"  # a server makes one, but some time after it has begun to listen
    key.parent.mkdir(parents=True, exist_ok=True)
    if not key.exists():
        subprocess.run([program, "keygen", key], env=server.environment, check=True, capture_output=True)
    process = subprocess.Popen(
        [program, "-P", str(port), "nodaemon", "server"],
        env=server.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "server.log").open("wb"),
    )
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None, (folder / "server.log").read_text()
            time.sleep(0.01)
        yield server
    finally:
        process.terminate()
        process.wait()
