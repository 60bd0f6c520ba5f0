from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import ToolError
from gateway.tools.sandbox import FILE_BYTES, _told, run_program


def _python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


async def _until(condition: Callable[[], bool]) -> None:
    """Other processes tell nobody what they do: look again and again, for a minute at most."""
    for _ in range(12_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that within a minute")


async def test_output_and_code_come_back(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); sys.stderr.write('err'); sys.exit(3)"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20)
    assert finished.code == 3
    assert str(tmp_path) in finished.output
    assert "err" in finished.output


async def test_the_deadline_ends_the_whole_process_group(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=3.0)
    assert finished.code is None
    assert time.monotonic() - begun < 50
    await asyncio.sleep(0.05)
    assert not _alive(int(finished.output))


async def test_what_a_program_leaves_in_the_background_is_ended_with_it(tmp_path: Path) -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid)"
    begun = time.monotonic()
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=30)
    assert finished.code == 0
    assert time.monotonic() - begun < 50
    await asyncio.sleep(0.05)
    assert not _alive(int(finished.output))


async def test_cancellation_ends_the_program(tmp_path: Path) -> None:
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    task = asyncio.create_task(run_program(_python(code), cwd=tmp_path, deadline_s=30))
    for _ in range(500):
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _alive(int((tmp_path / "pid").read_text()))


async def test_a_flood_of_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    code = "import sys; print('begin'); sys.stdout.write('x' * 50_000_000); print('end')"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=30, output_bytes=10_000)
    assert finished.output.startswith("begin")
    assert finished.output.endswith("end\n")
    assert "bytes left out" in finished.output
    assert len(finished.output) < 11_000


async def test_secrets_in_the_environment_are_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os; print(sorted(os.environ))"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20, env={"MINE": "1"})
    assert "OPENAI_API_KEY" not in finished.output
    assert "'MINE'" in finished.output
    assert "'PATH'" in finished.output


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not limit address space")
async def test_memory_is_limited(tmp_path: Path) -> None:
    finished = await run_program(_python("bytearray(6 << 30)"), cwd=tmp_path, deadline_s=20)
    assert "MemoryError" in finished.output


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not limit address space")
async def test_a_program_that_reserves_much_memory_can_be_let(tmp_path: Path) -> None:
    code = "import mmap; mmap.mmap(-1, 6 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ); print('reserved')"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20, memory_bytes=None)
    assert finished.output == "reserved\n"
    assert "reserved" not in (await run_program(_python(code), cwd=tmp_path, deadline_s=20)).output


async def test_a_file_cannot_grow_without_end(tmp_path: Path) -> None:
    code = "import os; f = open('big', 'wb'); f.truncate(600 << 20)"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20)
    assert "File too large" in finished.output
    assert (tmp_path / "big").stat().st_size <= FILE_BYTES


HOLDS = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"  # and never reads what it is given


@pytest.mark.parametrize("moment", [1, 3])
async def test_cancellation_while_the_program_is_being_started_ends_it_too(tmp_path: Path, moment: int) -> None:
    """The loop is so slow that the program runs before it is known to have started."""
    busy = True

    def slow() -> None:
        time.sleep(0.1)
        if busy:
            asyncio.get_running_loop().call_soon(slow)

    task = asyncio.create_task(run_program(_python(HOLDS), cwd=tmp_path, deadline_s=60, stdin=b"abc"))
    for _ in range(moment):
        await asyncio.sleep(0)
    task.cancel()
    slow()
    await asyncio.wait({task}, timeout=20)
    busy = False
    assert task.cancelled()
    pid = tmp_path / "pid"
    assert not (pid.exists() and pid.read_text() and _alive(int(pid.read_text())))


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        open("pid.new", "w").write(str(os.getpid()))
        os.rename("pid.new", "pid")
        time.sleep(60)
    os._exit(0)
while not os.path.exists("pid"):
    time.sleep(0.001)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to another process than the first")
@pytest.mark.parametrize("then", ["", "time.sleep(60)", "os.kill(os.getpid(), 9)"])
async def test_a_process_that_left_for_a_session_of_its_own_is_ended(tmp_path: Path, then: str) -> None:
    await run_program(_python(DAEMON + then), cwd=tmp_path, deadline_s=3)
    assert not _alive(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to another process than the first")
async def test_a_gateway_that_is_killed_leaves_nothing_running(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom gateway.tools.sandbox import FILE_BYTES, run_program\n"
        f"asyncio.run(run_program([sys.executable, '-S', '-c', {DAEMON + 'time.sleep(60)'!r}], "
        f"cwd=Path({str(tmp_path)!r}), deadline_s=60))"
    )
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    await _until(lambda: (tmp_path / "pid").exists())
    gateway.kill()
    await gateway.wait()
    # it is the supervisor that ends it, as soon as it has seen the gateway's end
    await _until(lambda: not _alive(int((tmp_path / "pid").read_text())))


async def test_a_program_that_ends_its_supervisor_is_ended_too(tmp_path: Path) -> None:
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); os.kill(os.getppid(), 9); time.sleep(60)"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=30)
    assert finished.code == -9
    await _until(lambda: not _alive(int((tmp_path / "pid").read_text())))


async def test_one_that_ends_its_supervisor_and_reads_nothing_is_ended_at_its_deadline(tmp_path: Path) -> None:
    code = f"import os; os.kill(os.getppid(), 9); {HOLDS}"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=2, stdin=b"x" * 1_000_000)
    assert finished.code is None
    await _until(lambda: not _alive(int((tmp_path / "pid").read_text())))


async def test_many_that_fork_again_and_again_are_all_ended(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    os.fork()\n"
        "os.setsid() if os.getpid() != os.getpgid(0) else None\n"
        "open(f'{os.getpid()}.pid', 'w').close()\n"
        "time.sleep(60)\n"
    )
    task = asyncio.create_task(run_program(_python(code), cwd=tmp_path, deadline_s=60))
    await _until(lambda: len(os.listdir(tmp_path)) == 64)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [each for each in os.listdir(tmp_path) if _alive(int(each.removesuffix(".pid")))]


async def test_standard_input_and_errors_apart(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read()[::-1]); sys.stderr.write('err')"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20, stdin=b"abc", errors_apart=True)
    assert (finished.code, finished.output, finished.errors) == (0, "cba\n", "err")


async def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ToolError, match="cannot be started"):
        await run_program(["no-such-program"], cwd=tmp_path, deadline_s=5)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists open descriptors there")
async def test_a_program_has_no_other_descriptors_than_its_streams(tmp_path: Path) -> None:
    code = "import os\nfor each in range(3, 1000):\n  try: print(each, os.fstat(each))\n  except OSError: pass"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20)
    assert (finished.code, finished.output) == (0, "")


def test_what_the_supervisor_does_not_say_is_passed_over() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"started 70\nnonsense\nexit\nstarted 1\nexit -1\nowned 3\n\xff\xfe 2\nexit 3\nexit 4\n")
        assert _told(ours) == {"started": 70, "exit": 3}
