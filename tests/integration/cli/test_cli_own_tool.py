"""A tool of one's own is one function in one file: everything else follows from it."""

from __future__ import annotations

import json

import pytest

from .conftest import WORKSPACE, Cli

TOOL = '''
from typing import Annotated

from gateway.engine.ports import Effect
from gateway.tools.registry import tool


@tool("text.count", effect=Effect.READ)
def count(text: Annotated[str, "the text whose words are counted"], longer_than: int = 0) -> str:
    """Count the words of a text."""
    return f"{sum(len(word) > longer_than for word in text.split())} words"
'''


def install(cli: Cli, text: str) -> None:
    folder = cli.home / "tools"
    folder.mkdir(parents=True)
    (folder / "counting.py").write_text(text)


def test_a_function_in_the_home_is_listed_shown_and_called(cli: Cli) -> None:
    install(cli, TOOL)
    rows = {row["name"]: row for row in json.loads(cli("tools", "list", "--json").stdout)}
    assert rows["text.count"]["description"] == "Count the words of a text."
    assert "the text whose words are counted" in cli("tools", "show", "text.count").stdout
    assert "| `text.count` | READ |" in cli("tools", "list", "--markdown").stdout
    called = cli("tools", "call", "text.count", '{"text": "one two three", "longer_than": 3}')
    assert (called.returncode, called.stdout.splitlines()[0]) == (0, "1 words")


def test_wrong_arguments_are_refused_from_the_type_hints(cli: Cli) -> None:
    install(cli, TOOL)
    refused = cli("tools", "call", "text.count", '{"text": "a", "longer_than": "much"}')
    assert refused.returncode == 2 and "longer_than" in refused.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def count(:\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        (TOOL.replace("@tool", "# @tool"), "it declares no tool"),
        (TOOL.replace("text.count", "file.list"), "a tool file.list already, in gateway.tools.builtin.file"),
        (TOOL + TOOL.replace("def count", "def again"), "a tool text.count already, in this file"),
    ],
)
def test_a_file_that_is_wrong_costs_its_own_tools_and_is_told_once(cli: Cli, text: str, reason: str) -> None:
    install(cli, text)
    (cli.folder / WORKSPACE / "a.txt").write_text("first\n")
    file = str(cli.home / "tools" / "counting.py")
    listed = cli("tools", "list")
    assert listed.returncode == 0 and "file.read" in listed.stdout and "text.count" not in listed.stdout
    read = cli("tools", "call", "file.read", '{"path": "a.txt"}', "--workspace", WORKSPACE)
    assert (read.returncode, "1| first" in read.stdout) == (0, True)
    checked = cli("patterns", "check")
    for each in (listed, read, checked):
        assert each.stderr.count(file) == 1 and reason in each.stderr and "Traceback" not in each.stderr
    doctor = cli("doctor")
    [line] = [each for each in doctor.stdout.splitlines() if each.startswith("FAIL  tools")]
    assert file in line and reason in line


def test_of_two_files_with_one_tool_the_first_counts_and_both_are_named(cli: Cli) -> None:
    install(cli, TOOL)
    (cli.home / "tools" / "twice.py").write_text(TOOL)
    listed = cli("tools", "list")
    first, second = (str(cli.home / "tools" / name) for name in ("counting.py", "twice.py"))
    assert f"{second}: there is a tool text.count already, in {first}" in listed.stderr
    assert "text.count" in listed.stdout


def test_a_dataclass_and_a_file_for_others_are_no_trouble(cli: Cli) -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n\n"
    head += "@dataclass\nclass Kept:\n    at: int\n"
    install(cli, head + TOOL)
    (cli.home / "tools" / "_shared.py").write_text("NOTHING = 1\n")
    listed = cli("tools", "list")
    assert "text.count" in listed.stdout and "warning" not in listed.stderr


def test_standard_output_is_the_commands_own(cli: Cli) -> None:
    noise = """
    import subprocess, sys
    print("printed")
    sys.__stdout__.write("kept stream\\n")
    subprocess.run([sys.executable, "-S", "-c", "print('of a program')"])
    """
    body = TOOL.replace('    return f"', noise.strip("\n") + '\n    return f"')
    install(cli, 'print("at import")\n' + body)
    called = cli.process("tools", "call", "text.count", '{"text": "one two"}', "--json")
    assert called.returncode == 0
    json.loads(called.stdout)
    for said in ("at import", "printed", "kept stream", "of a program"):
        assert said in called.stderr


def test_a_plain_function_that_does_not_end_keeps_no_command_from_ending(cli: Cli) -> None:
    body = TOOL.replace("effect=Effect.READ", "effect=Effect.READ, deadline_s=0.1")
    install(cli, body.replace('    return f"', '    import threading\n    threading.Event().wait()\n    return f"'))
    called = cli.process("tools", "call", "text.count", '{"text": "a"}')
    assert called.returncode != 0 and "did not end within 0.1 s" in called.stdout + called.stderr


@pytest.mark.parametrize("error", ["StopIteration", "SystemExit", "ZeroDivisionError"])
def test_what_a_plain_function_raises_is_the_calls_error(cli: Cli, error: str) -> None:
    install(cli, TOOL.replace('    return f"', f'    raise {error}("of mine")\n    return f"'))
    called = cli("tools", "call", "text.count", '{"text": "a"}')
    assert called.returncode != 0 and error in called.stdout + called.stderr
    assert "Traceback" not in called.stderr
