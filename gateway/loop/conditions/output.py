"""What programs print: without what differs from run to run, and the findings that stand in it."""

from __future__ import annotations

import itertools
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from gateway.loop.state import Finding

_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_TEMPORARY = re.compile(r"(/tmp/check/(?:[\w.-]*?[-_.])?(?:tmp)?)[a-z0-9_]{8}(?![\w.-])")
_FROM_SDIST = re.compile(r"/tmp/check/build-via-sdist-[^/\s]+/[^/\s]+/")
_DURATION = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)? ?(?:[mµn]s|s|secs?|seconds?|minutes?)\b|(?:(?<=duration_ms )|(?<=duration_ms: ))[\d.]+"
)
_DURATION_SAID = re.compile(r"\bin \d+(?:\.\d+)? ?(?:[mµn]s|s|secs?|seconds?)\b|[([]\s*\d+(?:\.\d+)? ?m?s\s*[)\]]")
_DECIMAL = re.compile(
    r"(?<![\w.])\d+\.\d+ ?(?:[mµn]s|s|secs?|seconds?)\b|(?:(?<=duration_ms )|(?<=duration_ms: ))[\d.]+"
)

_PLACE = re.compile(
    r"\s*(?:(?:ERROR|error|warning)[: ]+)?([^\s:()]+?)(?::(\d+)(?::\d+)?|\((\d+)(?:,\d+)?\)):?\s+(\S.*)"
)
_BELOW = re.compile(r"\s+(\d+):\d+\s+(\S.*)")  # under a line that names the file
_RUST = re.compile(r"\s*--> ([^\s:]+):(\d+):\d+")
_RUST_SAYS = re.compile(r"(error|warning)(?:\[\w+\])?: (.+)")
_PANIC = re.compile(r"thread '([^']+)'.* panicked at ([^\s:]+:\d+)")
_FAILED = re.compile(
    r"\s*(?:--- FAIL: (?P<go>\S+)|test (?P<rust>\S+) \.\.\. FAILED|not ok \d+ -? ?(?P<tap>.+)"
    r"|[✖✗×] (?P<node>.+)|● (?P<jest>.+))"
)
_PYTEST = re.compile(r"(?:FAILED|ERROR) (\S+\.py\b\S*)(?: - (.*))?$")
_GO_PANIC = re.compile(r"(panic: .+?)(?: \[recovered\])?$")
_GO_FRAME = re.compile(r"\t(\S+\.go:\d+)(?: \+0x\w+)?$")
_IN_TRACE = re.compile(r"in \S+|\w*(?:Error|Exception|Failed)|\+0x\w+")  # a frame of a failure that is told elsewhere
_SAID_LINES = 12  # of what follows a test that failed
_TRACE_LINES = 100
_UNSAID = re.compile(r"---|\.\.\.|note: run with .*|error: \|-|(?:duration_ms|failureType|location|code|name): .*")
_END_LINES = 15
_FAILS = "it fails"


