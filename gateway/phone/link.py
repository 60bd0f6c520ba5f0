"""The link to one device: what its shell runs and what is copied to it, each in one call that ends at its deadline.

A call that fails says whether what it asked for may have happened (`performed`): not before it was sent to the device,
and afterwards nobody knows.
"""

from __future__ import annotations

import re
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.errors import DeviceError
from gateway.phone import trouble
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from gateway.phone.harmless import harmless

if TYPE_CHECKING:
    from gateway.phone.connection import Connection

CHUNK = 1 << 18
SYNC_CHUNK = 1 << 16  # bytes: the most that SYNC.TXT allows
LONGEST = 128 << 20  # bytes of output; a screen has 10 MB, a list of 50,000 nodes 25
MARK = "echelon-exit:"
_MARKED = re.compile(MARK.encode() + rb"(\d+)\r*\n$")
OUT, ERR, EXIT = 1, 2, 3  # kinds of frames, shell protocol v2


@dataclass(frozen=True)
class Output:
    """What a command printed. Devices without the shell's second protocol print all of it on `out`."""

    out: bytes
    err: bytes
    code: int

    @property
    def text(self) -> str:
        """Standard output, with line feeds only."""
        return self.out.decode(errors="replace").replace("\r\n", "\n")


class Link:
    """`shell_v2` is asked of the device unless it is told."""

    def __init__(self, server: AdbServer, serial: str, *, shell_v2: bool | None = None) -> None:
        self.server = server
        self.serial = serial
        self._told = shell_v2
        self._shell_v2 = shell_v2

    def forget(self) -> None:
        """The device may be another one now, or may have been updated."""
        self._shell_v2 = self._told

    def shell(self, line: str, deadline: Deadline) -> Output:
        """Run a line in the device's shell to its end. Output that was cut is DeviceLost, never half an answer."""
        if self._v2(deadline):
            with self._opened(f"shell,v2,raw:{line}", deadline) as connection:
                return _framed(connection)
        with self._opened(f"shell:{line}; echo {MARK}$?", deadline) as connection:
            return _marked(_to_the_end(connection))

    def binary(self, line: str, deadline: Deadline) -> bytes:
        """Standard output as it is. Without the shell's second protocol it may be cut, and other streams are in it."""
        if self._v2(deadline):
            return self.shell(line, deadline).out
        with self._opened(f"exec:{line}", deadline) as connection:
            return _to_the_end(connection)

    def push(self, data: bytes, path: str, deadline: Deadline, mode: int = 0o644) -> None:
        """Write a file on the device."""
        with self._opened("sync:", deadline) as connection:
            name = f"{path},{stat.S_IFREG | mode}".encode()
            connection.send(b"SEND" + struct.pack("<I", len(name)) + name)
            for at in range(0, len(data), SYNC_CHUNK):
                part = data[at : at + SYNC_CHUNK]
                connection.send(b"DATA" + struct.pack("<I", len(part)) + part)
            connection.send(b"DONE" + struct.pack("<I", int(time.time())))
            kind, length = struct.unpack("<4sI", connection.read(8))
            if kind != b"OKAY":
                said = harmless(connection.read(min(length, 1 << 16)).decode(errors="replace"))
                raise DeviceError(f"{path} cannot be written: {said}", hint="free some storage on the phone")

    def state(self, deadline: Deadline) -> str:
        return self.server.state(self.serial, deadline)

    def _v2(self, deadline: Deadline) -> bool:
        if self._shell_v2 is None:
            self._shell_v2 = "shell_v2" in self.server.features(self.serial, deadline)
        return self._shell_v2

    @contextmanager
    def _opened(self, service: str, deadline: Deadline) -> Iterator[Connection]:
        """The device's stream for a service, which is closed at the end."""
        from adbutils import AdbError  # type: ignore[import-untyped]

        connection = self.server.open(deadline)
        sent: bool | None = False
        try:
            connection.send_command(f"host:transport:{self.serial}")
            connection.check_okay()
            sent = None
            connection.send_command(service)
            connection.check_okay()
            yield connection
        except AdbError as error:
            if sent is None:  # the stream was not opened, or was closed at once: words say no more than "closed"
                raise trouble.lost(self.serial, error, performed=sent) from error
            raise trouble.from_server(str(error), self.serial, performed=sent) from error
        except (OSError, EOFError, ValueError) as error:
            raise trouble.lost(self.serial, error, performed=sent) from error
        finally:
            connection.close()


def _framed(connection: Connection) -> Output:
    """Shell protocol v2: kind, length, data; the exit code comes last. EOFError where it does not come."""
    streams = {OUT: bytearray(), ERR: bytearray(), EXIT: bytearray()}
    waiting = bytearray()
    for chunk in _chunks(connection):
        waiting += chunk
        at = 0
        while len(waiting) - at >= 5:
            kind, length = struct.unpack_from("<BI", waiting, at)
            if len(waiting) - at < 5 + length:
                break
            if kind in streams:
                streams[kind] += memoryview(waiting)[at + 5 : at + 5 + length]
            at += 5 + length
            if kind == EXIT and length:
                return Output(bytes(streams[OUT]), bytes(streams[ERR]), streams[EXIT][0])
        if at:
            waiting = waiting[at:]
    raise EOFError("its output was cut")


def _marked(said: bytes) -> Output:
    """Output of a shell that tells no exit code: it ends with a line that does."""
    found = _MARKED.search(said)
    if found is None:
        raise EOFError("its output was cut")
    return Output(said[: found.start()], b"", int(found[1]))


def _to_the_end(connection: Connection) -> bytes:
    return b"".join(_chunks(connection))


def _chunks(connection: Connection) -> Iterator[bytes]:
    size = 0
    while chunk := connection.conn.recv(CHUNK):
        size += len(chunk)
        if size > LONGEST:
            raise EOFError(f"it sent more than {LONGEST >> 20} MB")
        yield chunk
