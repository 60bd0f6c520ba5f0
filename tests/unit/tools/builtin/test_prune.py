from __future__ import annotations

from collections.abc import Awaitable, Callable

import quick_pytest

from gateway.tools.registry import ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]

CODE = "def double(n):\n    if n < 0:\n        raise ValueError(n)\n    return 2 * n\n"


def write(ctx: ToolContext, *checks: str) -> None:
    (ctx.workspace / "doubling.py").write_text(CODE)
    (ctx.workspace / "pytest.ini").write_text(quick_pytest.INI)
    lines = "\n".join(f"    {line}" for check in checks for line in check.splitlines())
    (ctx.workspace / "test_doubling.py").write_text(
        f"import pytest\nfrom doubling import double\n\ndef test_double():\n{lines}\n"
    )


async def prune(call: Call, asked: str = "double 21 is 42, and a negative one is a ValueError") -> ToolResult:
    return await call("test.prune", path="test_doubling.py", asked=asked)


async def test_results_that_nobody_asked_for_are_taken_out_and_the_call_stays(ctx: ToolContext, call: Call) -> None:
    write(ctx, "assert double(2) == 5", "assert double(21) == 42", "assert double(3) == 6")
    result = await prune(call)
    assert result.ok and result.data["removed"] == ["assert double(2) == 5"]
    left = (ctx.workspace / "test_doubling.py").read_text()
    assert "    double(2)\n    assert double(21) == 42\n    assert double(3) == 6\n" in left


async def test_a_call_that_fails_is_taken_out_whole(ctx: ToolContext, call: Call) -> None:
    write(ctx, "assert double(-1) == ValueError(-1)", "assert double(21) == 42")
    assert (await prune(call)).ok
    assert "double(-1)" not in (ctx.workspace / "test_doubling.py").read_text()


async def test_what_was_asked_for_stays_though_it_fails(ctx: ToolContext, call: Call) -> None:
    for check in (
        "assert double(21) == 42 + 0\nassert double(20) == 42",
        "with pytest.raises(ValueError):\n    double(1)",
    ):
        write(ctx, check)
        before = (ctx.workspace / "test_doubling.py").read_text()
        result = await prune(call, "42 it is, or a ValueError")
        assert not result.ok and "is unchanged" in result.text
        assert (ctx.workspace / "test_doubling.py").read_text() == before


async def test_a_test_that_passes_is_left_alone(ctx: ToolContext, call: Call) -> None:
    write(ctx, "assert double(1) == 2")
    result = await prune(call)
    assert result.ok and result.data == {"path": "test_doubling.py", "removed": []}
