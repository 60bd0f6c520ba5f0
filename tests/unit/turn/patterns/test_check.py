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


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HEAD.replace("max_steps", "max_stps") + "1. CALL file.raed\n2. CALL test.runn\n3. GO TO 9", [4, 6, 7, 8]),
        (HEAD + "1. VERIFY {{ lst.ok }}: ok?\n   - YES → FINISH\n   - NO → CALL test.runn", [6, 7, 8]),
        (HEAD + "1. CHECK {{ last.ok }}: ok?\n   - YES → FINISH\n   - NO → DOIT\n2. STOP\n3. GO TO 9", [7, 8, 9, 10]),
        (
            HEAD + "1. TRY 2: CALL file.* CALL test.run UNTIL {{ lst.ok }}\n2. x: CALL test.runn\n3. x: DONE",
            [6, 6, 7, 7, 8],
        ),
    ],
)
def test_problems_of_different_kinds_are_told_at_once(text: str, lines: list[int]) -> None:
    assert [int(each.split(":")[1]) for each in found(text)] == lines, found(text)


def test_what_cannot_be_read_brings_no_problems_that_are_none() -> None:
    assert [each.split(" ", 1)[0] for each in found(HEAD + "1. CALL file.raed, DONE\n2. GO TO step 1")] == ["t.md:6:"]


def test_a_file_is_called_as_its_task_type() -> None:
    (problem,) = check_pattern(f"{HEAD}1. CALL test.run", file="folder/u.md", tools=TOOLS)
    assert problem.line == 1 and "the task type is 't', the file is u.md" in problem.message


def test_a_loop_needs_a_max_steps_that_is_written_down() -> None:
    loop = "1. CALL test.run\n2. CHECK: ok?\n   - YES → DONE\n   - NO → GO TO step 1"
    assert found(HEAD + loop) == []
    (problem,) = found(HEAD.replace("max_steps: 9\n", "") + loop)
    assert problem.startswith("t.md:8: a loop that no max_steps bounds")


def test_a_file_without_front_matter_cannot_be_chosen() -> None:
    assert found("1. CALL test.run") == [
        "t.md:1: there is no front matter: the Planner chooses a task type by its description"
    ]
