"""The four builtin conditions on a small Python project, with the real programs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from condition_lab import SOUND, evaluated, listing, program, project, write

from gateway.loop.conditions.evaluation import all_planned, evaluate, same
from gateway.loop.conditions.sources import copy_sources
from gateway.loop.state import BUILTIN_CONDITIONS, ConditionSetting, Finding


async def test_a_sound_project_meets_all_conditions_and_is_left_as_it_was(tmp_path: Path) -> None:
    root = project(tmp_path / "demo")
    before = listing(root)
    told: list[str] = []
    results = await evaluate(BUILTIN_CONDITIONS, root, {}, told=lambda result: told.append(result.name))
    assert [each.name for each in results] == list(BUILTIN_CONDITIONS)
    assert sorted(told) == sorted(BUILTIN_CONDITIONS)
    assert [each.met for each in results] == [True] * 4, results
    assert [each.summary for each in results] == [
        "1 test passed",
        "built demo-0.1-py3-none-any.whl and demo-0.1.tar.gz",
        "ruff: no findings",
        "bandit: no findings; dependencies not audited (pip-audit is not installed)",
    ]
    assert all(each.problem == "" and each.findings == () and each.total == 0 and each.s > 0 for each in results)
    assert listing(root) == before
    assert [each.command for each in all_planned(BUILTIN_CONDITIONS, root, {})] == [each.command for each in results]


async def test_a_failing_test_is_a_finding_that_says_what_a_call_gave(tmp_path: Path) -> None:
    root = project(tmp_path, calc="def total(xs):\n    return sum(xs) + 1\n")
    first, again = await evaluated("all_tests_pass", root), await evaluated("all_tests_pass", root)
    assert not first.met and first.problem == ""
    assert first.summary == "1 failed, 0 passed"
    assert first.findings == (
        Finding(
            where="tests/test_calc.py::test_total",
            message="calc.total([1]) gave 2, but must give 1\nassert 2 == 1\nat tests/test_calc.py:5 in test_total",
        ),
    )
    assert "FAILED tests/test_calc.py::test_total" in first.report
    assert first.with_(s=0) == again.with_(s=0)
    assert same([first], [again])


async def test_findings_are_the_first_twenty_in_the_order_of_the_file_and_all_are_counted(tmp_path: Path) -> None:
    tests = "import pytest\n\n\n@pytest.mark.parametrize('n', range(30))\ndef test_n(n):\n    assert n < 0\n"
    result = await evaluated("all_tests_pass", project(tmp_path, tests=tests + "\n\ndef test_a():\n    assert 0\n"))
    assert result.total == 31
    assert len(result.findings) == 20
    assert result.summary == "31 failed, 0 passed"


async def test_tests_that_are_all_skipped_are_not_passed(tmp_path: Path) -> None:
    root = project(tmp_path, tests="import pytest\n\n\n@pytest.mark.skip\ndef test_it():\n    pass\n")
    result = await evaluated("all_tests_pass", root)
    assert not result.met
    assert result.problem.startswith("no tests were found")


async def test_a_report_of_coverage_is_not_made_where_the_project_asks_for_one(tmp_path: Path) -> None:
    root = project(tmp_path)
    pyproject = SOUND["pyproject.toml"].replace('addopts = "', 'addopts = "--cov-report=xml ')
    plugin = (
        "def pytest_addoption(parser):\n    parser.addoption('--cov-report')\n"
        "    parser.addoption('--no-cov', action='store_true')\n\n\n"
        "def pytest_unconfigure(config):\n    if not config.getoption('--no-cov'):\n"
        "        open('coverage.xml', 'w').close()\n"
    )
    write(root, {"pyproject.toml": pyproject, "conftest.py": plugin})
    assert (await evaluated("all_tests_pass", root)).met
    assert not (root / "coverage.xml").exists()


async def test_pytest_that_fails_without_a_failing_test_is_not_met(tmp_path: Path) -> None:
    root = write(project(tmp_path), {"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n"})
    result = await evaluated("all_tests_pass", root)
    assert not result.met
    assert result.findings[0].message.startswith("pytest ended with code 1, though no test failed")


async def test_what_the_linter_finds_says_where_and_how_it_is_mended(tmp_path: Path) -> None:
    root = project(tmp_path, calc="import os\n\n\ndef total(xs):\n    return sum(xs)\n")
    result = await evaluated("linting_clean", root)
    assert not result.met
    assert result.findings == (
        Finding(
            where="calc.py:1",
            message="`os` imported but unused (to mend it: delete this line)",
            code="F401",
        ),
    )
    assert (result.total, result.summary) == (1, "ruff: 1 finding")


async def test_what_the_linter_proposes_within_a_line_is_told_as_that_line(tmp_path: Path) -> None:
    root = project(tmp_path, calc="def none(x):\n    return f'nothing'\n")
    (finding,) = (await evaluated("linting_clean", root)).findings
    assert finding.message.endswith("(to mend it: write `return 'nothing'`)")


async def test_the_linter_mends_nothing_and_takes_no_configuration_from_around_the_workspace(tmp_path: Path) -> None:
    root = project(tmp_path / "demo", calc="import os\n")
    (tmp_path / "ruff.toml").write_text("lint.ignore = ['F401']\nfix = true\n")
    assert (await evaluated("linting_clean", root)).total == 1
    (root / "ruff.toml").write_text("fix = true\n")
    before = listing(root)
    assert (await evaluated("linting_clean", root)).total == 1
    assert listing(root) == before
    (root / "ruff.toml").write_text("lint.ignore = ['F401']\n")
    assert (await evaluated("linting_clean", root)).met


async def test_hundreds_of_findings_are_counted(tmp_path: Path) -> None:
    root = project(tmp_path, calc="".join(f"import a{number}\n" for number in range(500)))
    result = await evaluated("linting_clean", root)
    assert result.total >= 500
    assert [each.where for each in result.findings if each.code == "F401"][:2] == ["calc.py:1", "calc.py:2"]
    assert len(result.findings) == 20
    assert len(result.report) <= 8_000


async def test_a_configuration_that_ruff_cannot_read_is_a_problem(tmp_path: Path) -> None:
    root = write(project(tmp_path), {"ruff.toml": "nope = 1\n"})
    result = await evaluated("linting_clean", root)
    assert not result.met
    assert "unknown field `nope`" in result.problem
    assert str(tmp_path) not in result.problem


@pytest.mark.parametrize("condition", ["linting_clean", "security_scan_clean"])
async def test_a_project_without_code_is_not_clean_but_unknown(tmp_path: Path, condition: str) -> None:
    result = await evaluated(condition, write(tmp_path, {"pyproject.toml": "[project]\nname = 'x'\n"}))
    assert not result.met
    assert "Python" in result.problem


async def test_what_bandit_finds_in_the_code_counts_and_not_what_is_in_tests(tmp_path: Path) -> None:
    calc = "import subprocess\n\n\ndef run(command):\n    return subprocess.call(command, shell=True)\n"
    root = project(tmp_path, calc=calc, tests="def test_it():\n    assert eval('1')\n")
    write(root, {"src/test_more.py": "assert eval('1')\n", ".venv/lib/x/site-packages/y.py": "eval('1')\n"})
    result = await evaluated("security_scan_clean", root)
    assert not result.met
    assert [(each.where, each.code) for each in result.findings] == [("calc.py:1", "B404"), ("calc.py:5", "B602")]
    assert result.findings[1].message.endswith("security issue. (severity high, confidence high)")
    assert result.summary.startswith("bandit: 2 findings; ")
    marked = calc.replace("subprocess\n", "subprocess  # nosec\n", 1).replace("=True)", "=True)  # nosec B602")
    (root / "calc.py").write_text(marked)
    result = await evaluated("security_scan_clean", root)
    assert result.met
    assert "(2 suppressed by # nosec)" in result.summary


async def test_a_file_that_bandit_cannot_read_is_a_finding(tmp_path: Path) -> None:
    result = await evaluated("security_scan_clean", project(tmp_path, calc="def total(:\n"))
    assert not result.met
    assert result.findings[0].where == "calc.py:1"
    assert result.findings[0].message.startswith("not scanned: ")


async def test_the_configuration_of_bandit_holds(tmp_path: Path) -> None:
    root = project(tmp_path, calc="import subprocess\n")
    assert (await evaluated("security_scan_clean", root)).total == 1
    (root / "pyproject.toml").write_text(SOUND["pyproject.toml"] + '\n[tool.bandit]\nskips = ["B404"]\n')
    assert (await evaluated("security_scan_clean", root)).met


AUDIT = """\
#!{python}
import json, sys
if {reached}:
    made = sys.argv[sys.argv.index("-o") + 1]
    vulnerability = {{"id": "PYSEC-1", "fix_versions": ["2.0"], "description": "It is bad."}}
    found = [{{"name": "old", "version": "1.0", "vulns": [vulnerability]}}, {{"name": "b", "skip_reason": "?"}}]
    open(made, "w").write(json.dumps({{"dependencies": found}}))
