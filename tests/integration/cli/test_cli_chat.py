"""Requests one after the other: from a pipe, and on a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from .conftest import WORKSPACE, Cli, decision


def chat(cli: Cli, lines: str, *entries: Any, session: str = "talk") -> subprocess.CompletedProcess[str]:
    """With lines from a pipe."""
    script = cli.script(*entries)
    command = [sys.executable, "-m", "echelon", "chat", "--model", script, "--workspace", WORKSPACE]
    return subprocess.run(
        [*command, "--session", session],
        input=lines,
        env=cli._environment(),
        cwd=cli.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_lines_from_a_pipe_are_turns_of_one_session_and_answers_to_its_questions(cli: Cli) -> None:
    asks = {"when": "Request\\n\\ndo it", "answer": decision("CLARIFY", question="Which file?")}
    done = chat(
        cli,
        "hello\n\ndo it\na.txt\n/context\n/nonsense\n",
        {"when": "Request\\n\\nhello", "answer": decision("COMPLETE", response="Hi there.")},
        {"when": "Answer: a.txt", "answer": decision("COMPLETE", response="With a.txt, then.")},
        asks,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Hi there.\nWith a.txt, then.\n"
    assert "Which file?" in done.stderr and "talk/0002/context.md" in done.stderr
    assert "there is no command /nonsense" in done.stderr
    turns = json.loads(cli("turns", "list", "--session", "talk", "--json").stdout)
    assert [turn["status"] for turn in turns] == ["complete", "complete"]


def test_a_conversation_goes_on_after_an_error_and_ends_with_the_last_code(cli: Cli) -> None:
    done = chat(
        cli,
        "fail\nhello\nfail\n",
        {"when": "Request\\n\\nfail", "error": "ModelRefused"},
        {"when": "Request\\n\\nhello", "answer": decision("COMPLETE", response="Hi there.")},
    )
    assert done.returncode == 5 and "Hi there." in done.stdout
