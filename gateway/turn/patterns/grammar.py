"""From the text of a pattern to its syntax tree. `parse` raises PatternError with every problem and its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from gateway.errors import PatternError
from gateway.turn.patterns.expression import Expression
from gateway.turn.patterns.front_matter import Problem, split_front_matter
from gateway.turn.patterns.outline import Item, outline
from gateway.turn.patterns.syntax import Branch, Call, Check, Done, Escalate, GoTo, Move, Pattern, Retry, Step, Try

_TOOL = r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*"
_GLOB = re.compile(r"[\w.*?-]+")
_CALL = re.compile(rf"CALL\s+(?:any\s+of\s*\{{([^{{}}]*)\}}|({_TOOL})(?![\w.]*\*))\s*(.*)", re.ASCII)
_JINJA = r"\{\{((?:(?!\}\}).)*)\}\}"
_WITH = re.compile(r"\bwith\s*\{((?:\{\{(?:(?!\}\}).)*\}\}|[^{}])*)\}")
_KNOWN = re.compile(rf"([A-Za-z_]\w*)\s*:\s*{_JINJA}")
_TRY = re.compile(r"TRY\s+([0-9]{1,3})\s*:\s*(.*)")
_UNTIL = re.compile(rf",?\s*\bUNTIL\s*{_JINJA}[\s.]*$")
_UNTIL_DONE = re.compile(r",?\s*\buntil\s+DONE\b[\s.]*$", re.IGNORECASE)
_CHECK = re.compile(rf"(CHECK|VERIFY)\b\s*(?:{_JINJA})?\s*:?\s*(.*)")
_ANALYZE = re.compile(r"ANALYZE\b(.*?),\s*(?=(?:CALL|GO TO|RETRY|DONE|ESCALATE)\b)(.*)")
_GO_TO = re.compile(r"GO TO\s+(?:step\s+)?([0-9]{1,4})\b(.*)", re.IGNORECASE)
_KEYWORD = re.compile(r"(RETRY|DONE|ESCALATE)\b(.*)")
_ID = re.compile(r"([a-z][a-z0-9_-]*):\s+(?=[A-Z])(.*)")
_BRANCH = re.compile(r"(YES|NO)\s*(?:→|->)\s*(.*)")
_ARROW = re.compile(r"→|->")
_SECOND_MOVE = re.compile(r"\b(?:CALL|GO TO)\b|,\s*(?:RETRY|DONE|ESCALATE)\b")
T = TypeVar("T")

_STATEMENTS = "CALL, TRY, CHECK, VERIFY, GO TO, RETRY, DONE or ESCALATE"


def parse(text: str, *, name: str = "pattern") -> Pattern:
    """The syntax tree of a pattern; `name` stands for it in the error's message."""
    pattern, problems = read(text)
    if problems:
        raise pattern_error(name, problems)
    return pattern


def read(text: str) -> tuple[Pattern, list[Problem]]:
    """The syntax tree as far as there is one, and every problem: what cannot be read stands there as ESCALATE, so that
    the steps around it can be checked."""
    lines = text.removeprefix("\ufeff").split("\n")
    front, used, problems = split_front_matter([line.rstrip("\r") for line in lines])
    title, items = outline(lines[used:], first_line=used + 1)
    steps = []
    for expected, item in enumerate(items, start=1):
        if item.number != expected:
            problems.append((item.line, f"step {item.number} stands where step {expected} is expected"))
        steps.append(_step(item, problems))
    if not items:
        problems.append((used + 1, "there is no step: steps are numbered lines, such as `1. CALL file.read`"))
    return Pattern(front, title, tuple(steps), "\n".join(lines[used:]).strip()), problems


def pattern_error(name: str, problems: list[Problem]) -> PatternError:
    """The error for a pattern with these problems, in the order of their lines."""
    ordered = tuple(sorted(problems, key=lambda problem: problem[0]))
    line, message = ordered[0]
    more = f" (and {len(ordered) - 1} more)" if len(ordered) > 1 else ""
    hint = "`echelon patterns check` lists every problem with its line"
    return PatternError(f"{name}:{line}: {message}{more}", problems=ordered, hint=hint)


