"""Which files and definitions a small model is offered: what a failing test or the request points at, before the rest.

A small model chooses well among few. So where something clearly points at particular files, only those are offered.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.errors import ToolError
from gateway.tools.code import proposed_line
from gateway.tools.code.python_source import Definition, called_names, definitions, parse_or_empty
from gateway.tools.code.source_text import decode
from gateway.tools.registry import Schema, Situation
from gateway.tools.stopwords import STOP_WORDS
from gateway.tools.workspace import MAX_FILES, Workspace

MAX_OFFERED = 40
MAX_POINTED = 5
MAX_SEARCHED = 300  # files whose content is looked at
_LINE = re.compile(r"(?<![\w/])([\w./-]+\.\w+)(?:, line |:)(\d{1,6})\b")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def only_path(schema: Schema, paths: list[str]) -> Schema:
    """The schema with `path` restricted to these; unchanged if there are none."""
    if not paths:
        return schema
    description = schema["properties"]["path"].get("description", "")
    path = {"type": "string", "enum": paths, "description": description}
    return {**schema, "properties": {**schema["properties"], "path": path}}


def is_test_file(path: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py" or "tests/" in f"/{path}"


def relevant_files(workspace: Workspace, situation: Situation) -> list[str]:
    """Paths of text files, the likeliest first: at most 5 where a failure or the request points at them, else 40.

    Where a test fails and points at code, it is the code that is offered, and what was not read yet before what was.
    """
    files = _files(workspace, situation)
    suspects = [each for each in _of_failure(workspace, files, situation) if not is_test_file(each)]
    unread = [each for each in suspects if each not in _read(situation)]
    if unread:
        return unread[:MAX_POINTED]
    for pointed in (_of_failure(workspace, files, situation), _of_request(workspace, files, situation)):
        if pointed:
            sources = [each for each in pointed if not is_test_file(each)]
            return [*sources, *(each for each in pointed if is_test_file(each))][:MAX_POINTED]
    words = {each for each in re.findall(r"[a-z]\w{2,}", _asked(situation).lower()) if each not in STOP_WORDS}
    score: dict[str, float] = {path: sum(3 for word in words if word in path.lower()) for path in files}
    for path in files[:MAX_SEARCHED] if words else []:
        text = _text(workspace, path).lower()
        score[path] += sum(1 for word in words if word in text)
    for path in filter(is_test_file, files):
        score[path] /= 2  # a test has the words of what it tests
    ranked = sorted(files, key=lambda each: (-score[each], is_test_file(each), not each.endswith(".py"), each))
    return ranked[:MAX_OFFERED]


def relevant_definitions(workspace: Workspace, path: str, situation: Situation) -> list[str]:
    """Names of the definitions in a Python file: only those that a failing test or the request reaches, where that can
    be told; functions and methods before classes."""
    found = definitions(_text(workspace, path))
    names = [each.name for each in found]
    found = [each for each in found if names.count(each.name) == 1]
    at_lines = [each for line in named_lines(path, situation) for each in _around(line, found)]
    starts = _reached_by_failure(workspace, path, found, situation) or at_lines or _named(found, situation)
    chosen = _with_callees(starts, found) if starts else found
    return [each.name for each in sorted(chosen, key=lambda each: each.is_class)][:MAX_OFFERED]


def named_lines(path: str, situation: Situation) -> list[int]:
    """The lines of the file that the request names: `a.py:3`, `a.py, line 3`."""
    return [int(line) for name, line in _LINE.findall(_asked(situation)) if name == path]


def named_line(workspace: Workspace, path: str, situation: Situation) -> str:
    """The one line that the request names, where it stands there once; else nothing. Of one inside a definition, the
    definition is what is to be changed, but every other candidate of a TRY: some models do better with a line."""
    line, number = _named_line(workspace, path, situation)
    by_definition = situation.candidate % 2 or not situation.candidate
    return "" if by_definition and _around(number, definitions(_text(workspace, path))) else line


def proposed_change(workspace: Workspace, path: str, situation: Situation) -> tuple[str, str] | None:
    """What the request proposes instead of the one line that it names: (old, new), each with its indentation."""
    after = proposed_line.found(situation.request)
    line, _ = _named_line(workspace, path, situation)
    if after is None or not line:
        return None
    indentation = line[: len(line) - len(line.lstrip())]
    return (line, indentation + after) if after else (f"{line}\n", "")


def _named_line(workspace: Workspace, path: str, situation: Situation) -> tuple[str, int]:
    text = _text(workspace, path)
    numbers, lines = set(named_lines(path, situation)), text.splitlines()
    if len(numbers) != 1 or last_failure(situation):
        return "", 0
    number = numbers.pop()
    line = lines[number - 1] if number <= len(lines) else ""
    return (line, number) if line.strip() and text.count(line) == 1 else ("", 0)


def last_failure(situation: Situation) -> list[Mapping[str, Any]]:
    """The failures of the last test.run, as in its data; none if it passed or there was none."""
    return failures_of(situation.results)


def failures_of(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The failures of the last test.run among some results."""
    for result in reversed(results):
        if result["tool"] == "test.run":
            return [] if result["ok"] else list(result["data"].get("failures", []))
    return []


