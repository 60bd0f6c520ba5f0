from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simphone.adbd.packets import AUTH, CLSE, CNXN, OKAY, OPEN, WRTE, BadPacket, Packet, read_packet

numbers = st.integers(0, 0xFFFFFFFF)
packets = st.builds(
    Packet, st.sampled_from([CNXN, AUTH, OPEN, OKAY, WRTE, CLSE]), numbers, numbers, st.binary(max_size=400)
)


def read(data: bytes, *, checked: bool, limit: int = 1000) -> Packet:
    async def reading() -> Packet:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_packet(reader, checked=checked, limit=limit)

    return asyncio.run(reading())


@given(packets)
def test_what_is_encoded_with_a_checksum_is_read_by_both_versions(packet: Packet) -> None:
    assert read(packet.encode(checked=True), checked=True) == packet
    assert read(packet.encode(checked=True), checked=False) == packet


def test_the_bytes_are_those_of_the_protocol() -> None:
    assert (
        Packet(OKAY, 1, 2).encode(checked=True).hex()
        == "4f4b4159" + "01000000" + "02000000" + "00000000" * 2 + "b0b4bea6"
    )
    assert Packet(WRTE, 1, 2, b"\xff\x01").encode(checked=True)[12:20].hex() == "02000000" + "00010000"


def test_a_damaged_packet_of_the_older_version_is_refused() -> None:
    damaged = Packet(WRTE, 1, 2, b"abc").encode(checked=True)[:-1] + b"d"
    with pytest.raises(BadPacket, match="checksum"):
        read(damaged, checked=True)


def test_the_newer_version_needs_no_checksum() -> None:
    packet = Packet(WRTE, 1, 2, b"abc")
    assert read(packet.encode(checked=False), checked=False) == packet
    greeting = Packet(CNXN, 0x01000001, 4096, b"host::")
    assert read(greeting.encode(checked=False), checked=False) == greeting


def test_a_greeting_of_the_older_version_is_checked_before_the_version_is_agreed() -> None:
    with pytest.raises(BadPacket, match="checksum"):
        read(Packet(CNXN, 0x01000000, 4096, b"host::").encode(checked=False), checked=False)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", bytes(24), b"\xff" * 24])
def test_what_is_not_adb_is_refused(data: bytes) -> None:
    if data == b"\xff" * 24:
        data = data[:20] + bytes(4)  # the complement is right, the length is not
    with pytest.raises(BadPacket):
        read(data, checked=False)


def test_a_packet_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadPacket, match="1,001 bytes"):
        read(Packet(WRTE, 1, 2, bytes(1001)).encode(checked=False)[:24], checked=False)
