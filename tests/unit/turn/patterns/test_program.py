from typing import Any

import pytest

from gateway.turn.patterns.cursor import Cursor, Move, MoveKind, Phase
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.program import Program, compile_pattern
from gateway.turn.task_state import TaskState

# As they stand in specification 001.
SKILL_BUILD = """\
### skill_build
1. CHECK: Is there research context in §4 or §1?
   - NO → CALL internet.research
   - YES → GO TO step 2
2. CALL skill.generator with {name, description, source}
3. VERIFY: skill created successfully?
   - YES → DONE
   - NO → RETRY with adjusted args
"""
CODE_MODIFY = """\
### code_modify
1. CALL file.read to understand current code
2. CALL file.edit with changes
3. CALL test.run to verify
4. CHECK: tests pass?
   - YES → DONE
   - NO → ANALYZE errors, GO TO step 2
"""
EDIT_AND_TEST = "1. TRY 2: CALL file.edit, CALL test.run UNTIL {{ last.ok }}\n2. CHECK {{ last.ok }}\n"
EDIT_AND_TEST += "   - YES → DONE\n   - NO → ESCALATE\n"


class Walk:
    """A task followed by hand: results pile up as the Executor's would."""

    def __init__(self, text: str, *, max_steps: int = 0, context: dict[str, Any] | None = None) -> None:
        head = f"---\ntask_type: t\ndescription: d\nmax_steps: {max_steps}\n---\n" if max_steps else ""
        self.program: Program = compile_pattern(head + text, name="t")
        self.results: tuple[dict[str, Any], ...] = ()
        self.context = context or {}
        self.cursor = self.program.resolve(self.program.start(), self.scope)

    @property
    def scope(self) -> Scope:
        return Scope(results=self.results, context=self.context)

    @property
    def moves(self) -> tuple[Move, ...]:
        return self.program.moves(self.cursor, self.scope)

    @property
    def offers(self) -> list[str]:
        return [move.tools[0] if move.kind is MoveKind.CALL else move.kind.value for move in self.moves]

    @property
    def state(self) -> TaskState:
        return TaskState.of(self.program, self.cursor)

    def take(self, tool: str, *, ok: bool = True) -> Move:
        move = self.moves[self.offers.index(tool)]
        self.cursor = self.program.take(self.cursor, move)
        if move.kind is MoveKind.CALL:
            self.results += ({"tool": tool, "args": {"path": "a.py"}, "ok": ok, "text": "", "data": {}},)
            self.cursor = self.program.ran(self.cursor, ok)
        self.cursor = self.program.resolve(self.cursor, self.scope)
        return move

    def undo(self) -> str:
        tool: str = self.results[-self.cursor.undo]["tool"]
        self.cursor = self.program.resolve(self.program.undone(self.cursor), self.scope)
        return tool


def test_the_specifications_skill_build_compiles_and_never_researches_twice() -> None:
    walk = Walk(SKILL_BUILD)
    assert walk.program.task_type == "skill_build"
    assert walk.offers == ["skill.generator", "internet.research", "ESCALATE"]
    walk.take("internet.research")
    assert walk.offers == ["skill.generator", "ESCALATE"]
    walk.take("skill.generator")
    assert walk.offers == ["DONE", "skill.generator", "ESCALATE"]
    walk.take("DONE")
    assert (walk.cursor.end, walk.cursor.reason) == (MoveKind.DONE, "")


def test_the_specifications_code_modify_goes_back_to_the_edit_and_asks_for_analysis() -> None:
    walk = Walk(CODE_MODIFY)
    for tool in ("file.read", "file.edit", "test.run"):
        assert walk.offers == [tool, "ESCALATE"]
        walk.take(tool)
    assert walk.offers == ["DONE", "file.edit", "ESCALATE"]
    again = walk.take("file.edit")
    assert (again.analyze, again.question) == ("errors", "tests pass? NO")
    assert again.label == "tests pass? NO: ANALYZE errors, CALL file.edit — with changes"
    assert walk.offers == ["test.run", "ESCALATE"]


def test_the_title_of_a_section_or_the_given_name_is_the_task_type_without_front_matter() -> None:
    assert compile_pattern(CODE_MODIFY, name="x").task_type == "code_modify"
    assert compile_pattern("1. CALL a.b", name="x").task_type == "x"


