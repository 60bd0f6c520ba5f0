"""Which calls are allowed, asked about, denied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.ports import Effect
from gateway.tools.builtin.file import file_write
from gateway.tools.policy import Policy, Verdict
from gateway.tools.policy import _fits as fits
from gateway.tools.registry import Tool, ToolContext, tool


@tool("demo.run", effect=Effect.ONCE, ask=True)
async def demo(command: Annotated[str, "what to run"], times: int = 1) -> str:
    """Run something."""
    return command * times


@tool("demo.look", effect=Effect.READ)
async def look(what: str) -> str:
    """Look at something."""
    return what


def verdict(policy: Policy, called: Tool, ctx: ToolContext, **args: object) -> Verdict:
    return policy.verdict(called, called.args.model_validate(args).model_dump(), ctx)


def test_a_tool_is_asked_about_as_it_declares_where_the_configuration_says_nothing(ctx: ToolContext) -> None:
    policy = Policy({})
    assert verdict(policy, demo, ctx, command="ls") is Verdict.ASK
    assert verdict(policy, look, ctx, what="ls") is Verdict.ALLOW


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest", Verdict.ALLOW),
        ("pytest -q tests", Verdict.ALLOW),
        ("pytest --pdb", Verdict.DENY),
        ("ls", Verdict.ASK),
        ("echo pytest", Verdict.ASK),
        ("pytest [a]", Verdict.ALLOW),
        ("pytest\nrm x", Verdict.ALLOW),
    ],
)
def test_deny_goes_before_allow_and_allow_before_ask(command: str, expected: Verdict, ctx: ToolContext) -> None:
    policy = Policy({"policy": {"demo.run": {"allow": ["pytest*"], "ask": ["*"], "deny": ["*--pdb*"]}}})
    assert verdict(policy, demo, ctx, command=command) is expected


def test_one_argument_can_be_spoken_of(ctx: ToolContext) -> None:
    policy = Policy({"policy": {"demo.*": {"deny": ["times=3"], "allow": ["times=1"]}}})
    assert [verdict(policy, demo, ctx, command="a", times=n) for n in (1, 2, 3)] == [
        Verdict.ALLOW,
        Verdict.ASK,
        Verdict.DENY,
    ]


def test_a_tool_that_is_taken_away_stays_so_whatever_is_allowed(ctx: ToolContext) -> None:
    policy = Policy({"deny": ["demo.*"], "policy": {"demo.run": {"allow": ["*"]}}})
    assert policy.denies("demo.run") and not policy.denies("file.read")
    assert verdict(policy, demo, ctx, command="ls") is Verdict.DENY
    assert Policy({"policy": {"demo.run": {"deny": ["*"]}}}).denies("demo.run")


def test_what_is_listed_for_approval_is_allowed_where_a_pattern_says_so(ctx: ToolContext) -> None:
    policy = Policy({"approve": ["demo.look"], "policy": {"demo.look": {"allow": ["safe*"]}}})
    assert verdict(policy, look, ctx, what="safe thing") is Verdict.ALLOW
    assert verdict(policy, look, ctx, what="other") is Verdict.ASK


@pytest.mark.parametrize("path", ["secrets/key", "./secrets/key", "a/../secrets/key", "linked/key"])
def test_a_path_is_judged_by_where_it_leads(path: str, ctx: ToolContext) -> None:
    (ctx.workspace / "secrets").mkdir()
    (ctx.workspace / "a").mkdir()
    (ctx.workspace / "linked").symlink_to(ctx.workspace / "secrets")
    policy = Policy({"policy": {"file.*": {"deny": ["secrets/*"]}}})
    assert verdict(policy, file_write, ctx, path=path, content="x") is Verdict.DENY
    assert verdict(policy, file_write, ctx, path="a/key", content="x") is Verdict.ALLOW


@given(command=st.text(), patterns=st.lists(st.text(max_size=6), max_size=3))
def test_what_is_denied_by_a_pattern_is_never_allowed(command: str, patterns: list[str]) -> None:
    ctx = ToolContext(Path(), Path(), artifacts=None)  # type: ignore[arg-type]  # not needed for this
    literal = "".join(f"{each}" for each in command if each not in "*?=")
    rules = {"deny": [f"*{literal}*"], "allow": ["*", *patterns], "ask": patterns}
    said = verdict(Policy({"policy": {"demo.run": rules}}), demo, ctx, command=f"before {literal} after")
    assert said is Verdict.DENY


def test_a_plain_function_is_a_tool_with_a_schema_from_its_hints() -> None:
    schema = demo.schema()
    assert schema["properties"]["command"]["description"] == "what to run"
    assert schema["properties"]["times"] == {"default": 1, "title": "Times", "type": "integer"}
    assert schema["required"] == ["command"] and schema["additionalProperties"] is False
    assert demo.description == "Run something."


@given(pattern=st.text("ab?*[", max_size=8), text=st.text("ab[*?\n", max_size=12))
def test_a_pattern_fits_as_a_shell_has_it_but_for_brackets(pattern: str, text: str) -> None:
    expected = re.compile("".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in pattern), re.DOTALL)
    assert fits(pattern, text) is (expected.fullmatch(text) is not None)


def test_a_pattern_of_many_stars_is_judged_at_once() -> None:
    text = "rm -r " * 200_000
    assert not fits("*rm*-r*rm*-r*rm*-f*x*y", text)
    assert fits("*rm*-r*rm*-r*rm*", text)


def test_the_subject_is_the_argument_that_comes_first_in_the_schema_not_in_the_call(ctx: ToolContext) -> None:
    policy = Policy({"policy": {"demo.*": {"allow": ["1*"], "deny": ["gold*"]}}})
    for args in ({"command": "gold", "times": 1}, {"times": 1, "command": "gold"}):
        assert policy.verdict(demo, args, ctx) is Verdict.DENY


def test_names_that_no_tool_has_are_told_with_the_nearest() -> None:
    policy = Policy({"deny": ["git.comit", "file.*", "mcp.gone.*"], "policy": {"zzz": {"ask": ["*"]}}})
    said = policy.misspelt(["git.commit", "file.read"])
    assert [each.partition("names ")[2] for each in said] == [
        "'git.comit', which no tool is called: did you mean git.commit?",
        "'zzz', which no tool is called",
    ]