print("ConnectionError: no route")
sys.exit(1)
"""


async def test_vulnerable_packages_count_where_they_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(project(tmp_path / "demo"), {"requirements.txt": "old==1.0\n"})
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    program(tmp_path / "bin", "pip-audit", AUDIT.format(python=sys.executable, reached=True))
    result = await evaluated("security_scan_clean", root)
    assert not result.met
    assert result.findings == (Finding(where="old 1.0", message="It is bad. (fixed in 2.0)", code="PYSEC-1"),)
    assert result.summary == "bandit: no findings; pip-audit: 1 vulnerability"
    program(tmp_path / "bin", "pip-audit", AUDIT.format(python=sys.executable, reached=False))
    result = await evaluated("security_scan_clean", root)
    assert result.met
    assert result.summary == "bandit: no findings; dependencies not audited (pip-audit got no answer)"


async def test_a_build_that_fails_says_why_and_where_in_the_workspace(tmp_path: Path) -> None:
    root = project(tmp_path, calc="def total(:\n")
    before = listing(root)
    first, again = await evaluated("build_succeeds", root), await evaluated("build_succeeds", root)
    assert not first.met and first.problem == ""
    assert first.total == 1
    assert first.findings[0].where == "calc.py:1"
    assert "SyntaxError" in first.findings[0].message
    assert first.with_(s=0) == again.with_(s=0), "no temporary paths"
    assert listing(root) == before


async def test_what_a_build_requires_is_fetched_where_it_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip is told that there is no index, so that no network is needed to see it fail."""
    monkeypatch.setenv("HOME", str(write(tmp_path / "home", {".config/pip/pip.conf": "[global]\nno-index = true\n"})))
    pyproject = SOUND["pyproject.toml"].replace("requires = []", 'requires = ["not-there-at-all"]')
    result = await evaluated("build_succeeds", project(tmp_path / "demo", pyproject=pyproject))
    assert not result.met
    assert result.problem == "what the build requires is not here, and could not be fetched"
    assert result.findings[0].where == "pyproject.toml"
    assert "not-there-at-all" in result.findings[0].message


