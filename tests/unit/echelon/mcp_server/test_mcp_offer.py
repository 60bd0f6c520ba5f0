"""What is offered to MCP clients, and under which names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echelon.mcp_server.offer import RUN, Selection, hints, offered_names
from gateway.engine.ports import Effect
from gateway.tools.registry import Tool, Touches, tool


@given(st.sets(st.text(alphabet="abZ0._-é/ ", min_size=1, max_size=90), max_size=12))
def test_names_differ_fit_every_client_and_do_not_depend_on_order(names: set[str]) -> None:
    offered = offered_names(names)
    assert offered.keys() == names and len(set(offered.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) and each != RUN for each in offered.values())
    assert offered_names(sorted(names, reverse=True)) == offered


def test_a_name_is_the_tools_own_with_underscores_unless_that_is_taken() -> None:
    offered = offered_names(["file.read", "file_read", "echelon.run", "mcp.time.convert_time"])
    assert offered["file.read"] == "file_read" and offered["mcp.time.convert_time"] == "mcp_time_convert_time"
    assert re.fullmatch(r"file_read_[0-9a-f]{8}", offered["file_read"])
    assert re.fullmatch(r"echelon_run_[0-9a-f]{8}", offered["echelon.run"])


@pytest.mark.parametrize(
    ("selection", "has", "has_not"),
    [
        (Selection(), ["file.read", RUN], ["mcp.time.now"]),
        (Selection(besides=("file.*",)), ["memory.save"], ["file.read", "mcp.time.now"]),
        (Selection(only=("*",)), ["file.read", "mcp.time.now", RUN], []),
        (Selection(only=("file.*", "mcp.time.*"), besides=("*.write",)), ["mcp.time.now"], ["file.write", RUN]),
    ],
)
def test_a_selection(selection: Selection, has: list[str], has_not: list[str]) -> None:
    assert all(selection.has(name) for name in has) and not any(selection.has(name) for name in has_not)


@pytest.mark.parametrize(
    ("only", "others"),
    [((), False), (("file.*", "memory.save"), False), (("*",), True), (("m*",), True), (("mcp.time.now",), True)]
    + [(("[a-z]*.read",), True), (("mcpx.*",), False)],
)
def test_other_servers_are_started_only_where_a_tool_of_theirs_is_wanted(only: tuple[str, ...], others: bool) -> None:
    assert Selection(only=only).others is others


def made(effect: object, *touches: Touches) -> Tool:
    def run() -> str:
        """Do it."""
        return ""

    return tool("a.b", effect=effect, touches=touches)(run)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effect", "expected"),
    [  # read-only, idempotent, destructive
        (Effect.READ, (True, True, False)),
        (Effect.IDEMPOTENT, (False, True, None)),
        (Effect.ONCE, (False, False, True)),
        (lambda args: Effect.READ, (False, False, True)),
    ],
)
def test_hints_come_from_the_effect(effect: object, expected: tuple[bool | None, ...]) -> None:
    found = hints(made(effect))
    assert (found.read_only_hint, found.idempotent_hint, found.destructive_hint) == expected
    assert found.title == "a.b" and found.open_world_hint is False
    assert hints(made(effect, Touches.NETWORK)).open_world_hint
    assert hints(made(effect, Touches.PROGRAMS)).open_world_hint
