"""adb as people have it, of an old and a new version, with the phone as a device like any other."""

from __future__ import annotations

import asyncio
import hashlib
import os
import pty
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from adb_lab import PICTURE, Lab, device
from adb_server import PROGRAMS, AdbServer, adb_server

from simphone.adbd.auth import ANY_KEY, REFUSED, only
from simphone.faults import Fault

confined = pytest.mark.skipif(not shutil.which("bwrap") or not shutil.which("mksh"), reason="no bubblewrap or mksh")


@pytest.fixture(scope="module", params=[pytest.param(path, id=name) for name, path in PROGRAMS.items()])
def adb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    if not request.param:
        pytest.skip("adb is not installed")
    with adb_server(request.param, tmp_path_factory.mktemp("adb")) as server:
        yield server


class Phone:
    """A device that adb is connected to."""

    def __init__(self, adb: AdbServer, lab: Lab) -> None:
        self.adb = adb
        self.lab = lab

    async def run(self, *arguments: str | Path, stdin: bytes = b"") -> tuple[int | None, bytes, bytes]:
        return await self.adb.run("-s", self.lab.serial, *arguments, stdin=stdin)


@pytest.fixture
async def phone(adb: AdbServer, tmp_path: Path) -> AsyncIterator[Phone]:
    async with device(tmp_path / "phone") as lab:
        await adb.connect(lab.serial)
        yield Phone(adb, lab)
        await adb.run("disconnect", lab.serial)


async def test_it_is_a_device_like_any_other(phone: Phone) -> None:
    _, out, _ = await phone.adb.run("devices", "-l")
    line = next(each for each in out.decode().splitlines() if each.startswith(phone.lab.serial))
    assert line.split()[1:5] == ["device", "product:lab", "model:Lab__one_two", "device:lab_device"]
    assert await phone.run("get-state") == (0, b"device\n", b"")


async def test_a_shell_command_has_its_streams_apart_and_its_exit_code(phone: Phone) -> None:
    assert await phone.run("shell", "settings") == (7, b"to standard output\n", b"to standard error\n")
    assert await phone.run("shell", "am", "count", stdin=b"x" * 300_000) == (0, b"300000\n", b"")
    assert await phone.run("shell", "-x", "settings") == (0, b"to standard output\nto standard error\n", b"")
    assert await phone.run("shell", "input text 'a  b' é") == (0, b"", b"")
    assert phone.lab.commands.calls[-1] == ["input", "text", "a  b", "é"]


async def test_bytes_come_out_and_go_in_unchanged(phone: Phone) -> None:
    assert await phone.run("exec-out", "screencap", "-p") == (0, PICTURE, b"")
    assert await phone.run("shell", "screencap -p") == (0, PICTURE, b"")


@confined
async def test_bytes_go_into_a_command(phone: Phone) -> None:
    await phone.run("exec-in", "cat > /sdcard/in.bin", stdin=PICTURE)
    while (await phone.run("exec-out", "cat /sdcard/in.bin"))[1] != PICTURE:
        pass  # adb does not wait for the command's end


@confined
async def test_a_shell_without_a_line_takes_one_after_the_other(phone: Phone) -> None:
    assert await phone.run("shell", stdin=b"echo one\nfoo\nsettings 2>/dev/null\nexit 3\n") == (
        3,
        b"one\nto standard output\n",
        b"/system/bin/sh: <stdin>[2]: foo: inaccessible or not found\n",
    )


