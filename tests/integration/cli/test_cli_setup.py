"""`echelon patterns`, `models` and `doctor`, and the edge: help, and errors that nobody expected."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from echelon.cli import COMMANDS, echelon, start
from gateway import Settings

from .conftest import WORKSPACE, Cli, complete

BROKEN = "---\ntask_type: release\ndescription: make a release\nmax_steps: 3\n---\n1. CALL file.raed\n2. GO TO step 9\n"
MINE = "---\ntask_type: generic\ndescription: mine\nmax_steps: 3\n---\n1. CALL any of {*}\n2. GO TO step 1\n"


def test_patterns_say_where_they_come_from_and_what_is_broken(cli: Cli) -> None:
    for folder, name, text in (
        (cli.folder / WORKSPACE / ".echelon", "release", BROKEN),
        (cli.home, "generic", MINE),
    ):
        (folder / "prompts/patterns").mkdir(parents=True)
        (folder / "prompts/patterns" / f"{name}.md").write_text(text)
    listed = json.loads(cli("patterns", "list", "--json", "--workspace", WORKSPACE).stdout)
    by_type = {each["task_type"]: each for each in listed}
    assert (by_type["memory_op"]["origin"], by_type["memory_op"]["available"]) == ("shipped", True)
    assert (by_type["generic"]["origin"], by_type["generic"]["description"]) == ("home", "mine")
    assert (by_type["release"]["origin"], by_type["release"]["available"]) == ("workspace", False)
    assert "unavailable: " in cli("patterns", "list", "--workspace", WORKSPACE).stdout
    shown = cli("patterns", "show", "release", "--workspace", WORKSPACE)
    assert shown.returncode == 2 and shown.stdout == BROKEN and "unavailable" in shown.stderr
    checked = cli("patterns", "check", "--workspace", WORKSPACE)
    assert checked.returncode == 2
    assert "release.md:7: " in checked.stdout


def test_the_shipped_patterns_have_no_problem(cli: Cli) -> None:
    checked = cli("patterns", "check")
    assert (checked.returncode, checked.stdout) == (0, "")
    assert "no problems" in checked.stderr


def test_a_pattern_file_is_checked_by_itself(cli: Cli) -> None:
    file = cli.folder / "release.md"
    file.write_text(BROKEN.replace("2. GO TO step 9\n", ""))
    checked = cli("patterns", "check", "release.md")
    assert checked.returncode == 2
    assert checked.stdout == "release.md:6: there is no tool 'file.raed'. Did you mean file.read?\n"
    assert cli("patterns", "check", "nowhere.md").returncode == 2


def test_local_models_are_listed(cli: Cli) -> None:
    listed = {each["name"]: each for each in json.loads(cli("models", "list", "--json").stdout)}
    assert listed["local/qwen2.5-coder-1.5b"]["installed"] is False
    assert "local/smollm2-135m" in cli("models", "list").stdout
    assert cli("models", "pull", "nonsense").returncode == 2
    assert "was not there" in cli("models", "remove", "smollm2-135m").stderr


def test_the_doctor_says_what_to_do_about_each(cli: Cli) -> None:
    told = cli("doctor")
    assert told.returncode == 5
    assert "→ echelon models pull qwen2.5-coder-1.5b" in told.stdout
    checks = {each["name"]: each for each in json.loads(cli("doctor", "--json").stdout)}
    assert {"configuration", "database", "disk", "model", "patterns", "research", "tools", "adb", "chromium"} == set(
        checks
    )
    assert all(each["advice"] for each in checks.values() if each["status"] != "ok")


def test_the_doctor_sees_that_a_folder_has_no_documents(cli: Cli) -> None:
    folder = cli.folder / "pages"
    folder.mkdir()

    def told() -> tuple[str, str]:
        said = cli("doctor", "--json", ECHELON_RESEARCH__CORPUS_DIR=str(folder)).stdout
        found = next(each for each in json.loads(said) if each["name"] == "research")
        return found["status"], found["detail"]

    assert told() == ("warn", f"there are no documents in {folder}")
    (folder / "a.md").write_text("# Herons\n")
    assert told() == ("ok", f"documents in {folder}")
    assert not (cli.home / "corpus").exists(), "nothing was indexed"


def test_the_doctor_sees_in_patterns_what_their_check_does(cli: Cli) -> None:
    folder = cli.home / "prompts/patterns"
    folder.mkdir(parents=True)
    (folder / "release.md").write_text(
        "---\ntask_type: release\ndescription: d\nmax_steps: 3\n---\n1. CALL file.raed\n"
    )
    checks = {each["name"]: each for each in json.loads(cli("doctor", "--json").stdout)}
    assert checks["patterns"]["status"] == "warn"
    assert checks["patterns"]["detail"] == cli("patterns", "check").stdout.strip()


def test_the_doctor_survives_a_broken_configuration(cli: Cli) -> None:
    (cli.folder / "echelon.yaml").write_text("limits: {max_step: 3}\n")
    told = cli("doctor")
    assert told.returncode == 2
    assert "did you mean limits.max_steps?" in told.stdout and "disk" in told.stdout


def test_the_doctor_asks_whether_the_server_is_there(cli: Cli) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and never listens
        base = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        told = cli("doctor", "--model", "openai/any", "--api-base", base)
    assert told.returncode == 5
    assert "cannot be reached" in told.stdout


def test_the_doctor_finds_a_damaged_database(cli: Cli) -> None:
    (cli.home / "echelon.db").write_text("nonsense, " * 1000)
    checks = {each["name"]: each for each in json.loads(cli("doctor", "--json").stdout)}
    assert checks["database"]["status"] == "fail"


def test_help_loads_no_more_than_click() -> None:
    code = "import sys; from echelon.cli import start; start(['--help']); print('loaded:', *sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, _, loaded = ended.stdout.partition("loaded:")
    assert "doctor" in shown
    assert not {"rich", "pydantic", "yaml", "litellm", "asyncio", "gateway.config"} & set(loaded.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_help_what_it_does_and_shows_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = echelon.get_command(None, name)  # type: ignore[arg-type]
    paths = [[name], *([name, each] for each in getattr(command, "commands", {}))]
    for path in paths:
        assert start([*path, "--help"]) == 0
        assert "Examples:" in capsys.readouterr().out, path


def test_an_unexpected_error_is_told_in_two_lines_and_traced_with_v(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def defect(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("gateway.config.Settings.load", defect)
    assert start(["turns", "list"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == "error: RuntimeError: boom"
    assert start(["turns", "list", "-v"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_anywhere_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gateway.config.Settings.load", interrupted)
    assert start(["turns", "list"]) == 130


@pytest.mark.parametrize(
    ("option", "used"), [([], "http://began/v1"), (["--api-base", "http://now/v1"], "http://now/v1")]
)
def test_a_run_goes_on_with_the_server_that_it_began_with(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, option: list[str], used: str
) -> None:
    cli("run", "Hi", "--model", cli.script(complete()), "--api-base", "http://began/v1")
    seen = []

    def carry_out(settings: Settings, *_: object, **__: object) -> int:
        seen.append(settings.api_base)
        return 0

    monkeypatch.setattr("echelon.going_on.carry_out", carry_out)
    assert cli("runs", "resume", "last", *option, ECHELON_API_BASE="http://other/v1").returncode == 0
    assert seen == [used]
