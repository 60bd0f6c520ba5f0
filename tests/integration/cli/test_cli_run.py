"""`echelon run`: where its output goes, how it waits, how it is interrupted, and what it exits with."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from .conftest import WORKSPACE, Cli, clarify, complete, decision, remember

SLOW = 60.0  # seconds; a test that waits for it has failed


def test_the_response_goes_to_stdout_and_everything_else_to_stderr(cli: Cli) -> None:
    ended = cli.process("run", "Remember it", "--model", cli.script(*remember()))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("I have saved that.")
    assert "model: scripted:" in ended.stderr and "choose another with --model" in ended.stderr
    assert "EXECUTE memory_op: save it" in ended.stderr
    assert "memory_op 1/4 · pending: search, save" in ended.stderr
    assert "✓ memory.save" in ended.stderr
    assert re.search(r"complete · 3 model calls · .* read · .* written · [\d.]+ s", ended.stderr)
    context = ended.stderr.rpartition("context: ")[2].strip()
    assert context == str(cli.home / "turns/default/0001/context.md") and os.path.exists(context)
    assert "\x1b" not in ended.stdout + ended.stderr


def test_json_is_one_object_with_everything_a_program_needs(cli: Cli) -> None:
    model = cli.script(complete())
    ended = cli.process("run", "Hi", "--model", model, "--session", "work", "--json")
    told = json.loads(ended.stdout)
    assert set(told) == {
        *("turn", "session", "run", "status", "stop_reason", "error", "hint", "response", "context", "usage"),
        *("waiting", "result"),
    }
    assert (told["turn"], told["session"], told["status"]) == (1, "work", "complete")
    assert (told["response"], told["stop_reason"], told["waiting"]) == ("Hello!", "success", None)
    assert told["usage"]["model_calls"] == 1 and told["usage"]["prompt_tokens"] > 0


@pytest.mark.parametrize(
    ("entry", "code", "reason"),
    [
        ({"error": "ModelUnavailable"}, 5, "error:model_unavailable"),
        ({"error": "ModelRefused"}, 5, "error:model_refused"),
        ({"error": "ContextTooLong"}, 1, "error:context_too_long"),
        ({"answer": "garbage", "repeat": 3}, 1, "error:decision_invalid"),
    ],
)
def test_a_failed_turn_exits_by_its_cause_and_says_how_to_go_on(
    cli: Cli, entry: dict[str, Any], code: int, reason: str
) -> None:
    ended = cli.run("Hi", entry)
    assert ended.returncode == code
    row = cli.last_run()
    assert (row["status"], row["stop_reason"]) == ("failed", reason)
    assert f"echelon runs resume {row['id']}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_failure_comes_with_the_hint_of_whoever_knew(cli: Cli) -> None:
    ended = cli.run("Hi", {"role": "nobody", "answer": "never"})
    assert "add an entry for it" in ended.stderr


def test_a_used_up_budget_exits_with_3_and_names_the_setting(cli: Cli) -> None:
    ended = cli.run("Remember it", *remember(), ECHELON_LIMITS__MAX_TOKENS="10")
    assert ended.returncode == 3
    assert "limits.max_tokens" in ended.stderr and "ECHELON_LIMITS__MAX_TOKENS" in ended.stderr
    assert f"echelon runs resume {cli.last_run()['id']} --limit tokens=TOTAL" in ended.stderr


def test_a_turn_that_has_used_up_its_budget_goes_on_with_more(cli: Cli) -> None:
    assert cli.run("Remember it", *remember(), ECHELON_LIMITS__MAX_TOKENS="10").returncode == 3
    assert cli("runs", "resume", "last", "--limit", "naps=5").returncode == 2
    ended = cli("runs", "resume", "last", "--limit", "tokens=100000")
    assert ended.returncode == 0, ended.stderr
    assert cli("runs", "replay", "last").returncode == 0


@pytest.mark.parametrize("limit", ["tokens", "tokens=", "=5", "tokens=lots", "tokens=-1", "tokens=inf", "tokens=nan"])
def test_a_limit_is_a_name_and_a_total(cli: Cli, limit: str) -> None:
    ended = cli("runs", "resume", "last", "--limit", limit)
    assert ended.returncode == 2 and "NAME=TOTAL" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", " ", "--model", "scripted:x"],
        ["run", "Hi", "--nonsense"],
        ["run", "Hi", "--workspace", "nowhere"],
        ["run", "Hi", "--config", "nowhere.yaml"],
        ["run", "Hi", "--session", "../up", "--model", "scripted:x"],
        ["run", "Hi", "--task-type", "dance", "--model", "scripted:x"],
        ["run", "Hi", "--model", "local/nonsense"],
        ["nonsense"],
    ],
)
def test_wrong_usage_exits_with_2_in_two_lines(cli: Cli, arguments: list[str]) -> None:
    ended = cli(*arguments)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("model: ")]
    assert ended.returncode == 2
    assert 1 <= len(said) <= 2 and said[0].startswith("error: ")
    assert ended.stdout == ""


def test_without_a_model_and_a_terminal_it_exits_with_5_and_names_the_command(cli: Cli) -> None:
    ended = cli.process("run", "Hi")
    assert ended.returncode == 5
    assert "`echelon models pull qwen2.5-coder-1.5b`" in ended.stderr
    assert not (cli.home / "echelon.db").exists()


def test_a_question_exits_with_6_and_the_command_that_answers_it(cli: Cli) -> None:
    ended = cli.process("run", "Deploy", "--model", cli.script(clarify(), complete("Heron it is.")))
    assert ended.returncode == 6
    assert "Which server?" in ended.stderr
    run = cli.last_run()["id"]
    assert f'echelon runs answer {run} "…"' in ended.stderr
    answered = cli.process("runs", "answer", run, "heron")
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout == "Heron it is.\n"
    assert "complete · 2 model calls" in answered.stderr
    again = cli("runs", "answer", run, "heron")
    assert again.returncode == 2 and "not waiting" in again.stderr


def test_json_has_the_question(cli: Cli) -> None:
    ended = cli("run", "Deploy", "--model", cli.script(clarify()), "--json")
    assert ended.returncode == 6
    assert json.loads(ended.stdout)["waiting"]["question"] == "Which server?"


def test_an_approval_is_asked_for_unless_yes_is_given(cli: Cli) -> None:
    environment = {"ECHELON_TOOLS__APPROVE": '["memory.save"]'}
    asked = cli.run("Remember it", *remember(), **environment)
    assert asked.returncode == 6 and "Run memory.save" in asked.stderr and "(yes / no)" in asked.stderr
    wrong = cli("runs", "answer", "last", "perhaps", **environment)
    assert wrong.returncode == 2
    answered = cli("runs", "answer", "last", "yes", **environment)
    assert answered.returncode == 0 and "✓ memory.save" in answered.stderr
    approved = cli("run", "Remember it", "--yes", "--model", cli.script(*remember()), **environment)
    assert approved.returncode == 0


def test_on_a_terminal_the_question_is_asked_in_place(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    model = cli.script(clarify(), complete("Heron it is."))
    process = cli.start("run", "Deploy", "--model", model, stdin=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_until(ours, "Which server?\r\n> ")
    os.write(ours, b"\nheron\n")
    out, _ = process.communicate(timeout=SLOW)
    assert process.returncode == 0
    assert out == "Heron it is.\n"
    assert "Plan" in shown
    os.close(ours)


def test_on_a_terminal_without_an_answer_it_ends_waiting(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    process = cli.start("run", "Deploy", "--model", cli.script(clarify()), stdin=theirs, stderr=theirs)
    os.close(theirs)
    read_until(ours, "> ")
    os.write(ours, b"\x04")
    shown = read_until(ours, "context: ")
    process.communicate(timeout=SLOW)
    assert process.returncode == 6
    assert f"echelon runs answer {cli.last_run()['id']}" in shown
    os.close(ours)


def test_no_input_never_asks_on_a_terminal(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    process = cli.start("run", "Deploy", "--no-input", "--model", cli.script(clarify()), stdin=theirs, stderr=theirs)
    os.close(theirs)
    read_until(ours, "context: ")
    process.communicate(timeout=SLOW)
    assert process.returncode == 6
    os.close(ours)


def test_on_a_terminal_a_missing_model_is_offered(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    process = cli.start("run", "Hi", stdin=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_until(ours, "Pull it now (1.1 GB)? [Y/n]: ")
    assert "local/qwen2.5-coder-1.5b is not installed" in shown
    os.write(ours, b"n\n")
    read_until(ours, "choose another with --model")
    process.communicate(timeout=SLOW)
    assert process.returncode == 5
    os.close(ours)


def test_a_turn_waits_for_the_one_before_it_in_its_session(cli: Cli) -> None:
    first = cli.start("run", "Hi", "--model", cli.script(complete("one", delay_s=8.0), name="slow.yaml"))
    read_lines(first, "Plan")
    second = cli.run("Hi", complete("two"))
    assert second.returncode == 0 and second.stdout == "two\n"
    assert "Waiting   session default: " in second.stderr
    assert first.communicate(timeout=SLOW)[0] == "one\n"


def test_a_killed_run_is_shown_as_interrupted_and_resumes(cli: Cli) -> None:
    plan, *rest = remember()
    model = cli.script(plan, {**rest[0], "delay_s": SLOW}, rest[1])
    process = cli.start("run", "Remember it", "--model", model, "--workspace", WORKSPACE)
    read_lines(process, "done: search")
    assert cli.last_run()["status"] == "running"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert cli.last_run()["status"] == "interrupted"
    for group in ("runs", "turns"):
        assert json.loads(cli(group, "list", "--json").stdout)[0]["status"] == "interrupted"
        assert "interrupted" in cli(group, "list").stdout
    cli.script(plan, *rest)
    assert cli.process("runs", "resume", "last").returncode == 0
    assert cli.last_run()["status"] == "complete"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_stops_cleanly_and_can_be_resumed(cli: Cli, sign: signal.Signals) -> None:
    plan, *rest = remember()
    model = cli.script(plan, {**rest[0], "delay_s": SLOW}, rest[1])
    process = cli.start("run", "Remember it", "--model", model, "--workspace", WORKSPACE)
    seen = read_lines(process, "done: search")
    os.killpg(process.pid, sign)
    began = time.monotonic()
    out, err = process.communicate(timeout=SLOW)
    assert process.returncode == 130, seen + err
    assert time.monotonic() - began < SLOW / 2
    row = cli.last_run()
    assert f"resume with: echelon runs resume {row['id']}" in err and "Traceback" not in err
    assert out == ""
    assert (row["status"], row["stop_reason"]) == ("stopped", "user_cancelled")
    assert "status: stopped" in (cli.home / "turns/default/0001/context.md").read_text()
    cli.script(plan, *rest)
    resumed = cli.process("runs", "resume", row["id"])
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("I have saved that.")
    calls = [json.loads(line) for line in cli("runs", "events", "last", "--json").stdout.splitlines()]
    searched = [each for each in calls if each["kind"] == "call.ended" and each["data"]["op"] == "tool.memory.search"]
    assert len(searched) == 1
    assert cli("runs", "replay", "last").stdout.startswith("identical: ")


def test_a_second_interrupt_ends_the_process_at_once() -> None:
    code = """