def test_a_check_with_an_expression_is_decided_by_code() -> None:
    text = "1. CHECK {{ context.research }}: known?\n   - YES → GO TO step 2\n   - NO → CALL a.find\n2. CALL a.write"
    assert Walk(text).offers == ["a.find", "ESCALATE"]
    assert Walk(text, context={"research": "notes"}).offers == ["a.write", "ESCALATE"]


def test_a_code_decided_check_behind_a_model_decided_one_is_looked_through() -> None:
    text = "1. CALL a.b\n2. CHECK: enough?\n   - YES → DONE\n   - NO → GO TO step 3\n"
    text += "3. CHECK {{ last.ok }}\n   - YES → CALL c.d\n   - NO → RETRY with care"
    walk = Walk(text)
    walk.take("a.b", ok=False)
    assert walk.offers == ["DONE", "a.b", "ESCALATE"]
    retry = walk.moves[1]
    assert (retry.retry, retry.purpose, retry.label) == (True, "with care", "enough? NO: RETRY a.b — with care")


def test_after_the_last_step_the_task_is_done_without_asking() -> None:
    walk = Walk("1. CALL a.b")
    walk.take("a.b")
    assert (walk.cursor.end, walk.moves) == (MoveKind.DONE, ())


def test_a_retry_is_offered_twice_in_a_row_and_then_code_escalates() -> None:
    walk = Walk("1. CALL a.b\n2. VERIFY {{ last.ok }}\n   - YES → DONE\n   - NO → RETRY")
    walk.take("a.b", ok=False)
    assert walk.take("a.b", ok=False).retry
    assert walk.take("a.b", ok=False).retry
    assert (walk.cursor.end, walk.cursor.reason) == (MoveKind.ESCALATE, "retried 2 times in a row")


def test_another_call_between_starts_the_count_of_retries_anew() -> None:
    text = "1. CALL a.b\n2. CHECK: good?\n   - YES → CALL c.d\n   - NO → RETRY\n3. GO TO step 1"
    walk = Walk(text, max_steps=50)
    for _ in range(3):
        walk.take("a.b")
        walk.take("a.b")
        walk.take("a.b")
        assert walk.offers == ["c.d", "ESCALATE"]
        walk.take("c.d")


def test_a_retry_before_any_call_escalates() -> None:
    assert "no call" in Walk("1. RETRY").cursor.reason


def test_max_steps_ends_a_loop_by_code_and_leaves_done_open_where_the_pattern_has_it() -> None:
    walk = Walk("1. CALL a.b\n2. GO TO step 1", max_steps=3)
    for _ in range(3):
        walk.take("a.b")
    assert (walk.cursor.end, walk.cursor.calls) == (MoveKind.ESCALATE, 3)
    assert "max_steps" in walk.cursor.reason
    walk = Walk("1. CALL any of {*} until DONE", max_steps=1)
    walk.take("*")
    assert walk.offers == ["DONE", "ESCALATE"]


def test_any_of_until_done_needs_one_call_first() -> None:
    walk = Walk("1. CALL any of {*} — go on, until DONE")
    assert walk.offers == ["*", "ESCALATE"]
    for _ in range(3):
        walk.take("*")
        assert walk.offers == ["DONE", "*", "ESCALATE"]


def test_known_arguments_are_filled_in_and_what_is_missing_is_left_to_the_model() -> None:
    walk = Walk("1. CALL file.read\n2. CALL file.edit with {path: {{ last.args.path }}, old: {{ last.data.nothing }}}")
    walk.take("file.read")
    (move, _) = walk.moves
    assert move.known == {"path": "a.py"}
    assert move.arguments({"path": "b.py", "new": "x"}) == {"path": "a.py", "new": "x"}


def test_the_first_candidate_that_holds_is_kept() -> None:
    walk = Walk(EDIT_AND_TEST)
    (move, _) = walk.moves
    assert (move.candidate, move.candidates, move.follow_ups, move.until) == (1, 2, ("test.run",), "last.ok")
    walk.take("file.edit")
    assert walk.offers == ["test.run"]  # an applied candidate is judged before anything else
    walk.take("test.run")
    assert walk.cursor.end is MoveKind.DONE


