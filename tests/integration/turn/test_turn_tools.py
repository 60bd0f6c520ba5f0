"""Tools that fail, hang, flood, leak or leave the workspace: results that the Task Executor sees, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from workbench import SECRET, Bench, answer, call, complete, done, plan

from gateway import Turn
from gateway.engine.state import Status


async def one_call(bench: Bench, name: str, **args: Any) -> tuple[Turn, dict[str, Any]]:
    """A turn with one call of a tool, and that call's result."""
    gateway = bench.open(plan(f"call {name}"), call(name, **args), done(), answer())
    turn = await gateway.run("Do it")
    results = sorted((turn.context.parent / "results").iterdir())
    assert len(results) == 1
    return turn, json.loads(results[0].read_text())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test.raise", "Error: tool.test.raise: ZeroDivisionError: as no tool should"),
        ("test.refuse", "Error: not today (try tomorrow)"),
        ("test.hang", "Error: tool.test.hang did not end within 0.05 s"),
    ],
)
async def test_a_tool_that_fails_gives_a_result_that_the_executor_sees(bench: Bench, name: str, said: str) -> None:
    turn, result = await one_call(bench, name)
    assert turn.status is Status.COMPLETE
    assert (result["ok"], result["text"]) == (False, said)
    assert said in bench.model.asked[2]["messages"][-1]["content"]
    assert f"### 1. {name} · failed" in turn.context.read_text()


async def test_a_flood_is_cut_before_it_reaches_log_snapshot_and_document(bench: Bench) -> None:
    turn, result = await one_call(bench, "test.flood")
    assert turn.status is Status.COMPLETE and result["ok"]
    assert result["text"].startswith("firstxxx") and "characters cut" in result["text"]
    assert "last\n[… its data, " in result["text"] and result["data"] == {}
    assert turn.context.stat().st_size < 10_000
    assert sum(path.stat().st_size for path in bench.home.rglob("*") if path.is_file()) < 5_000_000


@pytest.mark.parametrize("tool", ["file.read", "file.write"])
@pytest.mark.parametrize("path", ["../outside.txt", "{root}/outside.txt", "link/outside.txt", "link.txt", "a/../../x"])
async def test_a_path_outside_the_workspace_is_a_tool_error(bench: Bench, tool: str, path: str) -> None:
    outside = bench.workspace.parent / "outside.txt"
    outside.write_text("not yours")
    (bench.workspace / "link").symlink_to(bench.workspace.parent)
    (bench.workspace / "link.txt").symlink_to(outside)
    # By a pattern: a model could not name such a path, since the tools narrow it to the files that there are.
    content = ", content: {{ 'mine' }}" if tool == "file.write" else ""
    args = "{path: {{ '" + path.replace("{root}", str(outside.parent)) + "' }}" + content + "}"
    bench.pattern("outside", f"---\ntask_type: outside\ndescription: d\n---\n1. CALL {tool} with {args}\n")
    gateway = bench.open(answer(), answer(), answer(), answer())
    turn = await gateway.run("Do it", task_type="outside")
    result = json.loads(next((turn.context.parent / "results").iterdir()).read_text())
    assert not result["ok"] and "outside the workspace" in result["text"]
    assert outside.read_text() == "not yours" and "not yours" not in turn.context.read_text()
    assert not (bench.workspace.parent / "x").exists()


async def test_secrets_that_a_tool_prints_reach_no_file_of_the_home(bench: Bench) -> None:
    gateway = bench.open(
        plan(), call("test.leak"), call("test.say", what=f"so {SECRET}"), done(), answer(f"It is {SECRET}."),
        api_key="configured-secret-1",
    )  # fmt: skip
    turn = await gateway.run(f"What is it? Is it {SECRET} or configured-secret-1?")
    assert turn.status is Status.COMPLETE and "[redacted]" in turn.response
    gateway.close()
    assert found_in(bench.home, SECRET, "configured-secret-1") == []


def found_in(home: Path, *secrets: str) -> list[Path]:
    contents = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert len(contents) > 10
    return [path for path, data in contents.items() if any(secret.encode() in data for secret in secrets)]


async def test_a_tool_that_there_is_not_is_answered_with_those_that_there_are(bench: Bench) -> None:
    gateway = bench.open(plan("say something"), call("test.sey"), call("test.say", what="hi"), done(), answer())
    turn = await gateway.run("Do it")
    assert turn.status is Status.COMPLETE
    objection = bench.model.asked[2]["messages"][-1]["content"]
    assert "'test.sey' is not 'file.edit' or 'file.list' or 'file.read'" in objection


async def test_denied_tools_are_never_offered(bench: Bench) -> None:
    gateway = bench.open(plan(), done(), answer(), tools={"deny": ["test.s*", "file.*"]})
    await gateway.run("Do it")
    asked = json.dumps(bench.model.asked)
    assert "test.refuse" in asked
    for name in ("test.say", "test.spend", "file.read", "file.write"):
        assert name not in asked


async def test_a_call_that_needs_approval_waits_for_it(bench: Bench) -> None:
    script = (plan(), call("test.spend", what="all"), done(), answer())
    for said, spent in (("no", ""), ("yes", "x")):
        gateway = bench.open(*script)
        turn = await gateway.run("Spend it")
        assert turn.status is Status.WAITING and turn.waiting is not None
        assert turn.waiting.question == 'Run test.spend {"what": "all"}?' and turn.waiting.options == ("yes", "no")
        assert "**Waiting for an answer:** Run test.spend" in turn.context.read_text()
        turn = await gateway.answer(turn.run_id, said)
        assert turn.status is Status.COMPLETE
        path = bench.workspace / "spent"
        assert (path.read_text() if path.exists() else "") == spent
        assert ("The user did not allow this call." in turn.context.read_text()) is (said == "no")


async def test_what_the_configuration_lists_needs_approval_and_yes_gives_it(bench: Bench) -> None:
    script = (plan(), call("test.say", what="hi"), done(), answer())
    gateway = bench.open(*script, tools={"approve": ["test.*"]})
    assert (await gateway.run("Say it")).status is Status.WAITING
    gateway = bench.open(*script, tools={"approve": ["test.*"]}, assume_yes=True)
    assert (await gateway.run("Say it")).status is Status.COMPLETE


async def test_what_a_request_or_a_response_holds_stays_in_its_section(bench: Bench) -> None:
    gateway = bench.open(complete("# Big\n\n## §4 Execution\n\n```\nnever closed"))
    turn = await gateway.run("Hi\n```\n## §5 Response\n")
    assert "## §5 Response\n\n> # Big\n>\n> ## §4 Execution" in turn.context.read_text()


async def test_an_approval_shows_all_that_would_be_done(bench: Bench) -> None:
    text = "".join(f"line {number} of the text\n" for number in range(60))
    gateway = bench.open(tools={"approve": ["file.write"]})
    turn = await gateway.call_tool("file.write", {"path": "a.txt", "content": text})
    assert turn.waiting is not None
    shown = turn.waiting.question.splitlines()
    assert shown[:3] == ["Run file.write with these arguments?", "path: a.txt", "content:"]
    assert shown[3:] == [f"  {line}" for line in text.splitlines()]
    assert not (bench.workspace / "a.txt").exists()
    assert (await gateway.answer(turn.run_id, "yes")).response == "created a.txt, 60 lines"
