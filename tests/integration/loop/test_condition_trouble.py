"""What programs that judge can do wrong: each is a result, and nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from condition_lab import evaluated, listing, program, project, write
from loop_lab import is_alive

from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.state import BUILTIN_CONDITIONS, ConditionSetting


def script(root: Path, text: str) -> str:
    """A condition that runs a Python program."""
    write(root, {"check.py": text})
    return f"command:{sys.executable} check.py"


@pytest.mark.parametrize("condition", ["command:no-such-program --x", "command:./missing.sh", "command:check.txt"])
async def test_a_program_that_is_not_there_is_a_problem(tmp_path: Path, condition: str) -> None:
    write(tmp_path, {"check.txt": "not executable"})
    result = await evaluated(condition, tmp_path)
    assert not result.met
    assert "is not there, or cannot be run" in result.problem
    assert result.summary == f"not evaluated: {result.problem}"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("build_succeeds", "pyproject-build is not there, or cannot be run (python -m pip install build)"),
        ("linting_clean", "ruff is not there, or cannot be run (python -m pip install ruff)"),
        ("security_scan_clean", "bandit is not there, or cannot be run (python -m pip install bandit)"),
    ],
)
async def test_a_tool_that_is_missing_is_named_with_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "empty" / "python"))
    assert (await evaluated(condition, project(tmp_path / "demo"))).problem == said


async def test_pytest_that_is_not_installed_for_the_workspace_is_a_problem(tmp_path: Path) -> None:
    program(project(tmp_path) / ".venv/bin", "python", "#!/bin/sh\necho 'No module named pytest'; exit 1\n")
    result = await evaluated("all_tests_pass", tmp_path)
    assert not result.met
    assert result.problem.startswith("pytest is not installed for this workspace (")


async def test_an_interpreter_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    program(tmp_path, "check.sh", "#!/no/such/interpreter\n")
    result = await evaluated("command:./check.sh", tmp_path)
    assert not result.met
    assert "cannot be started: No such file or directory" in result.problem


async def test_a_program_that_hangs_is_ended_and_not_met(tmp_path: Path) -> None:
    result = await evaluated("command:sleep 600", tmp_path, timeout_s=0.5)
    assert not result.met
    assert result.problem == "it did not end within 0.5 s and was stopped"


async def test_tests_that_hang_are_ended_and_say_where_they_were(tmp_path: Path) -> None:
    root = project(tmp_path, calc="def total(xs):\n    while True:\n        pass\n")
    result = await evaluated("all_tests_pass", root, timeout_s=16)
    assert not result.met
    assert result.problem == "it did not end within 16 s and was stopped"
    assert result.findings[0].where.startswith("calc.py:")


FORKS = """\
import os, time
if os.fork() == 0:
    os.setsid()
    with open("pid.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid.new", "pid")
    while True:
        time.sleep(1)
while not os.path.exists("pid"):
    time.sleep(0.01)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it has left the group that is ended")
async def test_what_a_program_leaves_running_is_ended(tmp_path: Path) -> None:
    result = await evaluated(script(tmp_path, FORKS), tmp_path)
    assert result.met
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_flood_is_cut_and_its_end_is_kept(tmp_path: Path) -> None:
    flood = (
        "import sys\nfor _ in range(100):\n    sys.stdout.write('x' * 1_000_000)\nprint('\\nthe end')\nsys.exit(1)\n"
    )
    result = await evaluated(script(tmp_path, flood), tmp_path)
    assert not result.met
    assert result.problem == ""
    assert "the end" in result.findings[0].message
    assert len(result.model_dump_json()) < 20_000


async def test_a_flood_of_findings_is_counted_and_cut(tmp_path: Path) -> None:
    text = "import sys\nfor n in range(1, 2_001):\n    print(f'check.py:{n}: bad ' + 'y' * 50)\nsys.exit(1)\n"
    result = await evaluated(script(tmp_path, text), tmp_path)
    assert (result.total, len(result.findings)) == (2_000, 20)
    assert [each.where for each in result.findings[:2]] == ["check.py:1", "check.py:2"]


async def test_binary_and_broken_output_can_be_stored(tmp_path: Path) -> None:
    text = "import sys\nsys.stdout.buffer.write(bytes(range(256)) + '\\x1b[31m中文 ✓\\n'.encode())\nsys.exit(1)\n"
    result = await evaluated(script(tmp_path, text), tmp_path)
    assert not result.met
    assert "中文 ✓" in result.report
    assert "\0" not in result.report and "\x1b" not in result.report
    assert type(result).model_validate_json(result.model_dump_json()) == result


async def test_names_and_messages_of_tests_in_any_script_are_kept(tmp_path: Path) -> None:
    root = project(tmp_path, tests="def test_größe():\n    assert '中' == '文', '\\udcff\\0'\n")
    result = await evaluated("all_tests_pass", root)
    assert result.findings[0].where == "tests/test_calc.py::test_größe"
    assert "中" in result.findings[0].message
    result.model_dump_json()