import asyncio
from echelon.driving import Interrupts
async def stubborn():
    with Interrupts():
        for _ in range(2):
            print("ready", flush=True)
            try:
                await asyncio.sleep(20)
            except asyncio.CancelledError:
                pass
asyncio.run(stubborn())
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SLOW / 2) == 130


def test_a_run_of_another_process_can_be_cancelled(cli: Cli) -> None:
    process = cli.start("run", "Hi", "--model", cli.script(complete(delay_s=SLOW)))
    read_lines(process, "Plan")
    cancelled = cli("runs", "cancel", "last")
    assert cancelled.returncode == 0 and "ends within a second" in cancelled.stderr
    said = process.communicate(timeout=SLOW / 2)
    assert process.returncode == 130, said
    assert cli.last_run()["status"] == "stopped"


def test_a_corpus_is_searched(cli: Cli) -> None:
    pages = cli.folder / "pages"
    pages.mkdir()
    (pages / "herons.md").write_text("# Herons\n\nA heron is a wading bird that hunts fish in shallow water.\n")
    call = {"reasoning": "its main words", "query": "heron fish"}
    model = cli.script({"answer": call}, {"answer": decision("DONE")}, {"answer": "They hunt fish."})
    ended = cli("run", "heron hunts fish", "--model", model, "--task-type", "research", "--corpus", str(pages))
    assert ended.returncode == 0, ended.stderr
    assert "wading bird" in cli("turns", "show", "last", "--result", "1").stdout


def read_until(terminal: int, text: str) -> str:
    """What the terminal shows until `text` appears in it."""
    shown = b""
    deadline = time.monotonic() + SLOW
    while text.encode() not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, shown.decode()
        shown += os.read(terminal, 4096)
    return shown.decode()


def read_lines(process: subprocess.Popen[str], text: str) -> str:
    """The lines of its standard error until one has `text`."""
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if text in line:
            return seen
    raise AssertionError(seen)