def tests_of(workspace: Workspace, failures: Sequence[Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """The sources of test functions: those that failed, then others in the same files that use what is named."""
    wanted = {name.rpartition(".")[2] for name in names}
    failed: list[str] = []
    others: list[str] = []
    for frame in (frame for failure in failures for frame in failure["files"] if is_test_file(frame["path"])):
        text = _text(workspace, frame["path"])
        lines, found = text.splitlines(), definitions(text)
        failed += ["\n".join(lines[each.first - 1 : each.last]) for each in _around(frame["line"], found)]
        using = [each for each in found if not each.is_class and each.calls() & wanted]
        others += ["\n".join(lines[each.first - 1 : each.last]) for each in using]
    return list(dict.fromkeys([*failed, *others]))


def _files(workspace: Workspace, situation: Situation) -> list[str]:
    """Those of the workspace; where it has more than are listed, also what the request or a failure names by path."""
    files = workspace.files()
    if len(files) < MAX_FILES:
        return files
    framed = [frame["path"] for failure in last_failure(situation) for frame in failure["files"]]
    known, named = set(files), dict.fromkeys([*framed, *re.findall(r"[\w./-]+\w", _asked(situation))])
    return [*files, *(each for each in named if each not in known and _stands(workspace, each))]


def _stands(workspace: Workspace, path: str) -> bool:
    try:
        return workspace.relative(path) == path and (workspace.root / path).is_file()
    except ToolError:
        return False


def _read(situation: Situation) -> set[str]:
    return {result["data"]["path"] for result in situation.results if result["tool"] == "file.read" and result["ok"]}


def _asked(situation: Situation) -> str:
    return "\n".join([situation.request, *situation.goals])


def _text(workspace: Workspace, path: str) -> str:
    try:
        return decode(workspace.read(path), path).text
    except ToolError:
        return ""


def _of_failure(workspace: Workspace, files: list[str], situation: Situation) -> list[str]:
    pointed: list[str] = []
    for failure in last_failure(situation):
        frames = [each for each in failure["files"] if each["path"] in files]
        pointed += [each["path"] for each in reversed(frames)]
        for frame in frames:
            if is_test_file(frame["path"]):
                imported = _imported_files(workspace, frame["path"], files)
                pointed += _defining(workspace, imported, _tested(workspace, frame)) or imported
    return list(dict.fromkeys(pointed))


def _defining(workspace: Workspace, files: list[str], tested: list[ast.AST]) -> list[str]:
    """The files that define what these parts of a test use: those of functions before those of classes alone."""
    for node in tested:
        used = {path: _used(node, definitions(_text(workspace, path))) for path in files if path.endswith(".py")}
        found = [path for path in files if used.get(path)]
        if found:
            return sorted(found, key=lambda path: all(each.is_class or "." in each.name for each in used[path]))
    return []


def _tested(workspace: Workspace, frame: Mapping[str, Any]) -> list[ast.AST]:
    """Where a test failed: the statement, then the whole test."""
    found: list[ast.AST] = []
    for test in _around(frame["line"], definitions(_text(workspace, frame["path"]))):
        statements = [each for each in ast.walk(test.node) if isinstance(each, ast.stmt) and each is not test.node]
        at = [each for each in statements if each.lineno <= frame["line"] <= (each.end_lineno or each.lineno)]
        found += sorted(at, key=lambda each: (each.end_lineno or each.lineno) - each.lineno)[:1]
        found.append(test.node)
    return found


def _of_request(workspace: Workspace, files: list[str], situation: Situation) -> list[str]:
    """Files that the request names by path, file name or module, or by something in code style that they define."""
    asked = _asked(situation)
    known = set(re.findall(r"[\w./-]+\w", asked))
    pointed = [path for path in files if path in known or posixpath.basename(path) in known]
    modules = {path: path.removesuffix(".py").replace("/", ".") for path in files if path.endswith(".py")}
    pointed += [path for path, module in modules.items() if "." in module and module in known]
    identifiers = _code_words(asked)
    if identifiers and not pointed:
        for path in [each for each in modules if not is_test_file(each)][:MAX_SEARCHED]:
            names = {each.name for each in definitions(_text(workspace, path))}
            if (names | {each.rpartition(".")[2] for each in names}) & identifiers:
                pointed.append(path)
    for path in [each for each in pointed if is_test_file(each)]:
        pointed += _imported_files(workspace, path, files)
    return list(dict.fromkeys(pointed))


def _code_words(text: str) -> set[str]:
    """Identifiers that are meant as such: in backticks, called, with an underscore, a dot or a capital inside."""
    words = {each.strip("() ") for each in re.findall(r"`([^`\s]+)`", text)}
    words |= set(re.findall(r"\b(\w+(?:\.\w+)*)\(", text))
    words |= {each for each in _IDENTIFIER.findall(text) if re.search(r"\w_\w|[a-z][A-Z]|\w\.\w", each)}
    return words | {each.rpartition(".")[2] for each in words}


def _imported_files(workspace: Workspace, path: str, files: list[str], depth: int = 2) -> list[str]:
    """Files of the workspace that a Python file imports; a package's `__init__` stands for what it imports itself."""
    found: list[str] = []
    for node in ast.walk(parse_or_empty(_text(workspace, path))):
        if isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folder = posixpath.dirname(path)
                for _ in range(node.level - 1):
                    folder = posixpath.dirname(folder)
                base = ".".join(each for each in (folder.replace("/", "."), base) if each)
            modules = [base, *(f"{base}.{each.name}" for each in node.names)]
        else:
            continue
        for module in modules:
            stem = module.replace(".", "/")
            found += [each for each in files if f"/{each}".endswith((f"/{stem}.py", f"/{stem}/__init__.py"))]
    packages = [each for each in found if each.endswith("__init__.py")]
    for package in packages if depth else []:
        found += _imported_files(workspace, package, files, depth - 1)
    return list(dict.fromkeys(each for each in found if each not in packages))


def _reached_by_failure(
    workspace: Workspace, path: str, found: list[Definition], situation: Situation
) -> list[Definition]:
    """Definitions in the traceback, the deepest first, then those that the failing tests use."""
    failures = last_failure(situation)
    reached: list[Definition] = []
    for failure in failures:
        for frame in reversed(failure["files"]):
            if frame["path"] == path:
                reached += _around(frame["line"], found)
    for frame in (each for failure in failures for each in failure["files"]):
        if is_test_file(frame["path"]) and frame["path"] != path:
            reached += next(filter(None, (_used(node, found) for node in _tested(workspace, frame))), [])
    return list(dict.fromkeys(reached))


def _named(found: list[Definition], situation: Situation) -> list[Definition]:
    words = _code_words(_asked(situation))
    return [each for each in found if each.name in words or each.name.rpartition(".")[2] in words]


def _around(line: int, found: list[Definition]) -> list[Definition]:
    """The innermost definition that holds the line."""
    holding = [each for each in found if each.first <= line <= each.last]
    return [min(holding, key=lambda each: each.last - each.first)] if holding else []


def _used(node: ast.AST, found: Iterable[Definition]) -> list[Definition]:
    """Definitions whose last name is called or looked up below `node`; for a class, its `__init__` where it has one."""
    names = called_names(node) | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    used = [each for each in found if each.name.rpartition(".")[2] in names]
    starters = {f"{each.name}.__init__": each for each in used if each.is_class}
    inits = [each for each in found if each.name in starters]
    replaced = {starters[each.name].name for each in inits}
    return [*(each for each in used if each.name not in replaced), *inits]


def _with_callees(starts: list[Definition], found: list[Definition]) -> list[Definition]:
    """`starts`, then what they use in this file, and so on."""
    reached = list(dict.fromkeys(starts))
    for each in reached:  # grows while it is read
        # a class reaches its methods only through their names
        nodes = [] if each.is_class else [each.node]
        reached += [more for node in nodes for more in _used(node, found) if more not in reached]
    return reached
