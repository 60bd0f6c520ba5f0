from __future__ import annotations

from pathlib import Path

import pytest

from gateway.errors import UsageError
from gateway.loop.conditions.evaluation import all_planned, check_names, planned, same
from gateway.loop.state import BUILTIN_CONDITIONS, ConditionResult, ConditionSetting, Evaluation, Finding


def test_the_builtin_ones_and_commands_are_known() -> None:
    check_names([*BUILTIN_CONDITIONS, "command:./check.sh --fast", "command:grep 'a b' x", "command:'./my dir/check'"])


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("all_test_pass", "there is no exit condition 'all_test_pass'", "did you mean all_tests_pass?"),
        ("lint", "there is no exit condition 'lint'", "linting_clean"),
        ("", "there is no exit condition ''", "there are all_tests_pass"),
        ("command:", "the exit condition 'command:': the command is empty", "name a program"),
        ('command:"test -e x"', "there is no program 'test -e x'", "command:test -e x"),
        ("command:a | b", "a pipe", "a script (command:./mend.sh)"),
        ("command:a 'b", "cannot be read", "quotation"),
    ],
)
def test_others_are_refused_with_what_is_known(name: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_names(["build_succeeds", name])
    assert said in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("files", "condition", "command", "why"),
    [
        ({"a.py": ""}, "all_tests_pass", "python -m pytest", "*.py"),
        ({"tests/x.py": "", "package.json": "{}"}, "linting_clean", "ruff check .", "tests/"),
        ({"setup.py": ""}, "build_succeeds", "python -m build", "setup.py"),
        ({"pyproject.toml": "[tool.ruff.lint]\n"}, "linting_clean", "ruff check .", "pyproject.toml"),
        ({"setup.cfg": "", ".ruff.toml": ""}, "linting_clean", "ruff check .", ".ruff.toml"),
        (
            {"pyproject.toml": "[tool.x]\n", "Makefile": "all:\n\nbuild test: all\n\ttrue\n"},
            "build_succeeds",
            "make --no-print-directory build",
            "Makefile, target build",
        ),
        (
            {"Makefile": "build := 1\naudit:\n"},
            "security_scan_clean",
            "make --no-print-directory audit",
            "Makefile, target audit",
        ),
    ],
)
def test_what_would_be_run_is_said_with_its_reason(
    tmp_path: Path, files: dict[str, str], condition: str, command: str, why: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    plan = planned(condition, tmp_path, ConditionSetting())
    assert (plan.name, plan.command, plan.why, plan.problem) == (condition, command, why, "")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": ""},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "[["},
        {"package.json": "[]"},
        {"package.json": '{"scripts": 3}'},
        {"Makefile": "all:\n\techo test:\n"},
    ],
)
def test_where_nothing_says_it_the_setting_is_named(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    plan = planned("all_tests_pass", tmp_path, ConditionSetting())
    assert plan.command == "" and plan.problem == "nothing in the workspace says what to run for all_tests_pass"
    assert '--check all_tests_pass="PROGRAM"' in plan.hint and "loop.conditions.all_tests_pass.command" in plan.hint


def test_each_condition_has_its_plan_in_the_order_asked_for(tmp_path: Path) -> None:
    names = ["linting_clean", "command:true", "all_tests_pass"]
    plans = all_planned(names, tmp_path, {"linting_clean": ConditionSetting(command="true --lint")})
    assert [each.name for each in plans] == names
    assert [each.command for each in plans] == ["true --lint", "true", ""]
    assert planned("all_tests_pass", tmp_path / "gone", ConditionSetting()).problem.endswith("is not a folder")


def result(**changes: object) -> ConditionResult:
    finding = Finding(where="a.py:1", message="<X at 0x7f00deadbeef> took 3.2 s")
    given = {
        "name": "x",
        "met": False,
        "summary": "1 failed",
        "findings": (finding,),
        "total": 1,
        "report": "a",
        "s": 1.0,
    }
    return ConditionResult.model_validate({**given, **changes})


@pytest.mark.parametrize(
    ("changes", "equal"),
    [
        ({"s": 9.0}, True),
        ({"report": "b"}, True),
        ({"findings": (Finding(where="a.py:1", message="<X at 0x7f00deadbee0> took 4.1 s"),)}, True),
        ({"findings": (Finding(where="a.py:2", message="<X at 0x7f00deadbeef> took 3.2 s"),)}, False),
        ({"findings": (Finding(where="a.py:1", message="<X at 0x7f00deadbeef> took 3.2 s", code="E1"),)}, False),
        ({"findings": ()}, False),
        ({"total": 2}, False),
        ({"met": True}, False),
        ({"problem": "gone"}, False),
        ({"name": "y"}, False),
    ],
)
def test_evaluations_are_the_same_apart_from_what_differs_from_run_to_run(
    changes: dict[str, object], equal: bool
) -> None:
    assert same([result()], [result(**changes)]) is equal
    one, other = (
        Evaluation(iteration=number, at=number, results=(each,))
        for number, each in enumerate((result(), result(**changes)))
    )
    assert same(one, other) is equal