def unmoving(text: str) -> str:
    """Text without what would move a terminal's cursor, or colour it."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def clean(text: str, root: Path, folder: Path) -> str:
    """Text that can be shown and stored, without temporary paths and addresses; those in the workspace are relative."""
    text = _ESCAPE.sub("", text.replace("\r\n", "\n"))
    # what a bare \r overwrites is progress, which a terminal would not show any more
    text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
    text = _CONTROL.sub("\ufffd", text)
    for each in (str(folder), os.path.realpath(folder)):
        text = text.replace(each, "/tmp/check")
    text = _TEMPORARY.sub(r"\1…", _FROM_SDIST.sub("", text))
    return _ADDRESS.sub("0x…", text).replace(f"{root}/", "").replace(str(root), ".")


def steady(text: str, root: Path, folder: Path) -> str:
    """Clean, and without the durations that programs like to tell."""
    return _DECIMAL.sub("…", _DURATION_SAID.sub("…", clean(text, root, folder)))


def compared(text: str) -> str:
    """What two texts have to have in common to say the same."""
    return _ADDRESS.sub("…", _DURATION.sub("…", text))


def end_of(output: str) -> str:
    """The last lines that say something."""
    return "\n".join([each.rstrip() for each in output.splitlines() if each.strip()][-_END_LINES:])


def findings_in(output: str, root: Path) -> list[Finding]:
    """What a program printed as wrong, in the forms of compilers, linters and runners of tests; each once."""
    found = list(dict.fromkeys(_found(output.splitlines(), root)))
    told = {each.where for each in found if each.message != _FAILS}
    return [each for each in found if each.message != _FAILS or not (each.where in told or _is_above(each, found))]


def _is_above(test: Finding, others: list[Finding]) -> bool:
    """Whether it has failed because one of the tests in it has."""
    return any(each.where.startswith(f"{test.where}/") for each in others)


def _found(lines: list[str], root: Path) -> Iterator[Finding]:
    file, said, told = "", "", 0
    for number, line in enumerate(lines):
        following = lines[number + 1 : number + 1 + _SAID_LINES]
        if number < told:
            continue
        if failed := _FAILED.match(line):
            name = next(filter(None, failed.groups()))
            under = _indented(following)
            message = "\n".join(each for each in map(str.strip, under) if each and not _UNSAID.fullmatch(each))
            message = message or _go_panic(lines[number + 1 : number + 1 + _TRACE_LINES], root) or _FAILS
            yield Finding(where=name.removesuffix(" …").strip(), message=message)
            told = number + 1 + len(under)
        elif summed := _PYTEST.match(line):
            yield Finding(where=summed[1], message=summed[2] or _FAILS)
        elif panic := _PANIC.match(line):
            yield Finding(where=panic[1], message="\n".join([*_paragraph(following), f"at {panic[2]}"]))
        elif rust := _RUST.match(line):
            if said and _is_file(root, rust[1]):
                yield Finding(where=f"{rust[1]}:{rust[2]}", message=said)
            said = ""
        elif says := _RUST_SAYS.match(line):
            said = says[2] if says[1] == "error" else ""
        elif (place := _PLACE.match(line)) and _is_file(root, place[1]):
            message = place[4].strip()
            if not _IN_TRACE.fullmatch(message):
                yield Finding(where=f"{posixpath.normpath(place[1])}:{place[2] or place[3]}", message=message)
        elif file and (below := _BELOW.match(line)):
            yield Finding(where=f"{file}:{below[1]}", message=re.sub(r"\s{2,}", "  ", below[2].strip()))
        elif not line.startswith((" ", "\t")):
            file = line.strip() if _is_file(root, line.strip()) else ""


def _indented(following: list[str]) -> list[str]:
    """The lines under the name of a test that failed, as far as they belong to it."""
    return list(itertools.takewhile(lambda line: line.startswith((" ", "\t")) and not _FAILED.match(line), following))


def _go_panic(following: list[str], root: Path) -> str:
    """What a test panicked with, and the first place of the trace in the workspace; empty if it did not panic."""
    panic = _GO_PANIC.match(following[0]) if following else None
    if panic is None:
        return ""
    frames = (frame[1] for frame in map(_GO_FRAME.match, following) if frame)
    place = next((each for each in frames if _is_file(root, each.rpartition(":")[0])), "")
    return f"{panic[1]}\nat {place}" if place else panic[1]


def _paragraph(following: list[str]) -> list[str]:
    lines = itertools.takewhile(str.strip, following)
    return [line.rstrip() for line in lines if not _UNSAID.fullmatch(line.strip())]


def _is_file(root: Path, path: str) -> bool:
    if not path or len(path) > 500 or path.startswith(("/", "..")) or "\0" in path:
        return False
    try:
        return (root / path).is_file()
    except OSError:
        return False