async def test_a_program_that_is_killed_is_not_met(tmp_path: Path) -> None:
    result = await evaluated(script(tmp_path, "import os\nos.kill(os.getpid(), 9)\n"), tmp_path)
    assert not result.met
    assert result.summary.endswith("was ended by signal 9")


async def test_a_conftest_that_breaks_is_a_finding_at_its_line(tmp_path: Path) -> None:
    root = write(project(tmp_path), {"conftest.py": "x = 1\nimport nope\n"})
    result = await evaluated("all_tests_pass", root)
    assert not result.met and result.problem == ""
    assert result.findings[0].where == "conftest.py:2"
    assert "No module named 'nope'" in result.findings[0].message
    assert result.total == 1


async def test_a_test_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    result = await evaluated("all_tests_pass", project(tmp_path, tests="def test_it(:\n"))
    assert not result.met
    assert result.findings[0].where == "tests/test_calc.py"
    assert "SyntaxError" in result.findings[0].message


async def test_a_test_that_takes_pytest_down_is_a_problem_with_its_output(tmp_path: Path) -> None:
    root = project(tmp_path, tests="import os\n\n\ndef test_it():\n    os.write(2, b'oh no\\n')\n    os._exit(9)\n")
    result = await evaluated("all_tests_pass", root)
    assert not result.met
    assert result.problem == "pytest ended with code 9 and no report"
    assert result.findings[0].where == "(all tests)"


async def test_no_tests_are_not_all_tests(tmp_path: Path) -> None:
    result = await evaluated("all_tests_pass", write(tmp_path, {"calc.py": "x = 1\n"}))
    assert not result.met
    assert result.problem == "no tests were found: pytest looks for test_*.py and *_test.py"


async def test_a_workspace_that_is_gone_is_a_problem_of_each_condition(tmp_path: Path) -> None:
    names = [*BUILTIN_CONDITIONS, "command:true"]
    results = await evaluate(names, tmp_path / "gone", {})
    assert [each.name for each in results] == names
    assert {each.problem for each in results} == {f"the workspace {tmp_path / 'gone'} is gone"}
    assert not any(each.met for each in results)


async def test_a_workspace_that_goes_while_it_is_judged_is_a_problem_of_what_comes_after(tmp_path: Path) -> None:
    root = project(tmp_path / "demo")
    removes = script(root, f"import shutil\nshutil.rmtree({str(root)!r})\n")
    first, after = await evaluate([removes, "command:true"], root, {})
    assert first.met
    assert after.problem == f"the workspace {root} is gone"


async def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    root = project(tmp_path)
    for name in ("Makefile", "package.json", "data.pipe"):
        os.mkfifo(root / name)
    settings = dict.fromkeys(BUILTIN_CONDITIONS, ConditionSetting(timeout_s=60))
    assert [each.met for each in await evaluate(BUILTIN_CONDITIONS, root, settings)] == [True] * 4


async def test_a_tool_that_waits_for_a_pipe_has_its_time(tmp_path: Path) -> None:
    os.mkfifo(project(tmp_path) / "ruff.toml")
    result = await evaluated("linting_clean", tmp_path, timeout_s=1)
    assert result.problem == "it did not end within 1 s and was stopped"


async def test_an_unknown_condition_is_a_problem_and_the_others_are_evaluated(tmp_path: Path) -> None:
    unknown, known = await evaluate(["nope", "command:true"], tmp_path, {})
    assert unknown.problem.startswith("there is no exit condition 'nope' (")
    assert known.met


async def test_programs_see_no_secrets_and_their_temporary_files_are_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-should-not-be-seen-1234")
    write(tmp_path, {".venv/bin/mine": "#!/bin/sh\necho first\n"})
    (tmp_path / ".venv/bin/mine").chmod(0o755)
    text = (
        "import json, os, subprocess, tempfile\n"
        "made = tempfile.mkstemp()[1]\n"
        "said = subprocess.check_output(['mine'], text=True)\n"
        "json.dump({'env': dict(os.environ), 'made': made, 'said': said}, open('seen.json', 'w'))\n"
    )
    assert (await evaluated(script(tmp_path, text), tmp_path)).met
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert "sk-should-not-be-seen" not in str(seen["env"])
    assert seen["said"] == "first\n", "the workspace's own environment goes first"
    assert not Path(seen["made"]).exists()  # noqa: ASYNC240


async def test_an_evaluation_that_is_cancelled_leaves_nothing_running(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "began")
    condition = script(tmp_path, "import os, time\nopen('began', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    task = asyncio.create_task(evaluate([condition], tmp_path, {condition: ConditionSetting()}))
    pid = int(await asyncio.to_thread((tmp_path / "began").read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pid)


async def test_a_project_that_writes_when_it_is_built_has_nothing_left_behind(tmp_path: Path) -> None:
    root = project(tmp_path)
    before = listing(root)
    assert (await evaluated("build_succeeds", root)).met
    assert listing(root) == before
    shutil.rmtree(root / "tests")
    assert (await evaluated("build_succeeds", root)).met
