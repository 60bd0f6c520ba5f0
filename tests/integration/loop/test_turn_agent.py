"""Turns as iterations: real turns with a scripted model, whose code is repaired and whose files are protected."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import quick_pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "turn"))

from agent_lab import Done, assignment, evaluated, iterate, register
from workbench import Bench, answer, call, clarify, complete, done, give_up, plan

from gateway import Gateway
from gateway.engine.ports import Json
from gateway.engine.state import Status
from gateway.errors import ModelUnavailable, PatternError, UsageError
from gateway.loop import folder_of
from gateway.loop.assignment import assignment as assigned
from gateway.loop.state import ConditionResult, Finding, Limits, LoopContext, LoopOptions, LoopState
from gateway.loop.tools.check import check_run
from gateway.loop_agents import agent_of, models_of, protected
from gateway.tools.child import Caller

SESSION = "01LAB"
CODE = "def pages(n, size):\n    return n // size\n"
RIGHT = "def pages(n, size):\n    return -(-n // size)\n"
TEST = "from pager import pages\n\n\ndef test_rest():\n    assert pages(5, 2) == 3\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    opened = Bench(tmp_path)
    opened.tools = (*opened.tools, check_run)
    for name, text in {
        "pager.py": CODE,
        "tests/test_pager.py": TEST,
        "conftest.py": "",
        "pytest.ini": quick_pytest.INI,
    }.items():
        (opened.workspace / name).parent.mkdir(exist_ok=True)
        (opened.workspace / name).write_text(text)
    yield opened
    opened.close()


def context(bench: Bench, gateway: Gateway, **options: Any) -> LoopContext:
    return LoopContext(
        run_id=SESSION,
        task="Make the tests pass",
        name="pager",
        workspace=str(bench.workspace),
        options=LoopOptions(**options),
        models=models_of(gateway.settings),
        settings=gateway.settings.public(),
    )


async def opened(bench: Bench, *script: Json, settings: dict[str, Any] | None = None, **options: Any) -> Gateway:
    gateway = bench.open(*script, **(settings or {}))
    session = context(bench, gateway, **options)
    agent = agent_of(gateway, session)
    register(gateway.runs, agent, folder_of(bench.home, SESSION), await agent.pins())
    return gateway


FAILING = ConditionResult(
    name="all_tests_pass",
    met=False,
    summary="1 failed",
    findings=(Finding(where="tests/test_pager.py::test_rest", message="pages(5, 2) gave 2, but must give 3"),),
    total=1,
)


WEAK = "import hashlib\n\n\ndef short(text):\n    return hashlib.md5(text).hexdigest()\n"
SCANNED = ConditionResult(
    name="security_scan_clean",
    met=False,
    summary="bandit: 1 finding",
    findings=(Finding(where="pager.py:5", message="Use of weak MD5 hash for security.", code="B324"),),
    total=1,
)


async def test_an_iteration_is_a_turn_that_mends_what_it_is_asked_to(bench: Bench) -> None:
    mended = {"answer": f"```python\n{RIGHT}```"}
    gateway = await opened(bench, mended)
    session = context(bench, gateway)
    state = LoopState(exits=("all_tests_pass",), limits=Limits(), evaluation=evaluated(FAILING))
    given = assigned(session, state)
    row, ended = await iterate(gateway.runs, given)
    assert ended.told is not None and ended.told.outcome == "done"
    assert ended.told.summary == "changed pages in pager.py"
    assert (bench.workspace / "pager.py").read_text() == RIGHT
    [turn] = gateway.turns(f"loop-{SESSION}")
    assert (turn.id, turn.parent, turn.ordinal) == (ended.run_id, row.id, 1)
    assert turn.title.startswith("iteration 1: The test tests/test_pager.py::test_rest fails.")
    [asked] = [each["messages"][-1]["content"] for each in bench.model.asked]  # nothing but how it is mended
    assert "The test tests/test_pager.py::test_rest fails" in asked and "It is a part of this task" in asked
    assert "pages(5, 2) gave 2, but must give 3" in asked and "def pages" in asked
    counters = gateway.state(gateway.runs.store.run(row.id)).counters
    assert counters["model_calls"] == 1
    replayed = await gateway.replay(row.id)
    assert replayed.finished and [each.finished for each in replayed.children] == [True]


async def test_a_test_among_several_that_fail_is_mended_alone(bench: Bench) -> None:
    more = "\n\ndef test_name():\n    assert pages.__name__ == 'sheets'\n"
    (bench.workspace / "tests/test_pager.py").write_text(TEST + more)
    mended = {"answer": f"```python\n{RIGHT}```"}
    gateway = await opened(bench, mended)
    state = LoopState(exits=("all_tests_pass",), limits=Limits(), evaluation=evaluated(FAILING))
    _, ended = await iterate(gateway.runs, assigned(context(bench, gateway), state))
    assert ended.told is not None and ended.told.outcome == "done"
    assert (bench.workspace / "pager.py").read_text() == RIGHT


UNUSED = "import os\n\n\n"
FINDINGS = [
    (CODE.replace("return", "rest = 1\n    return"), "pager.py:2", {"answer": f"```python\n{RIGHT}```"}, RIGHT),
    (UNUSED + RIGHT, "pager.py:1", {"answer": {"reasoning": "it is not used", "new": ""}}, f"\n\n\n{RIGHT}"),
]


@pytest.mark.parametrize(("code", "where", "said", "after"), FINDINGS, ids=("definition", "line"))
async def test_what_a_linter_finds_is_narrowed_to_its_definition_or_its_line(
    bench: Bench, code: str, where: str, said: Json, after: str
) -> None:
    (bench.workspace / "pager.py").write_text(code)
    gateway = await opened(bench, said, answer("It is gone."), task_type="code_modify")
    found = Finding(where=where, message="it is not used", code="F")
    lint = ConditionResult(name="linting_clean", met=False, summary="1 finding", findings=(found,), total=1)
    state = LoopState(exits=("linting_clean",), limits=Limits(), evaluation=evaluated(lint))
    _, ended = await iterate(gateway.runs, assigned(context(bench, gateway), state))
    assert ended.told is not None and ended.told.outcome == "done", ended.told
    assert (bench.workspace / "pager.py").read_text() == after


async def test_what_a_linter_proposes_is_done_without_asking_a_model_and_the_linter_judges_it(bench: Bench) -> None:
    (bench.workspace / "pager.py").write_text(f"import os\nimport sys\n\n\n{CODE}")
    result = ConditionResult(
        name="linting_clean",
        met=False,
        summary="ruff: 2 findings",
        findings=(Finding(where="pager.py:1", message="`os` unused (to mend it: delete this line)", code="F401"),),
        total=2,
    )
    gateway = await opened(bench)
    state = LoopState(exits=("linting_clean",), limits=Limits(), evaluation=evaluated(result))
    row, ended = await iterate(gateway.runs, assigned(context(bench, gateway), state))
    assert ended.told is not None and ended.told.outcome == "done", ended.told
    assert (bench.workspace / "pager.py").read_text() == f"import sys\n\n\n{CODE}"
    assert bench.model.asked == []
    assert (await gateway.replay(row.id)).finished


async def test_what_does_not_silence_the_security_scan_is_undone(bench: Bench) -> None:
    (bench.workspace / "pager.py").write_text(WEAK)
    same = {"answer": "```python\ndef short(text):\n    return hashlib.sha1(text).hexdigest()\n```"}
    line = {"answer": {"reasoning": "it is not weak", "new": "    return hashlib.sha256(text).hexdigest()"}}
    gateway = await opened(bench, same, line)  # the second candidate is asked for the line alone
    state = LoopState(exits=("security_scan_clean",), limits=Limits(), evaluation=evaluated(SCANNED))
    _, ended = await iterate(gateway.runs, assigned(context(bench, gateway), state))
    assert ended.told is not None and ended.told.outcome == "done", ended.told
    assert (bench.workspace / "pager.py").read_text() == WEAK.replace("md5", "sha256")
    assert len(bench.model.asked) == 2


async def test_of_a_finding_that_is_not_mended_the_planner_asks_no_person(bench: Bench) -> None:
    (bench.workspace / "pager.py").write_text(WEAK)
    same = {"answer": "```python\ndef short(text):\n    return hashlib.sha1(text).hexdigest()\n```"}
    lines = [
        {"answer": {"reasoning": "it is strong", "new": f"    return hashlib.md5(text + {number}).hexdigest()"}}
        for number in range(5)
    ]
    gateway = await opened(bench, same, *lines, clarify("Which one?"), complete("It is not mended."))
    state = LoopState(exits=("security_scan_clean",), limits=Limits(), evaluation=evaluated(SCANNED))
    _, ended = await iterate(gateway.runs, assigned(context(bench, gateway), state))
    assert ended.told is not None and ended.told.outcome == "failed", ended.told
    assert (bench.workspace / "pager.py").read_text() == WEAK
    *_, asked, again = bench.model.asked
    assert asked["schema_name"] == again["schema_name"] == "PLANNER_DECISION"
    assert "CLARIFY" not in str(asked["output_schema"]) and "COMPLETE" in str(asked["output_schema"])


async def test_the_next_iteration_knows_of_the_one_before(bench: Bench) -> None:
    script = (plan("look"), call("test.say", what="a"), done(), answer("I looked at the pager."))
    gateway = await opened(bench, *script, plan("look"), call("test.say", what="b"), done(), answer("Again."))
    await iterate(gateway.runs, assignment("Look at it"))
    await iterate(gateway.runs, assignment("Look again"))
    assert {row.ordinal for row in gateway.turns(f"loop-{SESSION}")} == {1, 2}
    assert "Answer: I looked at the pager." in str(bench.model.asked[4])


@pytest.mark.parametrize(
    "path", ["tests/test_pager.py", "./tests/../tests/test_pager.py", "tests/new.py", "conftest.py"]
)
async def test_protected_files_are_refused(bench: Bench, path: str) -> None:
    wrong = (call("file.write", path=path), {"answer": "def test_nothing(): pass\n"})
    script = (plan("with file.write"), *wrong, done(), answer("It could not be written."))
    gateway = await opened(bench, *script, protect=("tests/", "./conftest.py"))
    await iterate(gateway.runs, assignment("Write it"))
    results = gateway.results(gateway.turn(1, f"loop-{SESSION}"))
    assert [(each["tool"], each["ok"]) for each in results] == [("file.write", False)]
    assert "the configuration denies file.write" in results[0]["text"]
    assert (bench.workspace / "tests/test_pager.py").read_text() == TEST
    assert not (bench.workspace / "tests/new.py").exists() and (bench.workspace / "conftest.py").read_text() == ""


def test_what_the_configuration_denies_already_stays_denied() -> None:
    rules = {"file.write": {"allow": ["docs/*"], "deny": ["secrets/*"]}, "shell.run": {"ask": ["*"]}}
    tools = protected({"deny": ["git.*"], "policy": rules}, ("tests", "a.py"))
    assert tools["deny"] == ["git.*"] and tools["policy"]["shell.run"] == {"ask": ["*"]}
    assert tools["policy"]["file.write"] == {
        "allow": ["docs/*"],
        "deny": ["secrets/*", "tests", "tests/*", "a.py", "a.py/*"],
    }
    assert rules["file.write"]["deny"] == ["secrets/*"]
    assert protected({}, ()) == {"policy": {}}


async def test_a_task_type_that_is_given_needs_no_plan(bench: Bench) -> None:
    gateway = await opened(bench, call("test.say", what="a"), done(), answer("Said."), task_type="generic")
    _, ended = await iterate(gateway.runs, assignment("Say a"))
    assert ended.told is not None and ended.told.outcome == "done" and len(bench.model.asked) == 3


async def test_a_turn_that_gives_up_is_a_failed_iteration(bench: Bench) -> None:
    script = (plan(), call("test.refuse"), give_up(), complete("It cannot be done."))
    gateway = await opened(bench, *script)
    _, ended = await iterate(gateway.runs, assignment())
    assert ended.told is not None
    assert (ended.told.outcome, ended.told.error_kind, ended.told.fatal) == ("failed", "unfinished", False)
    assert "the task could not be completed" in ended.told.summary


async def test_a_turn_that_has_used_up_its_steps_is_limited(bench: Bench) -> None:
    script = (plan(), *(call("test.say", what=str(number)) for number in range(9)))
    gateway = await opened(bench, *script, settings={"limits": {"max_steps": 3}})
    _, ended = await iterate(gateway.runs, assignment())
    assert ended.told is not None
    assert (ended.told.outcome, ended.told.summary) == ("limited", "it used up its steps")


async def test_a_model_that_cannot_be_reached_is_nothing_that_another_iteration_mends(bench: Bench) -> None:
    class Gone:
        async def complete(self, request: Json) -> Json:
            raise ModelUnavailable("the model's server cannot be reached", hint="start it")

    gateway = await opened(bench, settings={"port": Gone()})
    _, ended = await iterate(gateway.runs, assignment())
    assert ended.told is not None
    assert (ended.told.outcome, ended.told.error_kind, ended.told.fatal) == ("failed", "model_unavailable", True)
    assert (ended.told.summary, ended.told.hint) == ("the model's server cannot be reached", "start it")


async def test_a_question_of_the_turn_is_the_sessions(bench: Bench) -> None:
    script = (clarify("Which pager?"), plan("look"), call("test.say", what="a"), done(), answer("The blue one."))
    gateway = await opened(bench, *script)
    row, _ = await iterate(gateway.runs, assignment())
    state = gateway.state(gateway.runs.store.run(row.id))
    assert state.status is Status.WAITING and state.waiting is not None and state.waiting.question == "Which pager?"
    await gateway.runs.answer(row.id, "the blue one")
    state = await gateway.runs.resume(row.id)
    assert isinstance(state.data, Done) and state.data.told is not None and state.data.told.outcome == "done"


async def test_an_iterations_time_is_the_least_of_its_limits(bench: Bench) -> None:
    script = (plan("look"), call("test.say", what="a"), done(), answer())
    for timeout, expected in ((60.0, 60.0), (900.0, 300.0)):
        gateway = await opened(bench, *script, iteration_timeout_s=timeout)
        _, ended = await iterate(gateway.runs, assignment())
        limits = gateway.runs.store.run(ended.run_id).limits
        assert (limits["time_s"], limits["steps"]) == (expected, 100)


async def test_an_iteration_that_changes_a_prompt_does_not_change_the_next_one(bench: Bench) -> None:
    script = (plan("look"), call("test.say", what="a"), done(), answer())
    gateway = await opened(bench, *script)
    bench.pattern("generic", "changed by an iteration")
    _, ended = await iterate(gateway.runs, assignment())
    assert ended.told is not None and ended.told.outcome == "done"


def test_an_agent_that_cannot_work_is_refused_before_a_session_begins(bench: Bench) -> None:
    gateway = bench.open()
    with pytest.raises(UsageError, match="there is no agent 'trun'"):
        agent_of(gateway, context(bench, gateway, agent="trun"))
    for agent in ("turn", "phone"):
        with pytest.raises(ModelUnavailable, match="no model is configured"):
            agent_of(gateway, context(bench, gateway, agent=agent).with_(models={}))


async def test_a_task_type_that_there_is_not_is_refused_before_a_session_begins(bench: Bench) -> None:
    gateway = bench.open()
    with pytest.raises(PatternError, match="Did you mean code_modify"):
        await agent_of(gateway, context(bench, gateway, task_type="code_modfy")).pins()


async def test_an_iteration_on_the_phone_is_told_the_task_and_what_is_not_reached(bench: Bench) -> None:
    from gateway.phone.task.state import PhoneContext

    gateway = bench.open(loop={"protect": ["tests"]}, limits={"max_tokens": 1000, "max_taps": 7})
    session = context(bench, gateway, agent="phone", iteration_timeout_s=90)
    agent = agent_of(gateway, session)
    given = assigned(session, LoopState(exits=("all_tests_pass",), limits=Limits(), evaluation=evaluated(FAILING)))
    caller = Caller("02", bench.home / "iterations", await agent.pins())
    new = await agent.begin(given, caller)
    assert isinstance(new.context, PhoneContext)
    assert (new.graph, new.session, new.pins) == ("phone", None, caller.pins)
    assert new.context.task == "Make the tests pass\n\nNot reached yet: all_tests_pass: 1 failed"
    assert new.context.folder == f"{bench.home}/iterations/02"
    assert {name: new.limits[name] for name in ("time_s", "tokens", "taps")} == {
        "time_s": 90,
        "tokens": 1000,
        "taps": 7,
    }
    long = await agent.begin(given.model_copy(update={"task": "Tap. " * 2000}), caller)
    assert isinstance(long.context, PhoneContext) and len(long.context.task) == 4000
