"""`echelon skills`: what is listed, shown, and put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import WORKSPACE, Cli

STEPS = ["open it", "read it", "close it"]


def make(root: Path, name: str, description: str) -> Path:
    file = root / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
    return file


def generate(cli: Cli, description: str) -> None:
    args = json.dumps({"name": "csv", "description": description, "instructions": STEPS})
    assert cli("tools", "call", "skill.generator", args).returncode == 0


def test_what_counts_what_is_shadowed_and_what_is_not_valid(cli: Cli) -> None:
    home = make(cli.home / "skills", "csv", "Of the home.")
    project = make(cli.folder / WORKSPACE / ".claude/skills", "csv", "Of the project.")
    make(cli.home / "skills", "bad", "").write_text("---\nname: other\ndescription: x\n---\n")
    rows = {line.split("  ")[0]: line for line in cli("skills", "list").stdout.splitlines()}
    assert "valid" in rows["csv"] and "Of the home." in rows["csv"]
    assert "not valid" in rows["bad"] and "must match skill name 'other'" in rows["bad"]
    listed = json.loads(cli("skills", "list", "--workspace", WORKSPACE, "--json").stdout)
    assert [(each["name"], each["origin"], each["path"], each["shadowed_by"]) for each in listed] == [
        ("bad", "home", str(cli.home / "skills/bad/SKILL.md"), None),
        ("csv", "workspace", str(project), None),
        ("csv", "home", str(home), str(project.parent)),
    ]
    assert "shadowed" in cli("skills", "list", "--workspace", WORKSPACE).stdout
    assert cli("skills", "show", "csv").stdout == home.read_text()
    assert cli("skills", "show", "csv", "--workspace", WORKSPACE).stdout == project.read_text()


def test_one_that_is_not_valid_is_shown_with_the_reason(cli: Cli) -> None:
    bad, binary = (make(cli.home / "skills", name, "") for name in ("bad", "binary"))
    bad.write_text("no front matter\n")
    binary.write_bytes(b"\xff\xfe\0")
    (cli.home / "skills/empty").mkdir()
    shown = cli("skills", "show", "bad")
    assert (shown.returncode, shown.stdout) == (2, "no front matter\n")
    assert "error: not valid: SKILL.md must start with YAML frontmatter" in shown.stderr
    assert cli("skills", "show", "binary").returncode == 2
    empty = cli("skills", "show", "empty")
    assert (empty.returncode, empty.stdout) == (2, "") and "there is no SKILL.md in it" in empty.stderr


def test_a_version_is_shown_and_put_back(cli: Cli) -> None:
    for description in ("Reads CSV, one way.", "Reads CSV, another way."):
        generate(cli, description)
    assert [line.split()[:2] for line in cli("skills", "versions", "csv").stdout.splitlines()[1:]] == [
        ["1", "kept"],
        ["2", "current"],
    ]
    assert "version 2" in cli("skills", "list").stdout
    assert "one way" in cli("skills", "show", "csv", "--version", "1").stdout
    shown = json.loads(cli("skills", "show", "csv", "--version", "1", "--json").stdout)
    assert (shown["version"], shown["description"]) == ("1", "Reads CSV, one way.")
    assert Path(shown["path"]).read_text() == shown["text"]
    restored = cli("skills", "restore", "csv", "1")
    assert "csv is at version 1 again; version 2 is kept: echelon skills restore csv 2" in restored.stderr
    assert "one way" in cli("skills", "show", "csv").stdout
    assert json.loads(cli("skills", "restore", "csv", "2", "--json").stdout)["former"] == 1
    assert "at version 2 already" in cli("skills", "restore", "csv", "2").stderr
    assert "another way" in cli("skills", "show", "csv").stdout


def test_a_skill_of_the_workspace_has_no_versions(cli: Cli) -> None:
    file = make(cli.folder / "skills", "mine", "Of the workspace.")
    told = cli("skills", "versions", "mine")
    assert told.returncode == 2 and "mine is a skill of the workspace" in told.stderr
    assert str(file.parent) in told.stderr and "Did you mean" not in told.stderr


def test_a_skill_that_was_deleted_is_put_back(cli: Cli) -> None:
    for description in ("Reads CSV, one way.", "Reads CSV, another way."):
        generate(cli, description)
    (cli.home / "skills/csv/SKILL.md").unlink()
    assert "one way" in cli("skills", "show", "csv", "--version", "1").stdout
    assert cli("skills", "restore", "csv", "1").returncode == 0
    assert "one way" in cli("skills", "show", "csv").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "cvs"), "Did you mean csv?"),
        (("show", "../csv"), "there is no skill '../csv'"),
        (("show", "csv", "--version", "7"), "has no version 7"),
        (("versions", "cvs"), "there is no skill 'cvs'. Did you mean csv?"),
        (("versions", "../csv"), "is not a skill's name"),
        (("restore", "csv", "7"), "there are: 1"),
        (("restore", "../csv", "1"), "is not a skill's name"),
        (("restore", "csv", "x"), "'x' is not a valid integer"),
    ],
)
def test_a_name_or_a_number_that_there_is_not_is_a_wrong_usage(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    generate(cli, "Reads CSV, one way.")
    told = cli("skills", *arguments)
    assert (told.returncode, told.stdout) == (2, "") and said in told.stderr
