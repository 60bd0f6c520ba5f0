"""What pytest reports in JUnit's XML: which tests failed, why, and through which files of the workspace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from gateway.errors import ToolError
from gateway.tools.workspace import Workspace

MAX_REPORT_BYTES = 32 << 20
_MAX_FRAMES = 12
_FRAME = re.compile(r"^(\S.*?):(\d+): in (\S+)", re.MULTILINE)
_DUMPED = re.compile(r'File "(.+?)", line (\d+) in (\S+)')


@dataclass(frozen=True)
class Frame:
    """`path` is relative to the workspace."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class Failure:
    """`test` is pytest's node id; `file` and `line` say where the test is written; frames run from the test inwards."""

    test: str
    message: str
    frames: tuple[Frame, ...]
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Report:
    """Skipped tests count as neither passed nor failed."""

    passed: int
    failures: tuple[Failure, ...]


def read_report(path: Path, root: Path) -> Report | None:
    """The report; None if there is none, it was cut short, or it is too large to be one."""
    try:
        tree = ElementTree.fromstring(Workspace(path.parent).read(path.name, MAX_REPORT_BYTES))
    except (ToolError, ElementTree.ParseError, ValueError):  # tests may have left anything there: a pipe, a link
        return None
    passed, failures = 0, []
    for case in tree.iter("testcase"):
        problems = [each for each in case if each.tag in ("failure", "error")]
        if problems:
            failures.append(_failure(case, problems[0], root))
        elif case.find("skipped") is None:
            passed += 1
    return Report(passed, tuple(failures))


def frames_of_dump(output: str, root: Path) -> tuple[Frame, ...]:
    """The frames of a stack that faulthandler printed (innermost first there), as those of a failure."""
    return _inside(reversed(_DUMPED.findall(output)), root)


def _failure(case: ElementTree.Element, problem: ElementTree.Element, root: Path) -> Failure:
    file, line = case.get("file"), case.get("line")
    trace = problem.text or ""
    explained = [each[1:].strip() for each in trace.split("\n") if each.startswith("E ")]
    # "+ where 2 = page_count([1, 2, 3], 2)" says what was called; an object's address helps nobody
    message = "\n".join(each for each in explained if " at 0x" not in each)
    return Failure(
        test=_node_id(case),
        message=(message or problem.get("message") or "")[:600],
        frames=_inside(_FRAME.findall(trace), root),
        file=file,
        line=int(line) + 1 if line and line.isdecimal() else None,
    )


def _node_id(case: ElementTree.Element) -> str:
    """`file::Class::test`; the XML has the module and the classes as one dotted name."""
    file, name = case.get("file"), case.get("name") or "?"
    if not file:
        return name
    classname = case.get("classname")
    if not classname:
        return file  # a file that could not be collected
    module = file.removesuffix(".py").replace("/", ".")
    classes = classname.removeprefix(module).strip(".")
    return "::".join([file, *(classes.split(".") if classes else []), name])


def _inside(found: Iterable[tuple[str, str, str]], root: Path) -> tuple[Frame, ...]:
    """Those frames that are in the workspace and not in an environment inside it."""
    frames = []
    for path, line, function in found:
        full = os.path.realpath(root / path)
        if full.startswith(f"{root}/") and "/site-packages/" not in full and os.path.isfile(full):
            frames.append(Frame(os.path.relpath(full, root), int(line), function))
    return tuple(frames[-_MAX_FRAMES:])
