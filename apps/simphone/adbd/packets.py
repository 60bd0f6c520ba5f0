"""ADB's packets: 24 bytes of header, little-endian, then up to the agreed number of bytes.

After AOSP's protocol.txt. From version 0x01000001 on nobody computes the checksum.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE"
VERSION = 0x01000001
CHECKED_VERSION = 0x01000000
MAX_DATA = 256 * 1024  # bytes in one packet

_HEADER = struct.Struct("<4sIIIII")  # command, two arguments, length, checksum, the command's complement


class BadPacket(ConnectionError):
    """What came is not ADB, or is damaged; the connection cannot go on."""


@dataclass(frozen=True, slots=True)
class Packet:
    command: bytes
    arg0: int
    arg1: int
    data: bytes = b""

    def encode(self, *, checked: bool) -> bytes:
        checksum = _sum(self.data) if checked else 0
        complement = int.from_bytes(self.command, "little") ^ 0xFFFFFFFF
        return _HEADER.pack(self.command, self.arg0, self.arg1, len(self.data), checksum, complement) + self.data


async def read_packet(reader: asyncio.StreamReader, *, checked: bool, limit: int = MAX_DATA) -> Packet:
    """The next packet; its checksum is looked at if `checked`, or if it is a CNXN of a version that has one.

    Raises asyncio.IncompleteReadError at the end of the connection, BadPacket.
    """
    command, arg0, arg1, length, checksum, complement = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    if int.from_bytes(command, "little") ^ complement != 0xFFFFFFFF:
        raise BadPacket(f"not a packet of ADB: {command!r}")
    if length > limit:
        raise BadPacket(f"{command!r} has {length:,} bytes, more than {limit:,}")
    data = await reader.readexactly(length)
    if (checked or (command == CNXN and arg0 <= CHECKED_VERSION)) and _sum(data) != checksum:
        raise BadPacket(f"{command!r} has a wrong checksum")
    return Packet(command, arg0, arg1, data)


def _sum(data: bytes) -> int:
    return sum(data) & 0xFFFFFFFF
