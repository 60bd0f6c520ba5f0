"""`echelon loop`: sessions with a real command as their agent, looked on at and steered from the command line."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import quick_pytest

from gateway.errors import StoreError
from gateway.loops import Loops

from .conftest import WORKSPACE, Cli
from .test_cli_run import SLOW, read_until

DONE = "command:test -f done"
AFTER_3 = 'echo x >> log\nif [ "$(wc -l < log)" -ge 3 ]; then touch done; fi\necho tried'


class Sessions(Cli):
    """Sessions in the workspace of this folder."""

    def agent(self, script: str) -> str:
        """A shell script as an agent; it is given its request, which it does not read."""
        path = self.folder / "agent.sh"
        path.write_text(f"cat > /dev/null\n{script}\n")
        return f"command:sh {shlex.quote(str(path))}"

    def begin(self, script: str, *more: str, exit: str = DONE) -> tuple[int, str, str]:
        arguments = ("--agent", self.agent(script), "--exit", exit, "--workspace", WORKSPACE, *more)
        ended = self("loop", "start", "Mend it", *arguments)
        return ended.returncode, ended.stdout, ended.stderr

    def status(self) -> Any:
        return json.loads(self("loop", "status", "last", "--json").stdout)

    def working(self, script: str, *more: str, exit: str = DONE, **streams: Any) -> subprocess.Popen[str]:
        """A session of a process of its own, whose agent works, and goes on to the script once `go` is written to."""
        begun, go = self.folder / "begun", self.folder / "go"
        os.mkfifo(begun)
        os.mkfifo(go)
        agent = self.agent(f"[ -f begun ] || {{ touch begun; echo > {begun}; cat {go}; }}\n{script}")
        arguments = ("--agent", agent, "--exit", exit, "--workspace", WORKSPACE, *more)
        process = self.start("loop", "start", "Mend it", *arguments, **streams)
        begun.read_text()
        return process


@pytest.fixture
def sessions(echelon_home: Path, tmp_path: Path) -> Iterator[Sessions]:
    started = Sessions(echelon_home, tmp_path)
    yield started
    started.close()


def test_a_session_ends_completed_when_the_tests_pass_and_the_linter_is_silent(sessions: Sessions) -> None:
    workspace = sessions.folder / WORKSPACE
    (workspace / "pytest.ini").write_text(quick_pytest.INI)
    (workspace / "pager.py").write_text("import os\n\n\ndef pages(n, size):\n    return n // size\n")
    (workspace / "test_pager.py").write_text(
        "from pager import pages\n\n\ndef test_pages():\n    assert pages(5, 2) == 3\n"
    )
    mending = "sed -i -e '/^import os/d' -e 's|n // size|-(-n // size)|' pager.py\necho mended it"
    code, out, err = sessions.begin(mending, "--exit", "linting_clean", exit="all_tests_pass")
    assert code == 0, err
    assert out.startswith("completed · iteration 1 of 50 · 2 of 2 conditions met")
    for part in (
        "conditions met: 0 of 2 · ✗ all_tests_pass (1 failed, 0 passed), ✗ linting_clean (ruff: 1 finding)",
        "iteration 1 begins",
        "iteration 1 has ended · mended it · changed pager.py",
        "conditions met: 2 of 2 · ✓ all_tests_pass, ✓ linting_clean",
        "checkpoint 1 made (end)",
    ):
        assert err.count(part) == 1, err
    found = sessions.status()
    assert (found["status"], found["iteration"], found["met"]) == ("completed", 1, 2)
    assert "| `linting_clean` | met |" in Path(found["document"]).read_text()


def test_a_task_is_needed_once_and_a_condition_at_all(sessions: Sessions) -> None:
    (sessions.folder / WORKSPACE / "a.py").touch()
    for arguments, said in (
        ((), "a session needs one task"),
        (("a", "--task", "b"), "a session needs one task"),
        (("a",), "--exit all_tests_pass (python -m pytest)"),
        (("a", "--exit", "all_test_pass"), "did you mean all_tests_pass?"),
        ((" ", "--exit", DONE), "the task is empty"),
        (("a", "--exit", DONE, "--agent", "command:./missing --now"), "./missing is not there, or cannot be started"),
        (("a", "--exit", DONE, "--agent", 'command:"mend --now"'), "command:mend --now"),
        (("a", "--exit", DONE, "--agent", "command:true", "--notify-command", "./bell"), "it is not there"),
        (("a", "--exit", DONE, "--check", 'all_tests_pass="make'), "loop.conditions.all_tests_pass.command"),
        (("a", "--exit", DONE, "--timeout", "all_tests_pass"), "takes a condition and a value"),
        (("a", "--exit", DONE, "--timeout", "all_tests_pass=soon"), "'soon' are no seconds"),
    ):
        ended = sessions("loop", "start", *arguments, "--workspace", WORKSPACE)
        assert ended.returncode == 2 and said in ended.stderr, ended.stderr
    assert sessions("loop", "list", "--json").stdout == "[]\n"


def test_options_reach_the_session(sessions: Sessions) -> None:
    code, _, err = sessions.begin(
        "touch done",
        *("--name", "ada", "--max-time", "60", "--timeout", f"{DONE}=30", "--protect", "keep", "--patience", "7"),
        *("--check", "linting_clean=true --x=1", "--checkpoint-every", "2"),
    )
    assert code == 0 and "is called keep, which is to be protected" in err
    run = json.loads(sessions("runs", "events", "last", "--json").stdout.splitlines()[0])
    assert run["data"]["graph"] == "loop"
    found = json.loads(sessions("loop", "status", "ada", "--json").stdout)
    assert [each["name"] for each in found["limits"]] == ["iterations", "time_s"]
    from gateway.engine.store import Store

    store = Store(sessions.home / "echelon.db")
    options = store.run(found["session"]).context["options"]
    store.close()
    assert options["conditions"] == {
        "linting_clean": {"command": "true --x=1", "timeout_s": 600.0},
        DONE: {"command": None, "timeout_s": 30.0},
    }
    assert (options["protect"], options["patience"], options["checkpoint_every"]) == (["keep"], 7, 2)


def test_a_limit_that_is_reached_can_be_extended_and_gone_on_with(sessions: Sessions) -> None:
    code, out, err = sessions.begin(AFTER_3, "--max-iterations", "2", "--checkpoint-every", "1")
    assert code == 3 and out.startswith("iteration limit reached · iteration 2 of 2 · 0 of 1 conditions met"), err
    assert "echelon loop extend" in err and "✗ command:test -f done" in out
    refused = sessions("loop", "resume", "last")
    assert refused.returncode == 2 and "extend it first" in refused.stderr
    assert sessions("loop", "extend", "last").returncode == 2
    extended = sessions("loop", "extend", "last", "--max-iterations", "4")
    assert "limits: 4 iterations" in extended.stderr and "loop resume" in extended.stderr
    resumed = sessions("loop", "resume", "last")
    assert resumed.returncode == 0 and "iteration 3 of 4" in resumed.stdout
    assert "iteration 1 begins" not in resumed.stderr  # what was before is not told again
    watched = sessions("loop", "watch", "last")
    assert watched.returncode == 0 and "iteration 1 begins" in watched.stdout and "completed" in watched.stdout


def test_a_checkpoint_can_be_looked_into_and_gone_back_to_with_the_workspace(sessions: Sessions) -> None:
    code, *_ = sessions.begin(AFTER_3.replace("3", "9"), "--max-iterations", "2", "--checkpoint-every", "1")
    assert code == 3
    listed = json.loads(sessions("loop", "checkpoints", "last", "--json").stdout)
    assert [(each["iteration"], each["met"], each["of"], each["damaged"]) for each in listed][:1] == [(1, 0, 1, "")]
    shown = sessions("loop", "checkpoints", "last", "1")
    assert "command:test -f done not met" in shown.stdout and "--from 1" in shown.stderr
    assert "has no checkpoint 77" in sessions("loop", "checkpoints", "last", "77").stderr
    assert sessions("loop", "resume", "last", "--restore-workspace").returncode == 2
    resumed = sessions("loop", "resume", "last", "--from", "1", "--restore-workspace")
    assert resumed.returncode == 3 and "gone back to checkpoint 1, iteration 1" in resumed.stderr
    assert (sessions.folder / WORKSPACE / "log").read_text() == "x\nx\n"  # one of before, one more


def test_a_pause_is_a_question_that_the_answer_ends(sessions: Sessions) -> None:
    process = sessions.working("touch done", exit="command:test -f never")
    busy = sessions("loop", "start", "More", "--agent", "command:true", "--exit", DONE, "--workspace", WORKSPACE)
    assert busy.returncode == 2 and "is already executing" in busy.stderr
    paused = sessions("loop", "pause", "last")
    assert "pauses after the current iteration" in paused.stderr
    assert "asked: pause; heard soon" in sessions("loop", "status", "last").stdout
    (sessions.folder / "go").write_text("")
    out, err = process.communicate()
    assert process.returncode == 6 and out.startswith("paused · iteration 1 of 50"), err
    added = sessions("loop", "exits", "last", "--add", DONE, "--remove", "command:test -f never")
    assert added.stdout == f"{DONE}\n"
    shown = sessions("loop", "status", "last").stdout
    assert "heard when the session goes on" in shown and "echelon loop resume" in shown
    assert "asked: pause" not in shown
    answered = sessions("runs", "answer", "last", "stop")
    assert answered.returncode == 1 and "stopped · iteration 1" in answered.stdout, answered.stderr


def test_a_question_that_somebody_else_has_answered_is_not_asked_again(sessions: Sessions) -> None:
    ours, theirs = pty.openpty()
    process = sessions.working("true", stdin=theirs, stderr=theirs)
    os.close(theirs)
    assert sessions("loop", "pause", "last").returncode == 0
    (sessions.folder / "go").write_text("")
    read_until(ours, "stop)\r\n> ")
    assert sessions("runs", "answer", "last", "stop").returncode == 1
    os.write(ours, b"continue\n")
    assert "it is stopped" in read_until(ours, "is stopped")
    process.communicate(timeout=SLOW)
    assert process.returncode == 2
    os.close(ours)


def test_exit_conditions_that_are_not_there_cannot_be_taken_away(sessions: Sessions) -> None:
    sessions.begin("true", "--max-iterations", "1")
    for arguments in (("--remove", "linting_clean"), ("--remove", DONE), ("--add", "nonsense")):
        assert sessions("loop", "exits", "last", *arguments).returncode == 2
    assert sessions("loop", "exits", "last").stdout == f"{DONE}\n"


def test_a_session_whose_process_was_killed_is_interrupted_and_goes_on(sessions: Sessions) -> None:
    process = sessions.working("touch done")
    process.kill()
    process.wait()
    (row,) = json.loads(sessions("loop", "list", "--json").stdout)
    assert (row["status"], row["iteration"]) == ("interrupted", 0)
    watched = sessions("loop", "watch", "last")
    assert watched.returncode == 130 and "nobody works on it" in watched.stderr
    assert sessions("loop", "resume", "last").returncode == 0


def test_a_session_can_be_named_by_its_id_its_beginning_its_agent_and_its_folder(sessions: Sessions) -> None:
    sessions.begin("touch done")
    run_id = sessions.status()["session"]
    workspace = str((sessions.folder / WORKSPACE).resolve())
    for name in (run_id, run_id[:8].lower(), workspace, WORKSPACE, "last"):
        assert json.loads(sessions("loop", "status", name, "--json").stdout)["session"] == run_id
    ended = sessions("loop", "status", "nobody")
    assert ended.returncode == 2 and "'nobody'" in ended.stderr and "echelon loop list" in ended.stderr


def test_a_store_that_cannot_be_read_for_a_moment_does_not_end_the_looking_on(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.begin("touch done")
    report, failures = Loops.report, [StoreError("the store is locked")]

    def failing(loops: Loops, run_id: str) -> Any:
        if failures:
            raise failures.pop()
        return report(loops, run_id)

    monkeypatch.setattr(Loops, "report", failing)
    monkeypatch.setattr("echelon.loop_work.AGAIN_S", 0.0)
    watched = sessions("loop", "watch", "last")
    assert watched.returncode == 0
    assert watched.stdout.startswith("the store is locked; trying again\n") and "completed" in watched.stdout


def test_ctrl_c_ends_the_looking_on_and_not_the_session(sessions: Sessions) -> None:
    sessions.begin("touch done")

    def interrupted(loops: Loops, run_id: str) -> Any:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loops, "report", interrupted)
        watched = sessions("loop", "watch", "last")
    assert watched.returncode == 130 and "the session is not concerned" in watched.stderr
    assert sessions.status()["status"] == "completed"
