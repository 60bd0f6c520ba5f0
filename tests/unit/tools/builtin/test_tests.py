from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import quick_pytest

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.builtin import tests as tests_tool
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]

CALC = """\
def total(xs):
    return add(xs)


def add(xs):
    return sum(xs) + 1


def boom():
    raise KeyError("x")


def unused():
    pass
"""
TESTS = """\
import calc


def test_total():
    assert calc.total([1]) == 1


class TestBoom:
    def test_boom(self, tmp_path):
        print("x" * 100_000)
        calc.boom()


def test_ok():
    assert object() != object()
"""


@pytest.fixture
def project(ctx: ToolContext) -> Path:
    (ctx.workspace / "calc.py").write_text(CALC)
    (ctx.workspace / "other.py").write_text("def f(): ...\n")
    (ctx.workspace / "tests").mkdir()
    (ctx.workspace / "tests" / "test_calc.py").write_text(TESTS)
    (ctx.workspace / "conftest.py").write_text("")
    (ctx.workspace / "pytest.ini").write_text(quick_pytest.INI)
    return ctx.workspace


async def test_the_report_tells_what_fails_and_where_and_narrows_what_comes_next(
    ctx: ToolContext, call: Call, registry: Registry, project: Path
) -> None:
    first, again = await call("test.run"), await call("test.run")
    assert first == again, "no times, addresses or temporary folders"
    assert not first.ok
    assert first.data == {
        "passed": 1,
        "failed": 2,
        "failures": [
            {
                "test": "tests/test_calc.py::test_total",
                "message": "calc.total([1]) gave 2, but must give 1\nassert 2 == 1",
                "files": [{"path": "tests/test_calc.py", "line": 5, "function": "test_total"}],
            },
            {
                "test": "tests/test_calc.py::TestBoom::test_boom",
                "message": "KeyError: 'x'",
                "files": [
                    {"path": "tests/test_calc.py", "line": 11, "function": "test_boom"},
                    {"path": "calc.py", "line": 10, "function": "boom"},
                ],
            },
        ],
    }
    assert first.text.startswith("2 failed, 1 passed\n\nFAILED tests/test_calc.py::test_total\n")
    assert "\ncalc.total([1]) gave 2, but must give 1\nassert 2 == 1\n" in first.text
    assert "5|     assert calc.total([1]) == 1" in first.text
    assert len(first.text) < 1_000
    assert sorted(os.listdir(project)) == ["calc.py", "conftest.py", "other.py", "pytest.ini", "tests"], "no caches"

    failed = {"tool": "test.run", "args": {}, **first.model_dump()}
    schema = registry.get("file.read").schema(ctx, Situation("fix it", results=(failed,)))
    assert schema["properties"]["path"]["enum"] == ["calc.py"]
    read = {"tool": "file.read", "args": {}, "ok": True, "text": "", "data": {"path": "calc.py"}}
    schema = registry.get("file.edit").schema(ctx, Situation("fix it", results=(failed, read)))
    brief = schema["properties"]["source"]["description"]
    assert "Write the corrected boom, the whole of it. If the fault is in total or add," in brief


async def test_tests_that_pass_are_ok_and_a_target_limits_them(call: Call, project: Path) -> None:
    result = await call("test.run", target="tests/test_calc.py::test_ok")
    assert result.ok
    assert result.text == "0 failed, 1 passed"


