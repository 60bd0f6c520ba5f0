"""Random well-formed patterns, walked at random."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gateway.errors import PatternError
from gateway.turn.patterns.cursor import Cursor, MoveKind, Phase
from gateway.turn.patterns.decision import decision_schema, match, tools_of
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.program import MAX_RETRIES, Program, compile_pattern
from gateway.turn.task_state import TaskState

TOOLS = {
    name: {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for name in ("a.one", "a.two", "b.one", "b.two")
}
NAMES = st.sampled_from(sorted(TOOLS))
CALLS = st.one_of(
    NAMES.map("CALL {}".format),
    NAMES.map("CALL {} — to get on".format),
    st.sampled_from(["CALL any of {a.*}", "CALL any of {*} until DONE", "CALL any of {b.one, a.*}: next"]),
)
EXPRESSIONS = st.sampled_from(
    ["{{ last.ok }}", "{{ not last.ok }}", "{{ results | length > 3 }}", "{{ context.known }}"]
)


@st.composite
def branches(draw: st.DrawFn, steps: int) -> str:
    move = draw(
        st.one_of(
            CALLS,
            st.integers(1, steps).map("GO TO step {}".format),
            st.sampled_from(["RETRY", "RETRY with care", "DONE", "ESCALATE"]),
        )
    )
    return draw(st.sampled_from(["", "ANALYZE, ", "ANALYZE the errors, "])) + move


@st.composite
def patterns(draw: st.DrawFn) -> Program:
    steps = draw(st.integers(1, 5))
    lines = ["---", "task_type: t", "description: d", f"max_steps: {draw(st.integers(1, 12))}", "---"]
    for number in range(1, steps + 1):
        kind = draw(st.sampled_from(["move", "try", "check", "check"]))
        if kind == "move":
            lines.append(f"{number}. {draw(branches(steps))}")
        elif kind == "try":
            calls = ", ".join(f"CALL {name}" for name in draw(st.lists(NAMES, min_size=1, max_size=3)))
            lines.append(f"{number}. TRY {draw(st.integers(1, 3))}: {calls}, UNTIL {draw(EXPRESSIONS)}")
        else:
            expression = draw(st.one_of(st.just(""), EXPRESSIONS))
            lines.append(
                f"{number}. {draw(st.sampled_from(['CHECK', 'VERIFY']))} {expression}: is question {number} so?"
            )
            arrow = draw(st.sampled_from(["→", "->"]))
            lines += [f"   - YES {arrow} {draw(branches(steps))}", f"   - NO {arrow} {draw(branches(steps))}"]
    try:
        return compile_pattern("\n".join(lines), name="t")
    except PatternError as error:
        assert all("without a tool call" in message for _, message in error.problems), (lines, error.problems)
        assume(False)
        raise


def decisions(program: Program, cursor: Cursor, scope: Scope) -> list[dict[str, Any]]:
    """The decisions that the legal moves allow, each once."""
    moves = program.moves(cursor, scope)
    calls = [(move, name) for move in moves for name in tools_of(move, TOOLS)]
    names = [name for _, name in calls]
    found: list[dict[str, Any]] = []
    for move, name in calls:
        step = {"step": move.step} if names.count(name) > 1 else {}
        found.append({"reasoning": "", "action": "CALL_TOOL", **step, "tool": {"name": name, "args": {}}})
    return found + [{"reasoning": "", "action": move.kind.value} for move in moves if move.kind is not MoveKind.CALL]


@settings(deadline=None, max_examples=150)
@given(program=patterns(), data=st.data())
def test_every_walk_ends_within_its_bounds_and_only_legal_moves_are_offered(
    program: Program, data: st.DataObject
) -> None:
    scope = Scope(context={"known": data.draw(st.booleans())})
    cursor = program.resolve(program.start(), scope)
    undone = 0
    for _ in range(3 * program.max_steps + 3):
        assert Cursor.model_validate_json(cursor.model_dump_json()) == cursor
        assert program.resolve(cursor, scope) == cursor
        assert cursor.calls == len(scope.results) <= program.max_steps
        assert cursor.retries <= MAX_RETRIES
        state = TaskState.of(program, cursor)
        assert not set(state.completed_steps) & set(state.pending_steps)
        assert {*state.completed_steps, *state.pending_steps} <= set(program.steps)
        if cursor.ended:
            break
        if cursor.undo:
            undone += 1
            assert scope.results[-cursor.undo]["candidate"] == cursor.candidate
            assert scope.results[-cursor.undo]["call"] == 0
            cursor = program.resolve(program.undone(cursor), scope)
            continue
        moves = program.moves(cursor, scope)
        judged_first = moves[0].call > 0
        assert (moves[-1].kind is MoveKind.ESCALATE) is not judged_first
        assert len(moves) > 1 or judged_first
        move = match(data.draw(st.sampled_from(decisions(program, cursor, scope))), moves)
        cursor = program.take(cursor, move)
        if move.kind is MoveKind.CALL:
            assert cursor.phase is Phase.RUNNING
            ok = data.draw(st.booleans())
            scope = Scope((*scope.results, {"ok": ok, "candidate": move.candidate, "call": move.call}), scope.context)
            cursor = program.ran(cursor, ok)
        cursor = program.resolve(cursor, scope)
    assert cursor.ended
    assert program.moves(cursor, scope) == ()
    assert undone <= cursor.calls


@settings(deadline=None, max_examples=75)
@given(program=patterns(), data=st.data())
def test_the_schema_accepts_exactly_the_legal_moves_and_each_leads_back(program: Program, data: st.DataObject) -> None:
    scope = Scope(results=({"ok": True},) * data.draw(st.integers(0, 4)))
    cursor = program.resolve(program.start(), scope)
    if cursor.ended:
        return
    moves = program.moves(cursor, scope)
    validator = Draft202012Validator(decision_schema(moves, TOOLS))
    legal = decisions(program, cursor, scope)
    for decision in legal:
        assert validator.is_valid({"decision": decision})
    assert {id(match(decision, moves)) for decision in legal} == {id(move) for move in moves}
    steps: list[dict[str, str]] = [{}, *({"step": step} for step in {*program.steps, *(move.step for move in moves)})]
    everything: list[dict[str, Any]] = [
        {"reasoning": "", "action": "CALL_TOOL", **step, "tool": {"name": name, "args": {}}}
        for name in TOOLS
        for step in steps
    ]
    for decision in [*everything, {"reasoning": "", "action": "DONE"}, {"reasoning": "", "action": "ESCALATE"}]:
        assert validator.is_valid({"decision": decision}) is (decision in legal)
