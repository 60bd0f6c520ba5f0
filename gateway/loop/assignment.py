"""What an iteration is asked: the one thing to mend now, for small models; or all that is wrong, for commands. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gateway.fence import fenced
from gateway.llm import tokens
from gateway.llm.trim import LEAST, shorten
from gateway.loop.agents.agent import Assignment, in_a_line
from gateway.loop.progress import fight_in_words, fighting
from gateway.loop.state import (
    COMMAND,
    ConditionResult,
    Evaluation,
    Finding,
    IterationRecord,
    LoopContext,
    LoopState,
)

REQUEST_TOKENS = 700  # a prompt shows a few hundred of them, its middle left out: the message is what can be missed
MESSAGE_TOKENS = 220  # of what a test or a program printed
TASK_TOKENS = 160
NOTE_TOKENS = 60
FULL_TOKENS = 4000  # besides the task, which is whole
FULL_MESSAGE_TOKENS = 400
NAMED = 5  # files in a note

TESTS, LINT, SECURITY, BUILD = "all_tests_pass", "linting_clean", "security_scan_clean", "build_succeeds"
CODE_MODIFY, CODE_CLEAN = "code_modify", "code_clean"
ORDER = (TESTS, LINT, SECURITY, BUILD)
IN_WORDS = {TESTS: "the tests", LINT: "the linter", SECURITY: "the security scan", BUILD: "the build"}


def assignment(context: LoopContext, state: LoopState) -> Assignment:
    """The next iteration's. Where those before changed nothing, it is about another finding than theirs."""
    evaluation = state.evaluation
    notes = tuple(_notes(state))
    target = _target(evaluation, state.still) if evaluation is not None else None
    wanted = _wanted(evaluation, *target) if evaluation is not None and target is not None else ""
    task = shorten(context.task.strip(), TASK_TOKENS if wanted else REQUEST_TOKENS - 4 * NOTE_TOKENS, "middle")
    parts = [*([wanted] if wanted else []), *notes, f"It is a part of this task: {task}" if wanted else task]
    request = "\n\n".join(filter(None, parts))
    return Assignment(
        task=context.task,
        iteration=state.iteration + 1,
        max_iterations=state.limits.iterations,
        request=shorten(request, REQUEST_TOKENS, "middle") or request,
        evaluation=evaluation,
        notes=notes,
        task_type=_task_type(evaluation, *target) if evaluation is not None and target is not None else None,
    )