async def test_a_project_around_the_workspace_does_not_lend_it_its_configuration(call: Call, project: Path) -> None:
    (project.parent / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    (project / "pytest.ini").unlink()
    (project.parent / "conftest.py").write_text("raise SystemExit('read')\n")
    result = await call("test.run", target="tests/test_calc.py")
    assert result.data["failures"][0]["test"] == "tests/test_calc.py::test_total"


async def test_the_configuration_of_the_workspace_holds(call: Call, project: Path) -> None:
    (project / "pytest.ini").unlink()
    (project / "pyproject.toml").write_text(f"{quick_pytest.TOML}python_functions = 'check_*'\n")
    (project / "tests" / "test_calc.py").write_text("def check_one(): assert 1\n")
    assert (await call("test.run")).text == "0 failed, 1 passed"


async def test_no_tests_are_not_a_success(ctx: ToolContext, call: Call) -> None:
    result = await call("test.run")
    assert not result.ok
    assert result.text == "no tests were found"


async def test_a_file_that_cannot_be_collected_is_a_failure(call: Call, project: Path) -> None:
    (project / "tests" / "test_calc.py").write_text("import nope\n")
    result = await call("test.run")
    assert not result.ok
    assert "No module named 'nope'" in result.text
    assert result.data["failures"][0]["test"] == "tests/test_calc.py"


async def test_an_endless_loop_is_ended_and_located(call: Call, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tests_tool, "_TESTS_S", 4.0)  # most of it is pytest's own start on a busy machine
    monkeypatch.setattr(tests_tool, "_DUMP_S", 0.2)
    (project / "calc.py").write_text("def total(xs):\n    while True:\n        pass\n")
    result = await asyncio.wait_for(call("test.run", target="tests/test_calc.py::test_total"), 30)
    assert not result.ok
    assert "did not end within 4 s" in result.text
    assert result.data["failures"][0]["files"][-1]["path"] == "calc.py"


async def test_tests_that_take_pytest_down_are_reported(call: Call, project: Path) -> None:
    (project / "tests" / "test_calc.py").write_text("import os\n\ndef test_exit():\n    os._exit(9)\n")
    result = await call("test.run")
    assert not result.ok
    assert "pytest ended with code 9" in result.text


HANGING = """\
import os, sys, time

def test_fork():
    if os.fork() == 0:
        os.setsid()
        open("pid", "w").write(str(os.getpid()))
        while True:
            time.sleep(1)
    while True:
        time.sleep(1)
"""


async def test_tests_that_fork_and_hang_are_ended_with_all_they_started(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tests_tool, "_TESTS_S", 4.0)
    monkeypatch.setattr(tests_tool, "_DUMP_S", 0.5)
    (project / "tests" / "test_calc.py").write_text(HANGING)
    result = await call("test.run")
    assert not result.ok and "did not end within 4 s" in result.text
    pid = int((project / "pid").read_text())
    if sys.platform == "linux":  # elsewhere it has left the group that is ended
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("print('x' * 20_000_000, file=sys.__stderr__)\n    assert 0, 'after the flood'", "after the flood"),
        ("bytearray(8 << 30)", "MemoryError"),
        ("open('big', 'wb').truncate(10 << 30)", "File too large"),
        ("os.kill(os.getpid(), 9)", "pytest ended with code -9"),
        ("os.kill(os.getppid(), 9); time.sleep(60)", "pytest ended with code -9"),
    ],
)
async def test_a_test_that_takes_too_much_is_a_failure_like_any_other(
    call: Call, project: Path, body: str, said: str
) -> None:
    (project / "tests" / "test_calc.py").write_text(f"import os, sys, time\n\ndef test_it():\n    {body}\n")
    result = await call("test.run")
    assert not result.ok
    assert re.search(said, result.text), result.text
    assert len(result.text) < 7_000
    assert not (project / "big").exists() or (project / "big").stat().st_size < 1 << 30


async def test_a_target_outside_or_missing_is_refused(call: Call, project: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        await call("test.run", target="../x.py")
    with pytest.raises(ToolError, match=r"no test file tests/nope\.py"):
        await call("test.run", target="tests/nope.py")


async def test_a_workspace_without_pytest_says_how_to_get_it(call: Call, project: Path) -> None:
    python = project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'No module named pytest'; exit 1\n")
    python.chmod(0o755)
    with pytest.raises(ToolError, match="pytest is not installed") as error:
        await call("test.run")
    assert "pip install pytest" in error.value.hint


def test_targets_are_offered_only_where_the_request_names_them(
    ctx: ToolContext, registry: Registry, project: Path
) -> None:
    tool = registry.get("test.run")
    assert tool.schema(ctx, Situation("run the tests"))["properties"] == {}
    named = tool.schema(ctx, Situation("run tests/test_calc.py"))
    assert named["properties"]["target"]["enum"] == ["tests/test_calc.py"] and "required" not in named


@pytest.mark.parametrize("test", ["::test_total", "::TestCalc::test_total", "::test_total[1-a b]"])
def test_where_the_request_is_about_one_test_that_one_is_run(
    ctx: ToolContext, registry: Registry, project: Path, test: str
) -> None:
    schema = registry.get("test.run").schema(ctx, Situation(f"The test tests/test_calc.py{test} fails. Repair it."))
    assert schema["properties"]["target"]["enum"] == [f"tests/test_calc.py{test}"]
    assert schema["required"] == ["target"]
    two = Situation(f"tests/test_calc.py{test} and tests/test_calc.py::test_ok fail")
    assert "required" not in registry.get("test.run").schema(ctx, two)
