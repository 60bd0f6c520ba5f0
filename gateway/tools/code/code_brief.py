"""What somebody has to know to write a Python definition anew: the code around it, and what a failing test says."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gateway.fence import fenced
from gateway.tools.code.python_source import Definition, NotReplaced, definitions, replaced
from gateway.tools.code.relevance import failures_of, last_failure, tests_of
from gateway.tools.code.source_text import SourceText, decode
from gateway.tools.registry import Situation
from gateway.tools.workspace import Workspace

MAX_CODE = 3_500  # characters of the file that are shown: about 900 tokens
MAX_TEST = 1_200  # and of the tests
SHOWN = 3  # failures
TURNED = 3  # definitions that take turns at being hidden


def brief(workspace: Workspace, path: str, names: Sequence[str], situation: Situation) -> str:
    """The task of writing one of the named definitions, in words for a model.

    A candidate that failed fewer tests than the code as it stands is the base of the next. Every second candidate has
    to be written without the sight of what stands there: a small model copies what it sees, faults and all.
    """
    text = decode(workspace.read(path), path).text
    found = last_failure(situation)
    hidden = _hidden(text, names, situation.candidate) if found else ""
    tried = list(_tried(path, situation.tried))
    best = min(tried, key=lambda each: len(each.failures), default=None)
    if not hidden and best is not None and len(best.failures) < len(found):
        text, found = best.applied_to(text), best.failures
    said = [f"The request: {situation.wanted}", f"{path}:", _block(excerpt(text, names, hidden))]
    if found:
        if tests := tests_of(workspace, [*found, *last_failure(situation)], names):
            said += ["It has to pass:", _block("\n\n\n".join(tests)[:MAX_TEST])]
        messages = list(dict.fromkeys(_first_line(each["message"]) for each in found[:SHOWN]))
        said.append("\n".join([f"With the old {hidden}:" if hidden else "What is wrong:", *messages]))
        last = _first_line(tried[-1].failures[0]["message"]) if tried else ""
        if last and last not in messages:
            said.append(f"Another try was wrong too: {last}")
    if hidden:
        said.append(f"The function {hidden} has to be written anew: what stood there was wrong. Write the whole of it.")
    else:
        others = f" If the fault is in {' or '.join(names[1:])}, write that one instead." if names[1:] else ""
        said.append(f"Write the corrected {names[0]}, the whole of it.{others}")
    return "\n\n".join(said)


def _hidden(text: str, names: Sequence[str], candidate: int) -> str:
    """The function whose turn it is to be written unseen; empty where it is none's. Classes are too large for that."""
    functions = {each.name for each in definitions(text) if not each.is_class}
    turned = [name for name in names if name in functions][:TURNED]
    return turned[(candidate // 2 - 1) % len(turned)] if turned and candidate and candidate % 2 == 0 else ""


@dataclass(frozen=True)
class _Try:
    """A new source for a definition, and the tests that failed with it."""

    name: str
    source: str
    failures: list[Mapping[str, Any]]

    def applied_to(self, text: str) -> str:
        try:
            return replaced(SourceText(text), self.name, self.source)[0]
        except NotReplaced:
            return text


def _tried(path: str, results: Sequence[Mapping[str, Any]]) -> Iterator[_Try]:
    """The candidates that were made in a file, judged by the tests that followed, and undone."""
    for made, judged in pairwise(results):
        if made["tool"] == "file.edit" and made["ok"] and judged["tool"] == "test.run":
            name, source = made["data"].get("name"), made["args"].get("source")
            failures = failures_of([judged])
            if name and source and failures and made["data"]["path"] == path:
                yield _Try(name, source, failures)


def excerpt(text: str, names: Sequence[str], hidden: str = "", limit: int = MAX_CODE) -> str:
    """The file; where it is longer than `limit` characters, the named definitions and what stands at its top level.

    The body of the definition `hidden` is left out, its docstring kept.
    """
    found = {each.name: each for each in definitions(text)}
    lines = text.splitlines()
    left_out: dict[int, str] = {}  # what is shown instead of a line, from 1; nothing where it is empty
    if len(text) > limit:
        kept = [found[name] for name in names]
        for each in found.values():
            if not each.is_class and each not in kept:
                left_out.update(_instead(each.first, each.last, f"{_margin(lines, each.first)}# …"))
    if hidden in found:
        first, last = _body(found[hidden])
        left_out.update(_instead(first, last, f"{_margin(lines, first)}...  # to be written"))
    shown = [left_out.get(number, line) for number, line in enumerate(lines, 1) if left_out.get(number) != ""]
    code = "\n".join(line for at, line in enumerate(shown) if not (line.endswith("# …") and line in shown[at - 1 : at]))
    return code if len(code) <= limit else f"{code[:limit]}\n# … cut"


def _body(definition: Definition) -> tuple[int, int]:
    """The first and last line of a definition's body, without its docstring."""
    body = definition.node.body
    if len(body) > 1 and isinstance(body[0], ast.Expr) and ast.get_docstring(definition.node) is not None:
        body = body[1:]
    return body[0].lineno, definition.last


def _instead(first: int, last: int, line: str) -> dict[int, str]:
    return {first: line, **dict.fromkeys(range(first + 1, last + 1), "")}


def _margin(lines: Sequence[str], number: int) -> str:
    line = lines[number - 1]
    return line[: len(line) - len(line.lstrip())]


def _block(code: str) -> str:
    return fenced(code.strip(), "python")


def _first_line(message: str) -> str:
    return next(iter(message.splitlines()), "")[:300]
