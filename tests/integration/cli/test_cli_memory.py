"""`echelon memory`: a person looks at what is remembered, and erases it, without a model."""

from __future__ import annotations

import json

from gateway.tools.memories import Memories

from .conftest import Cli, remember

FACT = "Remember that the pelican sleeps in hut 4711"


def key_of(cli: Cli) -> str:
    return str(json.loads(cli("memory", "list", "--json").stdout)[0]["key"])


def test_it_is_listed_searched_and_forgotten_with_every_trace_of_it(cli: Cli) -> None:
    assert cli("memory", "list").stderr == "nothing is remembered\n"
    assert cli.run(FACT, *remember()).returncode == 0
    key = key_of(cli)
    for listed in (
        cli("memory", "list"),
        cli("memory", "search", "pelicans"),
        cli("memory", "list", "--session", "default"),
    ):
        assert listed.stdout.splitlines()[0].split() == ["key", "said", "in", "text"]
        assert key in listed.stdout and FACT in listed.stdout and "default 1" in listed.stdout
    assert cli("memory", "search", "flamingo").stderr == "nothing is remembered about that\n"
    assert cli("memory", "list", "--session", "other").stdout == ""
    refused = cli("memory", "forget", key)
    assert refused.returncode == 2 and "needs a yes" in refused.stderr
    assert cli("memory", "forget", key, "--yes").stderr == "forgotten\n"
    kept = [path for path in cli.home.rglob("*") if path.is_file() and b"pelican" in path.read_bytes()]
    assert kept == []
    assert cli("runs", "replay", "last").stdout.startswith("identical")
    assert "[erased]" in cli("turns", "show", "1").stdout
    again = cli("memory", "forget", key, "--yes")
    assert again.returncode == 2 and f"nothing is remembered under the key '{key}'" in again.stderr


def test_a_call_by_hand_asks_first_and_leaves_no_trace_either(cli: Cli) -> None:
    assert cli.run(FACT, *remember()).returncode == 0
    given = json.dumps({"key": key_of(cli)})
    asked = cli("tools", "call", "memory.forget", given, "--no-input")
    assert asked.returncode == 6 and "Run memory.forget" in asked.stderr and FACT in asked.stderr
    assert cli("runs", "answer", "last", "yes").returncode == 0
    assert not Memories(cli.home).all()
    assert [path for path in cli.home.rglob("*") if path.is_file() and b"pelican" in path.read_bytes()] == []
