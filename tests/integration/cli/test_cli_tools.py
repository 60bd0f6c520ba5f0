"""A tool called by hand: journaled, asked about, shown and replayed like any turn."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import WORKSPACE, Cli


def test_a_call_is_a_turn_of_its_own(cli: Cli) -> None:
    (cli.folder / WORKSPACE / "a.txt").write_text("first\n")
    done = cli("tools", "call", "file.read", '{"path": "a.txt"}', "--workspace", WORKSPACE)
    assert (done.returncode, done.stdout) == (0, "a.txt\n1| first\n")
    assert "### 1. file.read · ok" in cli("turns", "show", "last").stdout
    assert cli("runs", "replay", "last").stdout.startswith("identical")


def test_a_call_shows_a_line_of_the_tool_and_no_more_of_the_turn(cli: Cli) -> None:
    (cli.folder / WORKSPACE / "a.txt").write_text("first\n")
    done = cli("tools", "call", "file.read", '{"path": "a.txt"}', "--workspace", WORKSPACE)
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r'✓ file\.read \{"path": "a\.txt"\} · [0-9.]+ s', line)


def test_a_call_that_fails_says_so_with_the_tools_own_words(cli: Cli) -> None:
    given = ("tools", "call", "file.read", '{"path": "no.txt"}', "--workspace", WORKSPACE)
    done = cli(*given)
    line, error, hint = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "") and line.startswith("✗ file.read")
    assert (error, hint) == ("error: there is no file no.txt", "  file.list shows the files that there are")
    told = json.loads(cli(*given, "--json").stdout)
    assert (told["status"], told["error"], told["hint"]) == ("failed", error[7:], hint.strip())
    assert (told["result"]["ok"], told["result"]["data"]) == (False, {"error": "tool"})


def test_a_call_that_the_policy_denies_says_so_as_its_error(cli: Cli) -> None:
    rules = {"ECHELON_TOOLS__POLICY": '{"file.*": {"deny": ["secret*"]}}'}
    done = cli("tools", "call", "file.read", '{"path": "secret.txt"}', "--workspace", WORKSPACE, **rules)
    assert done.returncode == 1 and "error: the configuration denies file.read" in done.stderr


def test_nothing_found_is_no_error(cli: Cli) -> None:
    given = ("tools", "call", "file.list", '{"glob": "*.rs"}', "--workspace", WORKSPACE)
    done = cli(*given)
    assert (done.returncode, done.stdout) == (1, "no files match *.rs\n")
    assert len(done.stderr.splitlines()) == 1
    assert not any(word in done.stderr for word in ("error", "failed", "Unfinished"))
    told = json.loads(cli(*given, "--json").stdout)
    assert (told["error"], told["hint"], told["result"]["ok"]) == (None, None, False)


def test_the_result_is_there_for_programs(cli: Cli) -> None:
    saved = json.loads(
        cli("tools", "call", "memory.save", '{"text": "the boiler is new", "key": "k"}', "--json").stdout
    )
    assert saved["result"] == {
        "ok": True,
        "text": "remembered: the boiler is new",
        "data": {"key": "k", "changed": "remembered: the boiler is new"},
    }
    asked = json.loads(cli("tools", "call", "memory.forget", '{"key": "k"}', "--json").stdout)
    assert asked["waiting"] and asked["result"] is None
    answered = json.loads(cli("runs", "answer", "last", "yes", "--json").stdout)
    assert answered["result"]["data"]["key"] == "k"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("file.raed", "{}"), "Did you mean file.read?"),
        (("file.read", "{"), "not JSON"),
        (("file.read", "[]"), "not a JSON object"),
        (("file.read", "{}"), "path: Field required"),
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
    assert answered.returncode == 1 and "did not allow" in answered.stdout and "error" not in answered.stderr
    done = cli("tools", "call", "memory.save", '{"text": "the boiler is new"}', "--yes", **ask)
    assert (done.returncode, done.stdout) == (0, "remembered: the boiler is new\n")


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"text": "my key -----BEGIN PRIVATE KEY----- abc"}, {"text": "my key [redacted]"}),
        ({"text": "http://x", "key": "c@d.e"}, {"text": "http://x", "key": "c@d.e"}),
    ],
)
def test_secrets_are_taken_out_of_each_argument_by_itself(cli: Cli, arguments: object, kept: object) -> None:
    done = cli("tools", "call", "memory.save", json.dumps(arguments), "--yes")
    assert done.returncode == 0, done.stderr
    [result] = cli.home.glob("turns/tools/0001/results/*")
    assert json.loads(result.read_text())["args"] == kept


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("file.list", {"globb": "*.py"}, "file.list has no argument 'globb'; did you mean glob?"),
        ("file.write", {"path": "a.txt", "text": "x"}, "file.write has no argument 'text'; it has: path, content"),
    ],
)
def test_an_argument_that_there_is_not_is_refused(cli: Cli, tool: str, arguments: object, said: str) -> None:
    refused = cli("tools", "call", tool, json.dumps(arguments), "--workspace", WORKSPACE)
    assert refused.returncode == 2 and said in refused.stderr and f"echelon tools show {tool}" in refused.stderr
