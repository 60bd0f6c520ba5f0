"""A connection to the adb server, on which nothing outlasts the deadline of the call that it was opened for."""

from __future__ import annotations

import math
import socket
from typing import Any

from adbutils import AdbConnection  # type: ignore[import-untyped]

from gateway.phone.deadline import Deadline

GLANCE_S = 0.25  # so soon it is seen that the deadline was cancelled


class DeadlineSocket(socket.socket):
    """Its timeout is what is left of the deadline: one for each read would let a device drip on for ever."""

    deadline: Deadline

    def hurry(self, longest_s: float = math.inf) -> None:
        """Set what is left, or less. Raises TimeoutError."""
        if (left := self.deadline.remaining) <= 0:
            raise TimeoutError(f"not done within {self.deadline.seconds:g} s")
        self.settimeout(min(left, longest_s))

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        while True:
            self.hurry(GLANCE_S)
            try:
                return super().recv(size, flags)
            except TimeoutError:
                if self.deadline.passed:
                    raise

    def send(self, data: Any, flags: int = 0, /) -> int:
        """All of it: a socket with a timeout sends less where its buffer is full, which adbutils does not look at."""
        self.hurry()
        super().sendall(data, flags)
        return memoryview(data).nbytes


class Connection(AdbConnection):  # type: ignore[misc]
    """adbutils' connection, without what it does besides: it would start a server, of another port at that, and wait
    at its end. Raises OSError, and TimeoutError at the deadline."""

    def __init__(self, host: str, port: int, deadline: Deadline) -> None:
        self._place = host, port
        self._deadline = deadline
        super().__init__(host, port)

    def _safe_connect(self) -> socket.socket:
        trouble: OSError | None = None
        places = socket.getaddrinfo(*self._place, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, place in sorted(places, key=lambda each: each[0] != socket.AF_INET):
            found = DeadlineSocket(family, kind, protocol)
            found.deadline = self._deadline
            try:
                found.hurry()
                found.connect(place)
                return found
            except OSError as error:
                found.close()
                trouble = trouble or error
        raise trouble or OSError(f"no address for {self._place[0]}")

    def read(self, n: int) -> bytes:
        """Exactly so many bytes. Raises EOFError, and TimeoutError at the deadline."""
        data: bytes = self._read_fully(n)
        if len(data) < n:
            raise EOFError("closed")
        return data

    def close(self) -> None:
        self.conn.close()
