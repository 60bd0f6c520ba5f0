"""An adb server that only the tests know: it answers what it is told to, or nothing, or not all of it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

Answer = Callable[["Stream"], None]


class Stream:
    """One connection of a client, after its services were asked for."""

    def __init__(self, connection: socket.socket, closing: threading.Event) -> None:
        self._connection = connection
        self._closing = closing

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def okay(self, text: str | None = None) -> None:
        self.send(b"OKAY" + (b"" if text is None else f"{len(text.encode()):04x}{text}".encode()))

    def fail(self, text: str) -> None:
        self.send(b"FAIL" + f"{len(text.encode()):04x}{text}".encode())

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (more := self._connection.recv(size - len(data))):
            data += more
        return data

    def frame(self, kind: int, data: bytes) -> None:
        """Of shell protocol v2."""
        self.send(struct.pack("<BI", kind, len(data)) + data)

    def wait(self, seconds: float = 60.0) -> None:
        """Answer nothing, until the test is over."""
        self._closing.wait(seconds)


class FakeAdb:
    """`answers` by the service's beginning; the longest that fits is asked. What was asked for is in `asked`."""

    def __init__(self, answers: Mapping[str, Answer | str]) -> None:
        self.answers: dict[str, Answer | str] = {
            "host:version": "0029",
            "host:transport:": lambda stream: stream.okay(),
            "host-serial:": "device",
            **answers,
        }
        self.asked: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._closing = threading.Event()
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for each in self._connections:
            each.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._connections.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        stream = Stream(connection, self._closing)
        with suppress(OSError), connection:
            while (length := stream.read(4)) and (service := stream.read(int(length, 16)).decode()):
                self.asked.append(service)
                fitting = [each for each in self.answers if service.startswith(each)]
                answer = self.answers[max(fitting, key=len)] if fitting else None
                if answer is None:
                    stream.fail("unknown host service")
                elif isinstance(answer, str):
                    stream.okay(answer)
                else:
                    answer(stream)
                if not service.startswith("host:transport:"):
                    return


def prints(out: bytes = b"", err: bytes = b"", code: int = 0) -> Answer:
    """A command in a shell of the second protocol."""

    def answer(stream: Stream) -> None:
        stream.okay()
        for kind, data in ((1, out), (2, err)):
            if data:
                stream.frame(kind, data)
        stream.frame(3, bytes([code]))

    return answer


@contextmanager
def fake_adb(answers: Mapping[str, Answer | str]) -> Iterator[FakeAdb]:
    server = FakeAdb(answers)
    try:
        yield server
    finally:
        server.close()
