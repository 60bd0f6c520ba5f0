"""Adb servers of the tests' own, and waiting for what a phone does."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.errors import AdbMissing
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline

START_S = 30.0
LAB = "org.example.lab"
LAB_APP = Path(__file__).parent / "lab_app"


def adb_programs() -> dict[str, str]:
    """Debian's, and the one that adbutils brings along: their versions are years apart."""
    import adbutils

    found = {"wheel": str(Path(adbutils.__file__).parent / "binaries/adb")}
    if system := shutil.which("adb"):
        found["system"] = system
    return {name: path for name, path in found.items() if Path(path).exists()}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


class OwnAdb:
    """An adb server on a port of its own, with a home of its own, that tests may kill."""

    def __init__(self, program: str, home: Path) -> None:
        self._program = program
        self._home = home
        self.port = free_port()
        self.server = AdbServer(f"127.0.0.1:{self.port}", start=False)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self._program, "-P", str(self.port), "nodaemon", "server"],
            env=os.environ | {"HOME": str(self._home), "ADB_MDNS": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = Deadline(START_S)
        while True:
            try:
                self.server.version(until)
                return
            except AdbMissing:
                until.pause(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def own_adb(home: Path, program: str | None = None) -> Iterator[OwnAdb]:
    started = OwnAdb(program or next(iter(adb_programs().values())), home)
    try:
        yield started
    finally:
        started.kill()


def until(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it becomes true in time."""
    end = time.monotonic() + seconds
    while not (now := true()) and time.monotonic() < end:
        time.sleep(0.02)
    return now
