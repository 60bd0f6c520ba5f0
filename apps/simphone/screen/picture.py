"""Pictures that need no browser."""

from __future__ import annotations

import struct
import zlib


def black(width: int, height: int) -> bytes:
    """A PNG, all black: of a screen that is off, or a window that must not be pictured."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # eight bits, red green blue
    rows = zlib.compress(bytes((1 + 3 * width) * height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