def test_a_copy_for_the_build_has_what_people_wrote_and_the_version_that_git_tells(tmp_path: Path) -> None:
    root = project(tmp_path / "demo")
    write(root, {"build/lib/x.py": "", "src/build/x.py": "", ".venv/pyvenv.cfg": "", "env/pyvenv.cfg": "", "a.pyc": ""})
    (root / "link").symlink_to("calc.py")
    (root / "folder").symlink_to("src")
    for arguments in (
        ["init", "-q"],
        ["add", "calc.py"],
        ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm1"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=root)
    index = (root / ".git/index").read_bytes()
    copy_sources(root, tmp_path / "copy")
    assert {each for each in listing(tmp_path / "copy") if not each.startswith(".git/")} >= {
        "src/build/x.py",
        "calc.py",
    }
    assert not {"build", ".venv", "env"} & {each.name for each in (tmp_path / "copy").iterdir()}
    assert [(tmp_path / "copy" / each).is_symlink() for each in ("link", "folder")] == [True, True]
    assert subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=tmp_path / "copy") == head
    shown = subprocess.check_output(["git", "show", "HEAD:calc.py"], cwd=tmp_path / "copy", text=True)
    assert shown == SOUND["calc.py"]
    subprocess.run(["git", "status"], cwd=tmp_path / "copy", check=True, capture_output=True)
    assert (root / ".git/index").read_bytes() == index


async def test_a_command_that_is_configured_takes_the_place_of_what_is_found(tmp_path: Path) -> None:
    root = project(tmp_path)
    check = write(root, {"check.py": "import sys\nprint('calc.py:2: not today')\nsys.exit(3)\n"})
    command = f"{sys.executable} check.py"
    result = await evaluated("linting_clean", check, command=command)
    assert not result.met
    assert result.command == command
    assert result.findings == (Finding(where="calc.py:2", message="not today"),)
    assert re.search(r"ended with code 3$", result.summary)
    (planned,) = all_planned(["linting_clean"], root, {"linting_clean": ConditionSetting(command=command)})
    assert (planned.command, planned.why) == (command, "loop.conditions.linting_clean.command")
