"""A tool called by hand: journaled, asked about, shown and replayed like any turn."""

from __future__ import annotations

import json

import pytest

from .conftest import WORKSPACE, Cli


def test_a_call_is_a_turn_of_its_own(cli: Cli) -> None:
    (cli.folder / WORKSPACE / "a.txt").write_text("first\n")
    done = cli("tools", "call", "file.read", '{"path": "a.txt"}', "--workspace", WORKSPACE)
    assert (done.returncode, done.stdout) == (0, "a.txt\n1| first\n")
    assert "### 1. file.read · ok" in cli("turns", "show", "last").stdout
    assert cli("runs", "replay", "last").stdout.startswith("identical")


def test_a_call_that_fails_says_so_with_its_exit_code(cli: Cli) -> None:
    done = cli("tools", "call", "file.read", '{"path": "no.txt"}', "--workspace", WORKSPACE, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1 and told["status"] == "failed" and "no.txt" in told["response"]
    assert "resume" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("file.raed", "{}"), "Did you mean file.read?"),
        (("file.read", "{"), "not JSON"),
        (("file.read", "[]"), "not a JSON object"),
        (("file.read", '{"pth": "a"}'), "path: Field required"),
    ],
)
def test_a_call_that_cannot_be_made_is_wrong_usage(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli("tools", "call", *arguments)
    assert done.returncode == 2 and said in done.stderr
    assert cli("turns", "list", "--json").stdout == "[]\n"


def test_a_denied_tool_is_not_called(cli: Cli) -> None:
    done = cli("tools", "call", "file.list", ECHELON_TOOLS__DENY='["file.*"]')
    assert done.returncode == 2 and "the configuration denies file.list" in done.stderr


def test_a_call_that_needs_approval_waits_for_it(cli: Cli) -> None:
    ask = {"ECHELON_TOOLS__APPROVE": '["memory.save"]'}
    done = cli("tools", "call", "memory.save", '{"text": "the boiler is new"}', **ask)
    assert done.returncode == 6 and 'Run memory.save {"text": "the boiler is new"}?' in done.stderr
    answered = cli("runs", "answer", "last", "no")
    assert answered.returncode == 1 and "did not allow" in answered.stdout
    done = cli("tools", "call", "memory.save", '{"text": "the boiler is new"}', "--yes", **ask)
    assert (done.returncode, done.stdout) == (0, "remembered: the boiler is new\n")