def test_a_failed_candidate_is_undone_and_the_next_one_drawn() -> None:
    walk = Walk(EDIT_AND_TEST)
    walk.take("file.edit")
    walk.take("test.run", ok=False)
    assert (walk.cursor.phase, walk.moves) == (Phase.UNDO, ())
    assert walk.undo() == "file.edit"
    assert walk.offers == ["file.edit", "ESCALATE"]
    assert walk.moves[0].label == "CALL file.edit (candidate 2 of 2)"
    walk.take("file.edit")
    walk.take("test.run")
    assert walk.cursor.end is MoveKind.DONE


def test_where_no_candidate_holds_all_are_undone_and_the_last_failure_is_the_result() -> None:
    walk = Walk(EDIT_AND_TEST)
    for _ in range(2):
        walk.take("file.edit")
        walk.take("test.run", ok=False)
        walk.undo()
    assert walk.cursor.end is MoveKind.ESCALATE
    assert walk.state.step_results == {"edit": "failed"}


def test_a_candidate_that_cannot_be_applied_is_not_judged() -> None:
    walk = Walk(EDIT_AND_TEST)
    walk.take("file.edit", ok=False)
    assert walk.cursor.undo == 1
    assert walk.undo() == "file.edit"
    assert walk.moves[0].candidate == 2


def test_no_candidate_is_begun_that_max_steps_would_cut_short() -> None:
    walk = Walk(EDIT_AND_TEST, max_steps=3)
    walk.take("file.edit")
    walk.take("test.run", ok=False)
    walk.undo()
    assert (walk.cursor.end, walk.cursor.calls) == (MoveKind.ESCALATE, 2)
    assert "no room for a candidate" in Walk(EDIT_AND_TEST, max_steps=1).cursor.reason


def test_a_retry_of_a_try_draws_its_candidates_again() -> None:
    steps = "1. TRY 2: CALL a.b UNTIL {{ last.ok }}\n2. VERIFY {{ last.ok }}\n   - YES → DONE\n   - NO → RETRY"
    walk = Walk(steps, max_steps=50)
    for retried in (False, True, True):
        assert walk.take("a.b", ok=False).retry is retried
        walk.undo()
        assert walk.take("a.b", ok=False).candidate == 2
        walk.undo()
    assert (walk.cursor.end, walk.cursor.calls) == (MoveKind.ESCALATE, 6)


def test_step_ids_are_unique_and_say_what_the_steps_do() -> None:
    text = "1. CALL file.edit\n2. CALL file.edit\n3. look: CALL any of {*}\n4. CALL any of {file.*}\n5. CHECK: ok?\n"
    text += "   - YES → DONE\n   - NO → CALL test.run\n6. TRY 2: CALL x.y UNTIL {{ last.ok }}"
    assert compile_pattern(text, name="t").steps == ("edit", "edit-2", "look", "file", "run", "y")


def test_the_task_state_follows_the_cursor() -> None:
    walk = Walk(CODE_MODIFY)
    assert (walk.state.current_step, walk.state.max_steps) == (1, 8)
    assert (walk.state.completed_steps, walk.state.pending_steps) == ([], ["read", "edit", "run"])
    walk.take("file.read")
    walk.take("file.edit")
    walk.take("test.run", ok=False)
    assert walk.state.completed_steps == ["read", "edit"]
    assert walk.state.step_results == {"read": "ok", "edit": "ok", "run": "failed"}
    walk.take("file.edit")
    assert (walk.state.completed_steps, walk.state.pending_steps) == (["read", "edit"], ["run"])
    assert walk.state.current_step == 5


def test_a_step_that_a_branch_went_past_is_neither_completed_nor_pending() -> None:
    walk = Walk(SKILL_BUILD)
    walk.take("skill.generator")
    walk.take("DONE")
    assert (walk.state.completed_steps, walk.state.pending_steps) == (["generator"], [])


def test_a_cursor_out_of_its_turn_is_refused() -> None:
    walk = Walk("1. CALL a.b")
    with pytest.raises(ValueError, match="READY, not RUNNING"):
        walk.program.ran(walk.cursor, True)
    with pytest.raises(ValueError, match="READY, not UNDO"):
        walk.program.undone(Cursor())
