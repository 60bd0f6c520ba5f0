"""What the name of a simulated command is inside the container: carries its arguments and streams to the phone.

Runs as `python3 -I -S`, once for each call: it imports only what the interpreter has built in or at hand. A frame is
one byte for its kind, four for the length of its data, little-endian, and the data. To the phone go A (arguments, with
NUL between them) and I (input that was asked for, empty at its end); from it come O and E (output), R (read: how much
at most) and X (exit code).
"""

import posix
import sys
from _socket import AF_UNIX, SOCK_STREAM, socket

SOCKET = "/dev/socket/phone"


def send(phone: socket, kind: bytes, data: bytes) -> None:
    phone.sendall(kind + len(data).to_bytes(4, "little") + data)


def exactly(phone: socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        part = phone.recv(n - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[posix.write(descriptor, data) :]


def main(argv: list[str]) -> int:
    phone = socket(AF_UNIX, SOCK_STREAM)
    phone.connect(SOCKET)
    name = argv[0].rpartition("/")[2]
    send(phone, b"A", b"\0".join([each.encode("utf-8", "surrogateescape") for each in [name, *argv[1:]]]))
    while True:
        head = exactly(phone, 5)
        data = exactly(phone, int.from_bytes(head[1:], "little"))
        kind = head[:1]
        if kind == b"X":
            return data[0]
        if kind == b"R":
            send(phone, b"I", posix.read(0, int.from_bytes(data, "little")))
        else:
            write(1 if kind == b"O" else 2, data)


if __name__ == "__main__":
    try:
        code = main(sys.argv)
    except OSError:
        code = 1
    posix._exit(code)