def full(given: Assignment) -> str:
    """The whole of it, for a program: the task, then every condition with what is wrong."""
    said = [given.task.strip(), f"This is iteration {given.iteration} of at most {given.max_iterations}."]
    if given.notes:
        said.append("\n".join(f"- {each}" for each in given.notes))
    results = given.evaluation.results if given.evaluation is not None else ()
    met = [each.name for each in results if each.met]
    if results:
        said.append("What was found before this iteration; what stands in fences was printed by programs.")
    if met:
        said.append(f"Met: {', '.join(met)}")
    left = FULL_TOKENS - sum(tokens.count(each) for each in said[1:])
    unmet = _in_order(each for each in results if not each.met)
    for at, result in enumerate(unmet):
        section = _section(result, left // (len(unmet) - at))
        left -= tokens.count(section)
        said.append(section)
    return "\n\n".join(said) + "\n"


def _target(evaluation: Evaluation, still: int) -> tuple[ConditionResult, Finding | None] | None:
    """The one thing to mend now: a finding, or a condition of which nothing more is known; None where all hold."""
    unmet = _in_order(each for each in evaluation.results if not each.met)
    things: list[tuple[ConditionResult, Finding | None]]
    things = [(each, finding) for each in unmet for finding in each.findings]
    things = things or [(each, None) for each in unmet]
    return things[still % len(things)] if things else None


def _task_type(evaluation: Evaluation, result: ConditionResult, finding: Finding | None) -> str | None:
    """What is wrong in a Python file is code to be changed, where code can tell whether that has mended it: the tests,
    or the linter and the security scan themselves."""
    tests = evaluation.of(TESTS)
    place = finding.where.partition("::")[0] if finding is not None else ""
    path = place if place.endswith(".py") else place.rpartition(":")[0]
    if not path.endswith(".py") or result.problem:
        return None
    if result.name in (LINT, SECURITY):
        return CODE_CLEAN
    return CODE_MODIFY if tests is not None and not tests.problem else None


def _wanted(evaluation: Evaluation, result: ConditionResult, finding: Finding | None) -> str:
    """The one thing to do now, and what is left for later."""
    unmet = _in_order(each for each in evaluation.results if not each.met)
    later = ", ".join(_counted(each) for each in unmet if each.name != result.name)
    more = max(result.total, len(result.findings)) - 1 if finding else 0
    rest = [f"{more} more of {_named(result)}"] if more > 0 else []
    rest += [later] if later else []
    said = [_thing(result, finding) if finding is not None else _whole(result)]
    return "\n\n".join(said + ([f"Not now, but later: {', '.join(rest)}."] if rest else []))


def _thing(result: ConditionResult, finding: Finding) -> str:
    """One finding, as something to do. The place comes first: what a model is shown is narrowed to it."""
    rule = f" ({finding.code})" if finding.code else ""
    message = _printed(finding.message)
    match result.name:
        case "all_tests_pass":
            return f"The test {finding.where} fails. Repair the code that it tests, not the test.\n{message}"
        case "linting_clean" | "security_scan_clean":
            path, _, line = finding.where.rpartition(":")
            place = f"In {path}, line {line}" if line.isdigit() and path else f"In {finding.where}"
            line_of = in_a_line(finding.message)
            return f"{place}: {line_of}{rule}. Change {path or finding.where} so that this is gone, and nothing else."
        case "build_succeeds":
            return f"The build fails at {finding.where}{rule}. Repair it.\n{message}"
        case _:
            return f"{_named(result)} finds something wrong: {finding.where}{rule}. Mend it.\n{message}"


def _whole(result: ConditionResult) -> str:
    """A condition that is not met, of which nothing more is known."""
    said = in_a_line(result.problem or result.summary)
    if result.name.startswith(COMMAND):
        return f"The command {result.name.removeprefix(COMMAND)} has to end with code 0: {said}"
    return f"{_named(result).capitalize()} has to succeed, and does not: {said}"


def _section(result: ConditionResult, limit: int) -> str:
    """A condition that is not met with its findings, as many as there is room for."""
    head = f"Not met: {result.name}: {in_a_line(result.problem or result.summary)}"
    lines = [head]
    left = limit - tokens.count(head) - LEAST
    shown = 0
    for finding in result.findings:
        rule = f" ({finding.code})" if finding.code else ""
        one = f"- {finding.where}{rule}\n{_printed(finding.message, FULL_MESSAGE_TOKENS)}"
        left -= tokens.count(one) + 1
        if left < 0:
            break
        lines.append(one)
        shown += 1
    more = max(result.total, len(result.findings)) - shown
    return "\n".join(lines + ([f"… and {more} more"] if more else []))


def _printed(text: str, limit: int = MESSAGE_TOKENS) -> str:
    """What a test or a program has printed, as data."""
    shown = shorten(text.strip(), limit, "middle") or ""
    return fenced(shown) if shown else ""


def _notes(state: LoopState) -> Iterator[str]:
    """What became of the last iteration, each in a line."""
    last = state.iterations[-1] if state.iterations else None
    if last is not None:
        yield from (_short(each) for each in _of(last, state.still))
    yield from (_short(f"Keep both: {fight_in_words(each)}.") for each in fighting(state)[:2])


def _of(last: IterationRecord, still: int) -> Iterator[str]:
    changes = last.changes
    if last.outcome == "failed":
        yield f"The last attempt failed: {last.summary}"
    elif still:
        yield "The last attempt changed nothing that counts: do something else than before."
    if changes.restored:
        put_back = _names(changes.restored, changes.beyond("restored"))
        yield f"These are protected, and were put back as they were: {put_back}."
    judging = [each for each in changes.tests if each not in changes.restored]
    if judging:
        names = _names(judging, changes.beyond("tests"))
        yield f"The last attempt changed what it is judged by: {names}. Mend the code instead."


def _short(note: str) -> str:
    return shorten(in_a_line(note), NOTE_TOKENS, "tail") or ""


def _names(paths: Sequence[str], unnamed: int) -> str:
    rest = max(0, len(paths) - NAMED) + unnamed
    more = f" and {rest} more" if rest else ""
    return ", ".join(paths[:NAMED]) + more


def _in_order(results: Iterator[ConditionResult]) -> list[ConditionResult]:
    """Tests first: a change that breaks them is worse than one that a linter dislikes. Commands come last, and what
    could not be evaluated after what could, since there an agent seldom can do anything."""
    rank = {name: number for number, name in enumerate(ORDER)}
    return sorted(results, key=lambda each: (not each.findings and bool(each.problem), rank.get(each.name, len(rank))))


def _named(result: ConditionResult) -> str:
    return IN_WORDS.get(result.name, f"`{result.name.removeprefix(COMMAND)}`")


def _counted(result: ConditionResult) -> str:
    total = max(result.total, len(result.findings))
    return f"{_named(result)} ({total})" if total else _named(result)
