"""Command lines in the container."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adb_lab import PICTURE, Lab, device
from adb_wire import CLOSE_STDIN, EXIT, STDIN, STDOUT, WINDOW_SIZE, Computer, Conversation, frame, frames

from simphone.faults import Fault

pytestmark = pytest.mark.skipif(not shutil.which("bwrap") or not shutil.which("mksh"), reason="no bubblewrap or mksh")


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path) as lab:
        yield lab


@pytest.fixture
async def computer(lab: Lab) -> AsyncIterator[Computer]:
    async with Computer(lab.port) as computer:
        yield computer


async def processes(computer: Computer) -> bytes:
    return (await computer.run("ps -e -o args"))[1]


async def test_a_line_runs_as_in_androids_shell(computer: Computer) -> None:
    assert await computer.run("for i in 1 2; do echo $i; done | tac; exit 5") == (5, b"2\n1\n", b"")
    assert await computer.run("id; pwd; hostname; echo $0 $EXTERNAL_STORAGE") == (
        0,
        b"uid=2000(shell) gid=2000(shell) groups=2000(shell)\n/\nlocalhost\n/system/bin/sh /sdcard\n",
        b"",
    )
    assert await computer.run("kill -9 $$") == (137, b"", b"")


@pytest.mark.parametrize("name", ["foo", "python3", "git", "apt-get", "/system/bin/foo"])
async def test_a_name_that_there_is_not_fails_as_on_android(computer: Computer, name: str) -> None:
    assert await computer.run(name) == (127, b"", f"/system/bin/sh: {name}: inaccessible or not found\n".encode())


async def test_simulated_commands_are_called_within_a_line(lab: Lab, computer: Computer) -> None:
    assert await computer.run("input text 'a  b' \"\" $((1+1)) é && echo $?") == (0, b"0\n", b"")
    assert await computer.run("settings 2>&1 | tac") == (0, b"to standard error\nto standard output\n", b"")
    assert await computer.run('x=$(settings 2>/dev/null); echo "$? <$x>"') == (0, b"7 <to standard output>\n", b"")
    assert await computer.run("cat | am count", b"12345") == (0, b"5\n", b"")
    assert await computer.run("echo input tap 3 4 | sh") == (0, b"", b"")
    assert lab.commands.calls[0] == ["input", "text", "a  b", "", "2", "é"]
    assert lab.commands.calls[-1] == ["input", "tap", "3", "4"]


async def test_a_command_takes_no_more_input_than_it_reads(computer: Computer) -> None:
    assert await computer.run("input tap 1 2; cat; input tap 1 2", b"for cat") == (0, b"for cat", b"")
    assert await computer.run("cmd package install -S 3 | cat; cat", b"apkrest") == (0, b"Success\nrest", b"")


async def test_a_large_output_goes_through_pipes_and_files(lab: Lab, computer: Computer) -> None:
    assert await computer.run("screencap -p | cat") == (0, PICTURE, b"")
    assert await computer.run("screencap -p > /sdcard/a.png; cat /sdcard/a.png") == (0, PICTURE, b"")
    assert lab.files.host("/sdcard/a.png").read_bytes() == PICTURE


async def test_input_goes_through_whole(computer: Computer) -> None:
    conversation = await computer.open("shell,v2,raw:cat; cat")
    sent = asyncio.ensure_future(conversation.write(frame(STDIN, PICTURE) + frame(CLOSE_STDIN, b"")))
    data = frames(await conversation.rest())
    await sent
    assert b"".join(each for kind, each in data if kind == STDOUT) == PICTURE


async def test_files_are_the_same_for_the_shell_and_for_transfers(lab: Lab, computer: Computer) -> None:
    with lab.files.open("/sdcard/Download/a.txt", "wb") as file:
        file.write(b"pushed\n")
    line = "cat /sdcard/Download/a.txt /storage/emulated/0/Download/a.txt; ln -s /sdcard /data/local/tmp/link"
    assert await computer.run(line) == (0, b"pushed\npushed\n", b"")
    with lab.files.open("/data/local/tmp/link/Download/a.txt") as file:
        assert file.read() == b"pushed\n"


async def test_a_script_that_was_pushed_runs(lab: Lab, computer: Computer) -> None:
    path = lab.files.host("/data/local/tmp/script.sh")
    path.write_text("#!/system/bin/sh\ninput tap 1 2\necho done $1\n")
    path.chmod(0o755)
    assert await computer.run("/data/local/tmp/script.sh well") == (0, b"done well\n", b"")


async def test_an_empty_line_is_a_shell_that_reads_lines(computer: Computer) -> None:
    conversation = await computer.open("shell,v2,raw:")
    for line, says in ((b"echo one\n", b"one\n"), (b"cd /sdcard; pwd\n", b"/sdcard\n"), (b"settings >&2\n", b"")):
        await conversation.write(frame(STDIN, line))
        if says:
            assert frames(await conversation.read()) == [(STDOUT, says)]
    await conversation.write(frame(STDIN, b"exit 4\n"))
    assert frames(await conversation.rest())[-1] == (EXIT, b"\4")


async def on_screen(conversation: Conversation, text: bytes) -> bytes:
    seen = b""
    while text not in seen:
        data = await conversation.read()
        assert data, seen
        seen += b"".join(each for _, each in frames(data))
    return seen


async def test_a_terminal_echoes_has_a_size_and_takes_control_c(computer: Computer) -> None:
    conversation = await computer.open("shell,v2,TERM=xterm-256color,pty:")
    await on_screen(conversation, b"/ $ ")
    conversation.post(frame(WINDOW_SIZE, b"50x132,0x0"))
    await conversation.write(frame(STDIN, b"echo $TERM; stty size\r"))
    seen = await on_screen(conversation, b"50 132\r\n")
    assert b"echo $TERM; stty size" in seen
    assert b"xterm-256color\r\n" in seen
    await conversation.write(frame(STDIN, b"logcat\r"))
    await on_screen(conversation, b"beginning of main")
    await conversation.write(frame(STDIN, b"\3"))
    await conversation.write(frame(STDIN, b"exit 6\r"))
    assert frames(await conversation.rest())[-1] == (EXIT, b"\6")


async def test_the_first_version_has_a_terminal_for_an_empty_line(computer: Computer) -> None:
    conversation = await computer.open("shell:")
    seen = b""
    await conversation.write(b"tty; exit\r")
    seen = await conversation.rest()
    assert b"/dev/pts/" in seen


async def test_a_line_with_a_terminal_of_its_own(computer: Computer) -> None:
    answer = frames(await computer.ask("shell,v2,TERM=xterm,pty:tty; settings"))
    assert answer[-1] == (EXIT, b"\7")
    assert b"/dev/pts/" in b"".join(data for _, data in answer)


@pytest.mark.parametrize("service", ["shell:", "shell,v2,raw:", "shell,v2,pty:"])
async def test_closing_the_stream_ends_the_line_and_what_it_started(lab: Lab, computer: Computer, service: str) -> None:
    conversation = await computer.open(f"{service}sleep 4321 & (trap '' HUP; sleep 1234) | cat; logcat")
    while b"\nsleep 4321" not in await processes(computer) or b"\nsleep 1234" not in await processes(computer):
        pass
    conversation.close()
    while b"\nsleep 4321" in await processes(computer) or b"\nsleep 1234" in await processes(computer):
        pass


async def test_a_line_that_has_closed_its_outputs_is_ended_too(computer: Computer) -> None:
    conversation = await computer.open("shell:exec sleep 4321 >&- 2>&- <&-")
    while b"\nsleep 4321" not in await processes(computer):
        pass
    conversation.close()
    while b"\nsleep 4321" in await processes(computer):
        pass


async def test_a_simulated_command_ends_with_its_line(lab: Lab, computer: Computer) -> None:
    conversation = await computer.open("shell:logcat | cat")
    await lab.commands.waiting.wait()
    conversation.close()
    await lab.commands.ended.wait()


async def test_a_flood_waits_for_its_reader(computer: Computer) -> None:
    conversation = await computer.open("shell:yes")
    for _ in range(5):
        assert (await conversation.read()).startswith((b"y\n", b"\ny"))
        assert await computer.run("echo on | cat") == (0, b"on\n", b"")
    conversation.close()


async def test_many_lines_at_once(computer: Computer) -> None:
    answers = await asyncio.gather(*(computer.run(f"echo {number} | cat; exit {number}") for number in range(20)))
    assert answers == [(number, b"%d\n" % number, b"") for number in range(20)]


async def test_nothing_can_be_written_while_storage_is_full(lab: Lab, computer: Computer) -> None:
    lab.faults.add(Fault("storage_full", at="*/sdcard/*"))
    _, out, errors = await computer.run("cat > /sdcard/a; echo $? | cat", b"content")
    assert (out, bool(errors)) == (b"1\n", True)
    lab.faults.clear()
    assert await computer.run("cat > /sdcard/a; cat /sdcard/a", b"content") == (0, b"content", b"")


async def test_a_line_that_is_too_long_is_refused(computer: Computer) -> None:
    assert await computer.run("echo " + "x" * 150_000 + " | cat") == (
        126,
        b"",
        b"/system/bin/sh: Argument list too long\n",
    )


async def test_the_container_comes_back_after_somebody_ended_it(computer: Computer) -> None:
    conversation = await computer.open("shell:kill -9 $PPID; sleep 1000")
    assert await conversation.rest() == b""
    assert await computer.run("echo on | cat") == (0, b"on\n", b"")


async def test_strangers_on_the_socket_of_the_commands_do_no_harm(lab: Lab, computer: Computer) -> None:
    program = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/dev/socket/phone'); s.sendall({!r})"
    for nonsense in (b"", b"A\3\0\0\0rm\0", b"A\xff\xff\xff\xff", b"X" * 100, b"A\5\0\0\0\xff\xfe\0\0\0"):
        line = f'/usr/bin/python3 -c "{program.format(nonsense)}"'.replace("\\", "\\\\")
        await computer.run(line)
    assert await computer.run("settings 2>/dev/null | cat") == (0, b"to standard output\n", b"")
    assert all(each == ["settings"] for each in lab.commands.calls)
