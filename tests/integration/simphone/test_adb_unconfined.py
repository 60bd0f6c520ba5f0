"""Where nothing can confine a command line: what works then, and that nothing else runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from adb_lab import Lab, device
from adb_wire import Computer

from simphone.shell import container


@pytest.fixture
async def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Computer]:
    async with _without_bubblewrap(tmp_path, monkeypatch) as lab, Computer(lab.port) as computer:
        yield computer


def _without_bubblewrap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AbstractAsyncContextManager[Lab]:
    monkeypatch.setattr(container.shutil, "which", lambda name, path=None: None)
    return device(folder)


async def test_simulated_commands_work_with_quotes_and_one_after_the_other(computer: Computer) -> None:
    assert await computer.run("input text 'a b' && settings || echo $?") == (
        0,
        b"to standard output\n7\n",
        b"to standard error\n",
    )


async def test_a_few_commands_on_files_work(computer: Computer) -> None:
    assert (await computer.run("mkdir -p /sdcard/new/folder"))[0] == 0
    assert (await computer.run("mkdir /data/local/tmp/a"))[0] == 0
    assert await computer.run("ls /sdcard/new") == (0, b"folder\n", b"")
    assert await computer.run("cat", b"from the computer") == (0, b"from the computer", b"")
    code, _, errors = await computer.run("cat /sdcard/none; rm /sdcard/none")
    assert (code, errors.count(b"No such file or directory\n")) == (1, 2)
    assert await computer.run("rm -f /sdcard/none") == (0, b"", b"")
    assert await computer.run("echo -n a; echo b") == (0, b"ab\n", b"")


@pytest.mark.parametrize(
    "line",
    ["cat /etc/passwd", "ls /", "ls /sdcard/../..", "rm /etc/passwd", "mkdir /tmp/a", "mkdir -p /tmp/a", "cat ../x"],
)
async def test_nothing_of_the_host_is_reached(computer: Computer, line: str) -> None:
    code, out, errors = await computer.run(line)
    assert (code, out) == (1, b"")
    assert errors.endswith(b"Permission denied\n")


@pytest.mark.parametrize(
    "line", ["id", "touch /tmp/x", "echo a > /sdcard/a", "ls | cat", "echo $HOME", "a=b", "sh -c id", "input tap 1 2 &"]
)
async def test_whatever_takes_a_shell_says_what_to_install(computer: Computer, line: str) -> None:
    code, out, errors = await computer.run(line)
    assert (code, out) == (127, b"")
    assert errors.decode() == (
        f"/system/bin/sh: {line.split()[0]}: not available in this simulation: install bubblewrap and mksh\n"
    )


async def test_a_shell_without_a_line_reads_its_lines(computer: Computer) -> None:
    assert await computer.run("", b"echo one\ninput tap 1 2; echo $?\n\nid\necho last\nexit\necho no") == (
        0,
        b"one\n0\nlast\n",
        b"/system/bin/sh: id: not available in this simulation: install bubblewrap and mksh\n",
    )


async def test_it_says_what_bubblewrap_said_where_that_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(
        container.shutil, "which", lambda name, path=None: str(broken) if name == "bwrap" else "/bin/sh"
    )
    async with device(tmp_path / "phone") as lab, Computer(lab.port) as computer:
        for _ in range(2):
            code, out, errors = await computer.run("id")
            assert (code, out) == (127, b"")
            assert b"bwrap: No permissions to create new namespace" in errors


def _containers(folder: Path) -> list[Path]:
    return list(folder.rglob(".container"))


async def test_the_folders_of_a_container_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _without_bubblewrap(tmp_path, monkeypatch) as lab, Computer(lab.port) as computer:
        await computer.run("id")
        await computer.run("id")
    assert _containers(tmp_path) == []
