from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from gateway.errors import ToolError
from gateway.tools.sandbox import run_program


def _python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


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
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=1.0)
    assert finished.code is None
    assert time.monotonic() - begun < 10
    await asyncio.sleep(0.05)
    assert not _alive(int(finished.output))


async def test_what_a_program_leaves_in_the_background_is_ended_with_it(tmp_path: Path) -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid)"
    begun = time.monotonic()
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=30)
    assert finished.code == 0
    assert time.monotonic() - begun < 10
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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot limit another process")
async def test_memory_is_limited(tmp_path: Path) -> None:
    # the limit is set from outside, just after the start
    code = "import time; time.sleep(0.2); bytearray(6 << 30)"
    finished = await run_program(_python(code), cwd=tmp_path, deadline_s=20)
    assert "MemoryError" in finished.output


async def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ToolError, match="cannot be started"):
        await run_program(["no-such-program"], cwd=tmp_path, deadline_s=5)
    assert len(os.listdir("/proc/self/fd")) <= before + 1