@confined
async def test_a_person_at_a_terminal_has_a_prompt_and_an_echo(phone: Phone) -> None:
    ours, theirs = pty.openpty()
    try:
        process = await phone.adb.start("-s", phone.lab.serial, "shell", stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        loop = asyncio.get_running_loop()
        seen = b""
        for text, typed in ((b"/ $ ", b"echo $((6*7))\r"), (b"42\r\n/ $ ", b"logcat\r"), (b"of main", b"\3exit\r")):
            while text not in seen:
                seen += await loop.run_in_executor(None, os.read, ours, 4096)
            os.write(ours, typed)
        await process.wait()
    finally:
        os.close(ours)
    await phone.lab.commands.ended.wait()
    assert b"echo $((6*7))" in seen


async def test_ending_adb_ends_the_command(phone: Phone) -> None:
    process = await phone.adb.start("-s", phone.lab.serial, "shell", "logcat")
    await phone.lab.commands.waiting.wait()
    process.kill()
    await phone.lab.commands.ended.wait()
    await process.communicate()


async def test_files_and_folders_are_pushed_and_pulled(phone: Phone, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    contents = {"a.bin": PICTURE, "empty": b"", "inner/é 你好.txt": b"text", "inner/b": b"b" * 70_000}
    for name, content in contents.items():
        (source / name).write_bytes(content)
    code, _, errors = await phone.run("push", source, "/sdcard/Download/")
    assert code == 0, errors
    host = phone.lab.files.host("/sdcard/Download/source")
    assert {str(each.relative_to(host)): each.read_bytes() for each in host.rglob("*") if each.is_file()} == contents
    code, _, errors = await phone.run("pull", "/sdcard/Download/source", tmp_path / "back")
    assert code == 0, errors
    back = tmp_path / "back"
    assert {str(each.relative_to(back)): each.read_bytes() for each in back.rglob("*") if each.is_file()} == contents
    code, out, errors = await phone.run("push", source / "a.bin", "/data/local/tmp/new/name.bin")
    assert code == 0, errors
    assert phone.lab.files.host("/data/local/tmp/new/name.bin").read_bytes() == PICTURE
    _, out, _ = await phone.run("ls", "/sdcard/Download/source")
    assert {line.split()[-1] for line in out.decode().splitlines()} >= {"a.bin", "empty", "inner"}


async def test_a_transfer_that_cannot_be_says_why(phone: Phone, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(PICTURE)
    code, out, errors = await phone.run("pull", "/sdcard/none", tmp_path / "none")
    assert code == 1
    assert b"'/sdcard/none' does not exist" in out + errors or b"No such file" in out + errors
    code, out, errors = await phone.run("push", tmp_path / "a", "/system/a")
    assert code == 1
    assert b"Permission denied" in out + errors
    phone.lab.faults.add(Fault("storage_full", at="sync:send *"))
    code, out, errors = await phone.run("push", tmp_path / "a", "/sdcard/a")
    assert code == 1
    assert b"No space left on device" in out + errors
    assert (await phone.run("push", tmp_path / "a", "/sdcard/a"))[0] == 0


async def test_an_app_is_installed_as_a_stream(phone: Phone, tmp_path: Path) -> None:
    apk = tmp_path / "it's an app.apk"
    apk.write_bytes(os.urandom(3_000_000))
    code, out, errors = await phone.run("install", "-r", apk)
    assert (code, out.splitlines()[-1]) == (0, b"Success"), errors
    assert phone.lab.commands.installed == [hashlib.sha256(apk.read_bytes()).hexdigest()]
    assert phone.lab.commands.calls[-1][:2] == ["cmd", "package"]
    assert phone.lab.commands.calls[-1][-2:] == ["-S", "3000000"]


async def test_what_it_does_not_do_is_refused_and_the_device_stays(phone: Phone) -> None:
    for arguments in (["tcpip", "5555"], ["usb"], ["reverse", "tcp:1", "tcp:2"], ["jdwp"], ["reboot"], ["root"]):
        process = await phone.adb.start("-s", phone.lab.serial, *arguments)
        out, errors = await process.communicate()
        assert out + errors or arguments[0] in ("reboot", "jdwp"), arguments
        assert await phone.run("shell", "echo on") == (0, b"on\n", b""), arguments


async def test_many_commands_at_once_on_two_devices(phone: Phone, tmp_path: Path) -> None:
    async with device(tmp_path / "second") as second:
        await phone.adb.connect(second.serial)
        other = Phone(phone.adb, second)
        answers = await asyncio.gather(
            *(each.run("shell", f"echo {number}") for number in range(8) for each in (phone, other)),
            *(each.run("exec-out", "screencap -p") for _ in range(2) for each in (phone, other)),
        )
        await phone.adb.run("disconnect", second.serial)
    assert answers[:16] == [(0, b"%d\n" % number, b"") for number in range(8) for _ in range(2)]
    assert answers[16:] == [(0, PICTURE, b"")] * 4


async def test_a_link_that_drops_in_the_middle_cuts_the_answer_and_can_be_made_again(phone: Phone) -> None:
    phone.lab.faults.add(Fault("link_drop", at="screencap*", bytes=300_000))
    code, out, _ = await phone.run("shell", "screencap -p")
    assert code != 0 or phone.adb.is_old  # which takes the end of the stream for success
    assert PICTURE.startswith(out)
    assert len(out) < len(PICTURE)
    await phone.adb.run("disconnect", phone.lab.serial)
    await phone.adb.connect(phone.lab.serial)
    assert await phone.run("exec-out", "screencap -p") == (0, PICTURE, b"")


async def test_an_answer_is_lost_though_the_command_ran(phone: Phone) -> None:
    phone.lab.faults.add(Fault("answer_lost", at="input tap *"))
    code, out, _ = await phone.run("shell", "input tap 1 2; echo on")
    assert (code != 0 or phone.adb.is_old, out) == (True, b"")
    assert phone.lab.commands.calls == [["input", "tap", "1", "2"]]


async def test_a_command_that_is_never_answered_leaves_the_others_alone(phone: Phone) -> None:
    phone.lab.faults.add(Fault("no_answer", at="input *"))
    process = await phone.adb.start("-s", phone.lab.serial, "shell", "input tap 1 2")
    assert await phone.run("shell", "echo on") == (0, b"on\n", b"")
    assert process.returncode is None
    process.kill()
    await process.communicate()


async def test_a_phone_that_is_down_cannot_be_connected_to(adb: AdbServer, tmp_path: Path) -> None:
    async with device(tmp_path) as lab:
        lab.daemon.take_down(3600)
        _, out, errors = await adb.run("connect", lab.serial)
        assert b"refused" in out + errors
        assert await adb.state(lab.serial) in ("", "offline")
        await adb.run("disconnect", lab.serial)


async def test_a_computer_is_let_in_when_the_person_allows_it(adb: AdbServer, tmp_path: Path) -> None:
    async with device(tmp_path, ANY_KEY) as lab:
        await adb.run("connect", lab.serial)  # which may say that it failed, before the person has answered
        assert await adb.run("-s", lab.serial, "wait-for-device") == (0, b"", b"")
        assert await adb.run("-s", lab.serial, "shell", "echo on") == (0, b"on\n", b"")
        await adb.run("disconnect", lab.serial)
        await adb.connect(lab.serial)  # now the key is known
        await adb.run("disconnect", lab.serial)


async def test_a_computer_whose_key_is_known_is_let_in(adb: AdbServer, tmp_path: Path) -> None:
    async with device(tmp_path, only(adb.public_key)) as lab:
        await adb.connect(lab.serial)
        assert await adb.run("-s", lab.serial, "shell", "echo on") == (0, b"on\n", b"")
        await adb.run("disconnect", lab.serial)


async def test_a_computer_that_is_refused_is_unauthorised(adb: AdbServer, tmp_path: Path) -> None:
    async with device(tmp_path, REFUSED) as lab:
        _, out, errors = await adb.run("connect", lab.serial)
        assert b"failed to authenticate" in out + errors
        assert await adb.state(lab.serial) == "unauthorized"
        code, _, errors = await adb.run("-s", lab.serial, "shell", "input tap 1 2")
        assert (code, b"unauthorized" in errors) == (1, True)
        assert lab.commands.calls == []
        await adb.run("disconnect", lab.serial)


async def test_a_person_who_takes_a_while_is_waited_for(adb: AdbServer, tmp_path: Path) -> None:
    async with device(tmp_path) as lab:
        lab.faults.add(Fault("auth_slow", at="connect", seconds=0.5))
        await adb.run("connect", lab.serial)
        assert await adb.run("-s", lab.serial, "wait-for-device") == (0, b"", b"")
        assert await adb.run("-s", lab.serial, "shell", "echo on") == (0, b"on\n", b"")
        await adb.run("disconnect", lab.serial)
