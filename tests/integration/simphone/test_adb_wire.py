"""The device's end of ADB, spoken to byte by byte."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adb_lab import PICTURE, Lab, device
from adb_wire import Computer, frame, frames


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path) as lab:
        yield lab


async def test_the_banner_says_which_device_it_is_and_what_it_can(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        head, _, rest = computer.banner.decode().partition("::")
        values = dict(each.split("=", 1) for each in rest.split(";"))
    assert head == "device"
    assert values.pop("features").split(",") == ["cmd", "fixed_push_mkdir", "ls_v2", "shell_v2", "stat_v2"]
    assert values == {
        "ro.product.name": "lab",
        "ro.product.model": "Lab_ one_two",
        "ro.product.device": "lab_device",
    }


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("max_data", [4096, 1 << 20])
async def test_both_versions_and_any_packet_size_carry_everything(lab: Lab, checked: bool, max_data: int) -> None:
    async with Computer(lab.port, checked=checked, max_data=max_data) as computer:
        assert computer.max_data == min(max_data, 256 * 1024)
        assert await computer.ask("exec:screencap -p") == PICTURE
        data = PICTURE[:200_000]
        sent = frame(0, data) + frame(4, b"")
        answer = frames(await computer.ask("shell,v2:am count", sent))
    assert answer == [(1, b"200000\n"), (3, b"\0")]


async def test_the_exit_code_and_the_errors_come_apart_in_version_2(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        both = (b"to standard output\n", b"to standard error\n")
        assert await computer.ask("shell:settings") == b"".join(both)
        for service in ("shell,v2:settings", "shell,v2,TERM=xterm-256color,raw:settings", "shell,v2,raw:settings"):
            assert frames(await computer.ask(service)) == [(1, both[0]), (2, both[1]), (3, b"\7")]


async def test_arguments_arrive_as_a_shell_would_give_them(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        await computer.ask("shell:input text 'a  b' \"c\" d\\ e é")
        assert await computer.ask("shell:input tap 1 2; echo X4EXIT:$?") == b"X4EXIT:0\n"
        answer = await computer.ask("shell:settings && echo no || echo $?; false || echo last")
        assert answer == b"to standard output\nto standard error\n7\nlast\n"
    assert lab.commands.calls[:2] == [["input", "text", "a  b", "c", "d e", "é"], ["input", "tap", "1", "2"]]


async def test_a_command_that_breaks_says_so_and_the_phone_goes_on(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        answer = frames(await computer.ask("shell,v2:wm size"))
        assert answer[-1] == (3, b"\xff")
        assert b"RuntimeError('broken')" in answer[0][1]
        assert await computer.ask("shell:echo on") == b"on\n"


@pytest.mark.parametrize(
    "service",
    [
        "tcpip:5555",
        "usb:",
        "reverse:forward:tcp:1;tcp:2",
        "abb:package\0install",
        "abb_exec:x",
        "framebuffer:",
        "jdwp:1",
    ]
    + ["tcp:80", "localabstract:x", "host:version", "nonsense", "shell", "sync:x", "", "exec,v2:ls"],
)
async def test_services_that_it_does_not_have_are_closed(lab: Lab, service: str) -> None:
    async with Computer(lab.port) as computer:
        with pytest.raises(ConnectionRefusedError):
            await computer.open(service)
        assert await computer.ask("shell:echo on") == b"on\n"


@pytest.mark.parametrize(
    ("service", "says"),
    [("reboot:", b"not available"), ("reboot:recovery", b"not available"), ("root:", b"cannot run as root")],
)
async def test_what_is_not_allowed_is_refused_in_words(lab: Lab, service: str, says: bytes) -> None:
    async with Computer(lab.port) as computer:
        assert says in await computer.ask(service)


async def test_many_streams_share_a_connection(lab: Lab) -> None:
    async def one(computer: Computer, number: int) -> bytes:
        if number % 3 == 0:
            return await computer.ask("exec:screencap -p")
        return await computer.ask(f"shell:echo {number}")

    async with Computer(lab.port) as first, Computer(lab.port) as second:
        answers = await asyncio.gather(
            *(one(first, number) for number in range(30)), *(one(second, number) for number in range(30))
        )
    for number, answer in enumerate(answers[:30] + answers[30:]):
        assert answer == (PICTURE if number % 30 % 3 == 0 else b"%d\n" % (number % 30))


async def test_a_stream_that_is_not_read_holds_up_no_other(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        held = await computer.open("exec:screencap -p")
        for number in range(5):
            assert await computer.ask(f"shell:echo {number}") == b"%d\n" % number
        assert await held.rest() == PICTURE


async def test_an_install_streams_with_as_much_in_flight_as_the_command_reads(lab: Lab) -> None:
    apk = bytes(range(256)) * 10_000
    async with Computer(lab.port) as computer:
        conversation = await computer.open(f"exec:cmd package 'install' -r -t -S {len(apk)}")
        await conversation.write(apk)
        assert await conversation.rest() == b"Success\n"
    assert lab.commands.installed == [hashlib.sha256(apk).hexdigest()]


async def test_a_command_that_does_not_read_is_sent_one_packet(lab: Lab) -> None:
    """The answer to a packet is what lets a computer send the next one."""
    async with Computer(lab.port) as computer:
        conversation = await computer.open("exec:logcat")
        await conversation.read()
        conversation.post(b"never read")
        taken = asyncio.ensure_future(conversation.taken())
        assert await computer.ask("shell:echo on") == b"on\n"  # the phone has taken in what came before this
        assert not taken.done()
        conversation.close()
        with pytest.raises(ConnectionAbortedError):
            await taken


@pytest.mark.parametrize("service", ["shell:logcat", "shell,v2,raw:logcat"])
async def test_closing_the_stream_ends_the_command(lab: Lab, service: str) -> None:
    async with Computer(lab.port) as computer:
        conversation = await computer.open(service)
        await lab.commands.waiting.wait()
        conversation.close()
        await lab.commands.ended.wait()


async def test_a_lost_connection_ends_its_commands(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        await computer.open("shell:logcat")
        await lab.commands.waiting.wait()
    await lab.commands.ended.wait()


async def test_a_greeting_in_between_ends_the_streams(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        await computer.open("shell:logcat")
        await lab.commands.waiting.wait()
        computer.send(b"CNXN", computer.version, 4096, b"host::")
        await lab.commands.ended.wait()
        assert await computer.ask("shell:echo on") == b"on\n"


async def test_closing_an_exec_stream_is_the_end_of_its_input(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        conversation = await computer.open("exec:am count")
        await conversation.write(b"abc")
        conversation.close()
        await lab.commands.ended.wait()


async def test_stopping_ends_everything(tmp_path: Path) -> None:
    async with device(tmp_path) as lab:
        computer = Computer(lab.port)
        await computer.__aenter__()
        conversation = await computer.open("shell:logcat")
        await conversation.read()
    assert lab.commands.ended.is_set()
    with pytest.raises(ConnectionResetError):
        await conversation.read()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", lab.port)
