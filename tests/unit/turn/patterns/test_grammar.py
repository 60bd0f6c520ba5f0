import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import PatternError
from gateway.turn.patterns.expression import Expression, Scope
from gateway.turn.patterns.grammar import parse
from gateway.turn.patterns.program import compile_pattern
from gateway.turn.patterns.syntax import Branch, Call, Check, GoTo, Try

PIECES = [
    *("CALL", "TRY 2:", "UNTIL", "CHECK", "VERIFY:", "YES", "NO", "GO TO step 1", "RETRY", "DONE", "ESCALATE"),
    *("ANALYZE", "any of {*}", "file.read", "with {", "{{ last.ok }}", "{{", "}}", "}", "→", "->", ",", "1.", "2."),
    *("   - ", "\n", "---"),
]


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PatternError) as caught:
        compile_pattern(text, name="t")
    return list(caught.value.problems)


def only_call(text: str) -> Call:
    (step,) = parse(text).steps
    assert isinstance(step.statement, Branch)
    assert isinstance(step.statement.move, Call)
    return step.statement.move


@pytest.mark.parametrize(
    ("line", "tools", "purpose"),
    [
        ("1. CALL file.read", ("file.read",), ""),
        ("1. CALL file.read to understand current code", ("file.read",), "to understand current code"),
        ("1. CALL file.read — understand it", ("file.read",), "understand it"),
        ("1. CALL file.read - understand it.", ("file.read",), "understand it"),
        ("1. CALL skill.generator with {name, source}", ("skill.generator",), "with {name, source}"),
        ("1. CALL any of {file.*, mcp.*}: look around", ("file.*", "mcp.*"), "look around"),
        ("1. CALL file.edit with {path: {{ last.args.path }}} — change it", ("file.edit",), "change it"),
    ],
)
def test_a_call_has_tools_and_a_purpose(line: str, tools: tuple[str, ...], purpose: str) -> None:
    call = only_call(line)
    assert (call.tools, call.purpose) == (tools, purpose)


def test_arguments_given_by_expressions_are_known_and_the_others_are_prose() -> None:
    call = only_call("1. CALL file.edit with {path: {{ last.args.path }}, mode: {{ 'w' }}, source}")
    scope = Scope(results=({"args": {"path": "a.py"}},))
    assert {key: each.value(scope) for key, each in call.known} == {"path": "a.py", "mode": "w"}


def test_any_of_until_done_is_recognised() -> None:
    call = only_call("1. CALL any of {*} — the next thing, until DONE")
    assert (call.until_done, call.purpose) == (True, "the next thing")


def test_a_try_has_its_calls_and_its_judgement() -> None:
    text = "1. fix: TRY 4: CALL file.edit — change it, slowly, CALL test.run — verify,\n   UNTIL {{ last.ok }}"
    (step,) = parse(text).steps
    attempt = step.statement
    assert isinstance(attempt, Try)
    assert step.id == "fix"
    assert (attempt.candidates, attempt.until.source) == (4, "last.ok")
    assert [(call.tools, call.purpose) for call in attempt.calls] == [
        (("file.edit",), "change it, slowly"),
        (("test.run",), "verify"),
    ]


def test_branches_may_be_written_with_either_arrow_and_either_bullet() -> None:
    text = "1. CHECK: ready?\n   - YES → GO TO step 2\n   * NO -> ANALYZE the log, CALL a.b\n2. CALL c.d"
    (step, _) = parse(text).steps
    check = step.statement
    assert isinstance(check, Check)
    assert check.yes.move == GoTo(2, 2)
    assert (check.no.analyze, check.no.move) == ("the log", Call(3, ("a.b",)))


def test_prose_bullets_and_code_fences_are_for_the_model_alone() -> None:
    before = "# Title here\nSome advice.\n- a hint -> not a branch\n\n"
    after = "\n   - be brief\n\n```\n2. CALL x.y\n```\n## Output\nText."
    assert len(parse(f"{before}1. CALL a.b{after}").steps) == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no step"),
        ("1. CAL file.read", 1, "expected CALL"),
        ("1. CALL a.b\n3. CALL a.b", 2, "step 2 is expected"),
        ("1. CALL file.*", 1, "any of"),
        ("1. CALL any of {}", 1, "any of"),
        ("1. CALL a.b, GO TO step 1", 1, "second move"),
        ("1. CALL a.b CALL c.d", 1, "second move"),
        ("1. CALL a.b with {x: {{ nope }}}", 1, "no 'nope'"),
        ("1. CALL a.b {{ last.ok }}", 1, "with {argument"),
        ("1. TRY 2: CALL a.b", 1, "UNTIL"),
        ("1. TRY 0: CALL a.b UNTIL {{ last.ok }}", 1, "at least one"),
        ("1. TRY 2: a.b UNTIL {{ last.ok }}", 1, "its calls"),
        ("1. CHECK: ok?\n   - YES → DONE", 1, "NO branch"),
        ("1. CHECK: ok?\n   - YES → DONE\n   - YES → DONE\n   - NO → DONE", 3, "second YES"),
        ("1. CHECK: ok?\n   - MAYBE → DONE", 2, "a branch is"),
        ("1. CHECK\n   - YES → DONE\n   - NO → DONE", 1, "neither"),
        ("1. CALL a.b\n   - YES → DONE", 2, "belong to a CHECK"),
        ("1. CHECK: ok?\n   - YES → ANALYZE it\n   - NO → DONE", 2, "comes a move"),
        ("1. CHECK {{ last.ok( }}: ok?\n   - YES → DONE\n   - NO → DONE", 1, "not an expression"),
        ("1. CALL a.b\n2. GO TO step 9", 2, "there are steps 1 to 2"),
        ("1. GO TO step 2\n2. GO TO step 1", 2, "without a tool call"),
        ("1. CHECK: ok?\n   - YES → DONE\n   - NO → GO TO step 1", 3, "without a tool call"),
        ("1. x: CALL a.b\n2. x: CALL a.b", 1, "called 'x'"),
        ("---\ntask_type: x\n1. CALL a.b", 1, "does not end"),
        ("---\ntask_type: x\ndescription: y\ncolour: red\n---\n1. CALL a.b", 4, "no key 'colour'"),
        ("---\ntask_type: x\ndescription: y\nmax_steps: many\n---\n1. CALL a.b", 4, "max_steps"),
        ("---\ntask_type: x\n---\n1. CALL a.b", 1, "description"),
        ("---\ntask_type: x\ndescription: [\n---\n1. CALL a.b", 3, "not YAML"),
    ],
)
def test_a_problem_is_told_with_its_line(text: str, line: int, words: str) -> None:
    found = problems(text)
    assert any(at == line and words in message for at, message in found), found


def test_every_problem_of_a_text_is_told_at_once() -> None:
    assert [line for line, _ in problems("1. CALL\n2. DOIT\n3. CALL a.b\n4. TRY")] == [1, 2, 4]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)))
def test_compiling_is_total(text: str) -> None:
    try:
        compile_pattern(text, name="t")
    except PatternError as error:
        assert error.problems
        assert all(1 <= line <= text.count("\n") + 2 for line, _ in error.problems)


@given(st.text(max_size=80))
def test_expressions_compile_or_are_refused_and_never_raise_when_run(source: str) -> None:
    try:
        expression = Expression(source)
    except PatternError:
        return
    expression.value(Scope())