class _Problem(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _read(problems: list[Problem], reader: Callable[..., T], *given: Any) -> T | None:
    """What the reader makes of it; None, and one problem more, where it can make nothing of it."""
    try:
        return reader(*given)
    except _Problem as problem:
        problems.append((problem.line, str(problem)))
        return None


def _unread(line: int) -> Branch:
    return Branch(line, Escalate(line))


def _step(item: Item, problems: list[Problem]) -> Step:
    named = _ID.fullmatch(item.text)
    name, text = (named[1], named[2]) if named else ("", item.text)
    check = _CHECK.fullmatch(text)
    branches = _branches(item, problems, is_check=check is not None)
    if check:
        return Step(item.line, item.number, name, _check(item.line, check, branches, problems))
    if branches:
        line = min(branch.line for branch in branches.values())
        problems.append((line, "YES and NO branches belong to a CHECK or a VERIFY"))
    if text.startswith("TRY"):
        attempt = _read(problems, _try, item.line, text, problems)
        return Step(item.line, item.number, name, attempt or _unread(item.line))
    return Step(item.line, item.number, name, _read(problems, _branch, item.line, text) or _unread(item.line))


def _branches(item: Item, problems: list[Problem], *, is_check: bool) -> dict[str, Branch]:
    branches: dict[str, Branch] = {}
    for line, text in item.bullets:
        found = _BRANCH.fullmatch(text)
        if found is None:
            if is_check and _ARROW.search(text):
                problems.append((line, f"a branch is `- YES → move` or `- NO → move`, not {_short(text)}"))
            continue  # advice for the model
        if found[1] in branches:
            problems.append((line, f"a second {found[1]} branch"))
        branches[found[1]] = _read(problems, _branch, line, found[2]) or _unread(line)
    return branches


def _check(line: int, found: re.Match[str], branches: dict[str, Branch], problems: list[Problem]) -> Check:
    keyword, source, question = found[1], found[2], found[3].strip()
    missing = [answer for answer in ("YES", "NO") if answer not in branches]
    problems += [(line, f"the {answer} branch of this {keyword} is missing") for answer in missing]
    if source is None and not question:
        problems.append((line, f"this {keyword} has neither a question nor an expression"))
    expression = None if source is None else _read(problems, _expression, line, source)
    yes, no = (branches.get(answer, _unread(line)) for answer in ("YES", "NO"))
    return Check(line, keyword, question, expression, yes, no)


def _try(line: int, text: str, problems: list[Problem]) -> Try | None:
    """None where it has problems that are told already."""
    found = _TRY.fullmatch(text)
    if found is None:
        raise _Problem(line, "TRY is written `TRY n: CALL tool, CALL tool UNTIL {{ expression }}`")
    until = _UNTIL.search(found[2])
    if until is None:
        raise _Problem(line, "TRY needs `UNTIL {{ expression }}` at its end: code judges the candidates")
    if int(found[1]) < 1:
        raise _Problem(line, "TRY needs at least one candidate")
    before, *parts = re.split(r"(?:^|,\s*|\s+)(?=CALL\s)", found[2][: until.start()])
    if before.strip() or not parts:
        raise _Problem(line, "after `TRY n:` come its calls: `CALL tool, CALL tool`")
    told = [_read(problems, _call, line, part.strip().rstrip(",")) for part in parts]
    judged = _read(problems, _expression, line, until[1])
    calls = tuple(call for call in told if call is not None)
    if any(call.until_done for call in calls):
        raise _Problem(line, "a call in a TRY ends with its candidate: it cannot go on until DONE")
    return Try(line, int(found[1]), calls, judged) if judged is not None and len(calls) == len(parts) else None


def _branch(line: int, text: str) -> Branch:
    analyzed = _ANALYZE.fullmatch(text)
    if analyzed:
        return Branch(line, _move(line, analyzed[2]), analyzed[1].strip())
    if text.startswith("ANALYZE"):
        raise _Problem(line, "after `ANALYZE …,` comes a move: CALL, GO TO, RETRY, DONE or ESCALATE")
    return Branch(line, _move(line, text))


def _move(line: int, text: str) -> Move:
    if text.startswith("CALL"):
        return _call(line, text)
    if text.startswith("GO TO"):
        jump = _GO_TO.fullmatch(text)
        if jump is None:
            raise _Problem(line, f"a jump is `GO TO step N`, not {_short(text)}")
        _one_move(line, jump[2])
        return GoTo(line, int(jump[1]))
    ending = _KEYWORD.fullmatch(text)
    if ending is None:
        raise _Problem(line, f"expected {_STATEMENTS}, not {_short(text)}")
    _one_move(line, ending[2])
    if ending[1] == "RETRY":
        return Retry(line, ending[2].strip(" .,:—–-"))
    return Done(line) if ending[1] == "DONE" else Escalate(line)


def _call(line: int, text: str) -> Call:
    found = _CALL.fullmatch(text)
    if found is None:
        raise _Problem(line, f"a call is `CALL tool …` or `CALL any of {{file.*, mcp.*}} …`, not {_short(text)}")
    globs, tool, rest = found[1], found[2], found[3]
    tools = (tool,) if globs is None else tuple(part.strip() for part in globs.split(",") if part.strip())
    if not tools or (globs is not None and not all(_GLOB.fullmatch(each) for each in tools)):
        raise _Problem(line, f"`any of {{…}}` lists tools, such as {{file.*, mcp.*}}, not {_short(globs or '')}")
    endless = _UNTIL_DONE.search(rest)
    if endless:
        rest = rest[: endless.start()]
    _one_move(line, rest)
    given = _WITH.search(rest)
    known: tuple[tuple[str, Expression], ...] = ()
    if given:
        known = tuple((key, _expression(line, source)) for key, source in _KNOWN.findall(given[0]))
        if known:  # what code fills in is not the model's to read
            rest = rest[: given.start()] + rest[given.end() :]
    elif "{{" in rest:
        raise _Problem(line, "an expression in a call is written `with {argument: {{ expression }}}`")
    return Call(line, tools, " ".join(rest.split()).strip(" .,:—–-"), known, bool(endless))


def _expression(line: int, source: str) -> Expression:
    try:
        return Expression(source)
    except PatternError as error:
        raise _Problem(line, str(error)) from error


def _one_move(line: int, rest: str) -> None:
    if _SECOND_MOVE.search(rest):
        raise _Problem(line, f"a second move in {_short(rest.strip())}: make it a step of its own")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
