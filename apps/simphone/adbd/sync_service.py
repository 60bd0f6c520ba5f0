"""`sync:`: files, after AOSP's SYNC.TXT; version 1, and version 2 of stat and list."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import struct
from collections.abc import Callable, Coroutine
from typing import Any

from simphone.adbd.stream import Stream
from simphone.files import DeviceFiles

MAX_PATH = 1024
MAX_CHUNK = 64 * 1024
_REQUEST = struct.Struct("<4sI")  # what, length of what follows (for DONE: a time)
_STAT = struct.Struct("<4sIII")  # mode, size, time
_ENTRY = struct.Struct("<4sIIII")  # mode, size, time, length of the name
_STAT_2 = "<4sIQQIIIIQqqq"  # error, device, inode, mode, links, user, group, size, times: access, change, of inode
_SHELL_USER = 2000

Handler = Callable[[Stream, str], Coroutine[Any, Any, None]]


class SyncService:
    """Any number of requests, one after the other, until QUIT."""

    def __init__(self, files: DeviceFiles) -> None:
        self._files = files

    async def serve(self, stream: Stream) -> None:
        handlers: dict[bytes, tuple[str, Handler]] = {
            b"STAT": ("stat", self._stat),
            b"LST2": ("stat", self._lstat_2),
            b"STA2": ("stat", self._stat_2),
            b"LIST": ("list", self._list),
            b"LIS2": ("list", self._list_2),
            b"RECV": ("recv", self._recv),
            b"SEND": ("send", self._send),
        }
        while True:
            what, length = _REQUEST.unpack(await stream.exactly(_REQUEST.size))
            if what not in handlers:
                if what != b"QUIT":
                    await stream.write(_failure(f"unknown command {what.decode('latin-1')}"))
                return
            if length > MAX_PATH:
                await stream.write(_failure("path too long"))
                return
            path = (await stream.exactly(length)).decode("utf-8", "surrogateescape")
            name, handler = handlers[what]
            stream.disturb(f"sync:{name} {path.rpartition(',')[0] or path if name == 'send' else path}")
            await handler(stream, path)
            await stream.answered()

    async def _stat(self, stream: Stream, path: str) -> None:
        try:
            found = self._files.stat(path, follow=False)
        except OSError:
            await stream.write(_STAT.pack(b"STAT", 0, 0, 0))
        else:
            await stream.write(_STAT.pack(b"STAT", *_short(found)))

    async def _stat_2(self, stream: Stream, path: str) -> None:
        await stream.write(self._long(b"STA2", path, follow=True))

    async def _lstat_2(self, stream: Stream, path: str) -> None:
        await stream.write(self._long(b"LST2", path, follow=False))

    async def _list(self, stream: Stream, path: str) -> None:
        answer = bytearray()
        for name in self._names(path):
            try:
                found = self._files.stat(f"{path}/{name}", follow=False)
            except OSError:
                continue
            encoded = os.fsencode(name)
            answer += _ENTRY.pack(b"DENT", *_short(found), len(encoded)) + encoded
        await stream.write(bytes(answer) + _ENTRY.pack(b"DONE", 0, 0, 0, 0))

    async def _list_2(self, stream: Stream, path: str) -> None:
        answer = bytearray()
        for name in self._names(path):
            encoded = os.fsencode(name)
            answer += self._long(b"DNT2", f"{path}/{name}", follow=False) + struct.pack("<I", len(encoded)) + encoded
        await stream.write(bytes(answer) + b"DONE".ljust(struct.calcsize(_STAT_2) + 4, b"\0"))

    async def _recv(self, stream: Stream, path: str) -> None:
        answer = bytearray()
        try:
            with self._files.open(path) as file:
                while data := file.read(MAX_CHUNK):
                    answer += _REQUEST.pack(b"DATA", len(data)) + data
                    if len(answer) >= stream.max_data:
                        await stream.write(bytes(answer[: stream.max_data]))
                        del answer[: stream.max_data]
        except ConnectionError:
            raise
        except OSError as error:
            await stream.write(bytes(answer) + _failure(f"open failed: {error.strerror}"))
        else:
            await stream.write(bytes(answer) + _REQUEST.pack(b"DONE", 0))

    async def _send(self, stream: Stream, target: str) -> None:
        path, _, mode = target.rpartition(",")
        incoming = _Incoming(stream)
        try:
            await self._store(path or mode, int(mode) if path and mode.isdecimal() else 0o644, incoming)
        except ConnectionError:
            raise
        except OSError as error:
            async for _ in incoming:  # a computer may not read before it has sent everything
                pass
            await stream.write(_failure(f"couldn't create file: {error.strerror}"))
        else:
            await stream.write(_REQUEST.pack(b"OKAY", 0))

    async def _store(self, path: str, mode: int, incoming: _Incoming) -> None:
        self._files.make_folders(posixpath.dirname(path))
        if stat.S_ISLNK(mode):
            target = b"".join([each async for each in incoming])
            self._files.link(path, os.fsdecode(target.rstrip(b"\0")))
            return
        with self._files.open(path, "wb", happening=f"sync:send {path}") as file:
            try:
                async for data in incoming:
                    file.write(data)
                file.flush()
                os.fchmod(file.fileno(), mode & 0o777 | 0o600)
                os.utime(file.fileno(), (incoming.time, incoming.time))
            except BaseException:
                self._files.remove(path)
                raise

    def _names(self, path: str) -> list[str]:
        try:
            return self._files.names(path)
        except OSError:
            return []

    def _long(self, what: bytes, path: str, *, follow: bool) -> bytes:
        values = [0] * 11
        try:
            found = self._files.stat(path, follow=follow)
        except OSError as error:
            values[0] = error.errno or errno.EIO
        else:
            times = (int(found.st_atime), int(found.st_mtime), int(found.st_ctime))
            inode = (found.st_dev, found.st_ino, found.st_mode, found.st_nlink)
            values[1:] = [*inode, _SHELL_USER, _SHELL_USER, found.st_size, *times]
        return struct.pack(_STAT_2, what, *values)


class _Incoming:
    """The pieces of a file that a computer sends. Raises EOFError if it stops before the end."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._at_end = False
        self.time = 0  # of the file's last change, seconds; known at the end

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> bytes:
        if self._at_end:
            raise StopAsyncIteration
        what, length = _REQUEST.unpack(await self._stream.exactly(_REQUEST.size))
        if what == b"DATA" and length <= MAX_CHUNK:
            return await self._stream.exactly(length)
        if what != b"DONE":
            await self._stream.write(_failure("invalid data message"))
            raise EOFError
        self._at_end, self.time = True, length
        raise StopAsyncIteration


def _short(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mode, min(found.st_size, 0xFFFFFFFF), int(found.st_mtime) & 0xFFFFFFFF


def _failure(text: str) -> bytes:
    said = text.encode()
    return _REQUEST.pack(b"FAIL", len(said)) + said
