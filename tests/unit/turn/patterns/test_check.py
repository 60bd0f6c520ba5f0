import pytest

from gateway.turn.patterns.check import check_pattern

HEAD = "---\ntask_type: t\ndescription: d\nmax_steps: 9\n---\n"  # five lines
TOOLS = ("file.read", "file.edit", "test.run")


def found(text: str) -> list[str]:
    return [str(each) for each in check_pattern(text, file="t.md", tools=TOOLS, undoable=("file.edit",))]


def test_a_good_pattern_has_no_problems() -> None:
    text = "1. CALL file.read\n2. TRY 2: CALL file.edit, CALL test.run UNTIL {{ last.ok }}\n3. CALL any of {file.*}"
    assert found(HEAD + text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. CALL file.raed", "t.md:6: there is no tool 'file.raed'. Did you mean file.read?"),
        ("1. CALL any of {file.*, mcp.*}", "t.md:6: there is no tool 'mcp.*'."),
        ("1. CALL test.run\n2. DONE\n3. CALL test.run", "t.md:8: step 3 (run-2) cannot be reached"),
        ("1. CALL test.run\n2. GO TO step 7", "t.md:7: GO TO step 7: there are steps 1 to 2"),
        ("1. VERIFY: ok?\n   - YES → CALL test.run\n   - NO → RETRY", "t.md:8: RETRY can be reached before any CALL"),
        ("1. DONE", "t.md:6: no tool is ever called"),
        ("1. TRY 2: CALL test.run UNTIL {{ last.ok }}", "t.md:6: test.run cannot be undone"),
    ],
)
def test_a_problem_is_reported_with_file_and_line(text: str, expected: str) -> None:
    assert any(each.startswith(expected) for each in found(HEAD + text)), found(HEAD + text)


def test_a_loop_needs_a_max_steps_that_is_written_down() -> None:
    loop = "1. CALL test.run\n2. CHECK: ok?\n   - YES → DONE\n   - NO → GO TO step 1"
    assert found(HEAD + loop) == []
    (problem,) = found(HEAD.replace("max_steps: 9\n", "") + loop)
    assert problem.startswith("t.md:8: a loop that no max_steps bounds")


def test_a_file_without_front_matter_cannot_be_chosen() -> None:
    assert found("1. CALL test.run") == [
        "t.md:1: there is no front matter: the Planner chooses a task type by its description"
    ]
