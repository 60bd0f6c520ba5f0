"""Whether a computer is allowed: what goes over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from adb_lab import Lab, device
from adb_shell.auth.keygen import keygen
from adb_shell.auth.sign_cryptography import CryptographySigner
from adb_wire import Computer

from simphone.adbd.auth import ANY_KEY, REFUSED, only
from simphone.faults import Fault


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> CryptographySigner:
    path = tmp_path_factory.mktemp("key") / "adbkey"
    keygen(str(path))
    return CryptographySigner(str(path))


@asynccontextmanager
async def asked(lab: Lab) -> AsyncIterator[tuple[Computer, bytes]]:
    """A computer that has greeted and was asked to sign."""
    computer = Computer(lab.port)
    await computer.dial()
    computer.send(b"CNXN", computer.version, 4096, b"host::")
    command, kind, _, token = await computer.receive()
    assert (command, kind, len(token)) == (b"AUTH", 1, 20)
    yield computer, token
    computer.writer.transport.abort()


async def test_a_known_key_is_let_in(tmp_path: Path, key: CryptographySigner) -> None:
    async with device(tmp_path, only(key.GetPublicKey().decode())) as lab, asked(lab) as (computer, token):
        computer.send(b"AUTH", 2, 0, key.Sign(token))
        assert (await computer.receive())[0] == b"CNXN"
        computer.listen()
        assert await computer.ask("shell:echo on") == b"on\n"


async def test_a_wrong_signature_is_asked_again_for_another_token(tmp_path: Path, key: CryptographySigner) -> None:
    async with device(tmp_path, only(key.GetPublicKey().decode())) as lab, asked(lab) as (computer, token):
        computer.send(b"AUTH", 2, 0, key.Sign(bytes(20)))
        command, kind, _, again = await computer.receive()
        assert (command, kind) == (b"AUTH", 1)
        assert again != token
        computer.send(b"AUTH", 2, 0, key.Sign(token))  # the one before does not count any more
        assert (await computer.receive())[0] == b"AUTH"


async def test_a_new_key_is_let_in_and_remembered_if_the_person_allows_it(
    tmp_path: Path, key: CryptographySigner
) -> None:
    async with device(tmp_path, ANY_KEY) as lab:
        async with asked(lab) as (computer, token):
            computer.send(b"AUTH", 2, 0, key.Sign(token))
            assert (await computer.receive())[0] == b"AUTH"
            computer.send(b"AUTH", 3, 0, key.GetPublicKey() + b"\0")
            assert (await computer.receive())[0] == b"CNXN"
        async with asked(lab) as (computer, token):
            computer.send(b"AUTH", 2, 0, key.Sign(token))
            assert (await computer.receive())[0] == b"CNXN"


@pytest.mark.parametrize("allowed", ["refused", "other keys", "fault"])
async def test_a_computer_that_is_not_allowed_gets_no_answer_and_no_service(
    tmp_path: Path, key: CryptographySigner, allowed: str
) -> None:
    authentication = {"refused": REFUSED, "other keys": only(), "fault": ANY_KEY}[allowed]
    async with device(tmp_path, authentication) as lab:
        if allowed == "fault":
            lab.faults.add(Fault("auth_refused", at="connect"))
        async with asked(lab) as (computer, token):
            computer.send(b"AUTH", 3, 0, key.GetPublicKey() + b"\0")
            computer.send(b"OPEN", 1, 0, b"shell:input tap 1 2\0")
            computer.send(b"AUTH", 2, 0, key.Sign(token))
            assert (await computer.receive())[0] == b"AUTH"  # to the signature: nothing came before it
        assert lab.commands.calls == []


async def test_the_person_may_take_a_while(tmp_path: Path, key: CryptographySigner) -> None:
    async with device(tmp_path) as lab:
        lab.faults.add(Fault("auth_slow", at="connect", seconds=0.05))
        async with asked(lab) as (computer, _):
            computer.send(b"AUTH", 3, 0, key.GetPublicKey() + b"\0")
            assert (await computer.receive())[0] == b"CNXN"
        async with Computer(lab.port) as computer:
            assert await computer.ask("shell:echo on") == b"on\n"


async def test_a_computer_that_goes_away_while_it_is_asked_leaves_nothing(
    tmp_path: Path, key: CryptographySigner
) -> None:
    async with device(tmp_path) as lab:
        lab.faults.add(Fault("auth_slow", at="connect", seconds=3600))
        async with asked(lab) as (computer, _):
            computer.send(b"AUTH", 3, 0, key.GetPublicKey() + b"\0")
        async with Computer(lab.port) as computer:
            assert await computer.ask("shell:echo on") == b"on\n"
    assert [each for each in asyncio.all_tasks() if "allow_later" in repr(each)] == []
