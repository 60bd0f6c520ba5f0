"""`command:` agents: real shell scripts, which do their work, fail, hang, fork, flood, or are killed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import agent_lab
import pytest
from agent_lab import SESSION, TASK, Done, assignment, context, evaluated, iterate, opened
from loop_lab import is_alive

from gateway.engine.state import Status
from gateway.errors import ConfigError
from gateway.loop.agents.agent import Told
from gateway.loop.agents.command import CommandAgent
from gateway.loop.state import Evaluation


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def script(workspace: Path, text: str) -> str:
    path = workspace / "mend.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return "command:./mend.sh"


async def told(home: Path, workspace: Path, text: str, limits: dict[str, float] | None = None, **options: Any) -> Told:
    """How an iteration with such a script ended."""
    runs = opened(home, context(workspace, agent=script(workspace, text), **options))
    _, done = await iterate(runs, assignment(evaluation=evaluated()), **(limits or {}))
    assert done.told is not None
    return done.told


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


async def test_a_script_that_ends_with_0_has_done_its_iteration(tmp_path: Path, workspace: Path) -> None:
    said = await told(tmp_path, workspace, "echo looking\necho 'mended the basket' | tee mended.txt")
    assert said == Told(outcome="done", summary="mended the basket")
    assert (workspace / "mended.txt").read_text() == "mended the basket\n"


async def test_it_gets_the_task_and_what_is_wrong_on_its_standard_input(tmp_path: Path, workspace: Path) -> None:
    await told(tmp_path, workspace, "cat > asked.txt")
    asked = (workspace / "asked.txt").read_text()
    assert asked.startswith(f"{TASK}\n\nThis is iteration 3 of at most 50.\n")
    assert (
        "Not met: all_tests_pass: 1 failed, 4 passed\n- tests/test_basket.py::test_total\n```\nassert 6 == 5" in asked
    )


async def test_its_environment_says_where_the_session_is_and_has_no_secrets(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AGENT_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, f"sk-{name}-0123456789")
    await told(
        tmp_path, workspace, "env > env.txt; cat $ECHELON_EVALUATION > evaluation.json", agent_env=("AGENT_KEY",)
    )
    env = dict(line.split("=", 1) for line in (workspace / "env.txt").read_text().splitlines())
    assert [env[f"ECHELON_{name}"] for name in ("SESSION", "ITERATION", "MAX_ITERATIONS")] == [SESSION, "3", "50"]
    assert Evaluation.model_validate_json((workspace / "evaluation.json").read_text()) == evaluated()
    assert env["AGENT_KEY"] == "sk-AGENT_KEY-0123456789" and "OPENAI_API_KEY" not in env
    stored = b"".join(each.read_bytes() for each in files(tmp_path) if each.name.startswith("echelon.db"))
    assert b"sk-AGENT_KEY" not in stored and b"AGENT_KEY" in stored


async def test_without_an_evaluation_its_file_says_so(tmp_path: Path, workspace: Path) -> None:
    runs = opened(tmp_path, context(workspace, agent=script(workspace, "cat $ECHELON_EVALUATION")))
    _, done = await iterate(runs, assignment())
    assert done.told == Told(outcome="done", summary="null")


async def test_one_that_fails_is_a_failed_iteration_with_the_end_of_what_it_printed(
    tmp_path: Path, workspace: Path
) -> None:
    said = await told(tmp_path, workspace, "echo working\necho 'no key is configured' >&2\nexit 3")
    assert (said.outcome, said.fatal, said.error_kind) == ("failed", False, "exit")
    assert said.summary == "the command ended with code 3: working no key is configured"


async def test_what_is_for_a_terminal_is_not_in_its_summary(tmp_path: Path, workspace: Path) -> None:
    printed = r"printf 'first\n\033]0;title\007\033[31mall \001done\033[0m\n\033[0m\n'"
    assert (await told(tmp_path, workspace, printed)).summary == "all done"


async def test_one_that_is_ended_by_a_signal_says_so(tmp_path: Path, workspace: Path) -> None:
    assert (await told(tmp_path, workspace, "kill -9 $$")).summary == "the command was ended by signal 9"


async def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, workspace: Path) -> None:
    text = "sleep 600 & echo $! > pids; (setsid sleep 600 & echo $! >> pids); echo waiting; sleep 600"
    said = await told(tmp_path, workspace, text, iteration_timeout_s=8)
    assert (said.outcome, said.fatal, said.error_kind) == ("failed", False, "timeout")
    assert said.summary == "it did not end within 8 s: waiting"
    pids = [int(each) for each in (workspace / "pids").read_text().split()]
    assert len(pids) == 2 and not any(map(is_alive, pids))


async def test_what_it_leaves_in_the_background_ends_with_its_iteration(tmp_path: Path, workspace: Path) -> None:
    said = await told(tmp_path, workspace, "(setsid sleep 600 & echo $! > pid); echo done")
    assert said == Told(outcome="done", summary="done") and not is_alive(int((workspace / "pid").read_text()))


async def test_where_the_session_has_less_time_left_the_iteration_is_limited(tmp_path: Path, workspace: Path) -> None:
    said = await told(tmp_path, workspace, "sleep 600", limits={"time_s": 6})
    assert (said.outcome, said.summary, said.fatal) == ("limited", "it used up its time_s", False)


async def test_a_hundred_megabytes_of_output_are_cut_and_their_end_is_kept(tmp_path: Path, workspace: Path) -> None:
    text = "echo begin; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo 'the end'"
    runs = opened(tmp_path, context(workspace, agent=script(workspace, text)))
    _, done = await iterate(runs, assignment())
    assert done.told == Told(outcome="done", summary="the end")
    shown = tmp_path / "loops" / SESSION / "iterations" / done.run_id / "output.txt"
    assert shown.stat().st_size < 300_000 and shown.read_text().startswith("begin")
    assert sum(each.stat().st_size for each in files(tmp_path)) < 2_000_000


async def test_one_that_does_not_read_a_long_standard_input_is_not_waited_for(tmp_path: Path, workspace: Path) -> None:
    runs = opened(tmp_path, context(workspace, agent=script(workspace, "echo done")))
    long = assignment().model_copy(update={"task": "word " * 200_000})
    _, done = await iterate(runs, long)
    assert done.told == Told(outcome="done", summary="done")


@pytest.mark.parametrize(
    ("agent", "why"),
    [("no-such-agent --now", "No such file or directory"), ("./plain.txt", "Permission denied")],
)
async def test_one_that_cannot_be_started_ends_the_session(
    tmp_path: Path, workspace: Path, agent: str, why: str
) -> None:
    (workspace / "plain.txt").write_text("not a program")
    runs = opened(tmp_path, context(workspace, agent=f"command:{agent}"))
    _, done = await iterate(runs, assignment())
    assert done.told is not None and done.told.fatal and done.told.outcome == "failed"
    assert done.told.summary == f"{agent.split()[0]} cannot be started: {why}" and "may be executed" in done.told.hint


@pytest.mark.parametrize("agent", ["command:", "command:mend | tee log", 'command:"mend', "command:cd x"])
def test_what_only_a_shell_could_run_is_refused_before_a_session_begins(tmp_path: Path, agent: str) -> None:
    with pytest.raises(ConfigError, match="the agent") as caught:
        CommandAgent(context(tmp_path, agent=agent))
    assert caught.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not limit address space")
async def test_it_may_reserve_more_memory_than_tools_may(tmp_path: Path, workspace: Path) -> None:
    code = "import mmap; mmap.mmap(-1, 6 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ); print('reserved')"
    said = await told(tmp_path, workspace, f'exec {sys.executable} -S -c "{code}"')
    assert said == Told(outcome="done", summary="reserved")


async def test_the_run_can_be_replayed_without_the_script(tmp_path: Path, workspace: Path) -> None:
    runs = opened(tmp_path, context(workspace, agent=script(workspace, "echo x >> ran; echo done")))
    row, _ = await iterate(runs, assignment(evaluation=evaluated()))
    replayed = await runs.replay(row.id)
    assert replayed.finished and [each.finished for each in replayed.children] == [True]
    assert (workspace / "ran").read_text() == "x\n"


async def test_after_kill_9_it_is_run_again_and_nothing_of_the_first_is_left(tmp_path: Path, workspace: Path) -> None:
    os.mkfifo(workspace / "begun")
    agent = script(workspace, "echo x >> ran\n[ -e pid ] && exit 0\necho $$ > pid\necho > begun\nsleep 600")
    program = (sys.executable, agent_lab.__file__, str(tmp_path), str(workspace), agent)
    process = await asyncio.create_subprocess_exec(*program)
    try:
        await asyncio.to_thread((workspace / "begun").read_text)  # until the script has come to that
    finally:
        process.kill()
        await process.wait()
    runs = opened(tmp_path, context(workspace, agent=agent))
    [row] = [each for each in runs.store.runs() if each.parent is None]
    state = await runs.resume(row.id)
    assert isinstance(state.data, Done) and state.status is Status.COMPLETE
    assert state.data.told == Told(outcome="done", summary="it printed nothing")
    assert (workspace / "ran").read_text() == "x\nx\n"
    assert [each.graph for each in runs.store.runs(parent=row.id)] == ["command"]
    for _ in range(12_000):  # its supervisor ends it as soon as it has seen that the gateway is gone
        if not is_alive(int((workspace / "pid").read_text())):
            break
        await asyncio.sleep(0.005)
    else:
        raise AssertionError("the first one still runs after a minute")


async def test_an_iteration_that_a_person_cancels_ends_its_script(tmp_path: Path, workspace: Path) -> None:
    os.mkfifo(workspace / "begun")
    agent = script(workspace, "echo $$ > pid\necho > begun\nsleep 600")
    runs = opened(tmp_path, context(workspace, agent=agent))
    given = agent_lab.Only(assignment=assignment())
    row, owned = await runs.create("lab", given, Done(), title="lab", limits={}, pins={})
    working = asyncio.create_task(runs.drive(row, owned))
    await asyncio.to_thread((workspace / "begun").read_text)
    [child] = runs.store.runs(parent=row.id)
    await runs.store.request_cancel(child.id)
    state = await working
    assert isinstance(state.data, Done) and state.data.told is not None
    assert state.data.told.outcome == "stopped" and not is_alive(int((workspace / "pid").read_text()))


def test_the_evaluation_is_json_that_any_program_can_read(tmp_path: Path) -> None:
    found = json.loads(evaluated().model_dump_json(indent=1))
    assert found["results"][0]["findings"][0]["where"] == "tests/test_basket.py::test_total"
