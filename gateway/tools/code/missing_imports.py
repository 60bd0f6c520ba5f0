"""The imports that a new definition needs and does not bring: small models write the code and forget them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable

from gateway.tools.code.python_source import definitions, parse_or_empty, unwrapped
from gateway.tools.code.relevance import is_test_file
from gateway.tools.code.source_text import decode
from gateway.tools.workspace import Workspace


def missing_imports(workspace: Workspace, path: str, old: str, source: str) -> list[str]:
    """Import statements for the names that `source` uses and neither it nor the file `old` at `path` binds.

    A module of the standard library is imported where it is used as one; a name of the workspace where this file, or a
    test, already imports from the module that defines it. Other names are left as they are.
    """
    written = parse_or_empty(unwrapped(source))
    open_names = _used(written) - _bound(written) - _bound(parse_or_empty(old)) - set(dir(builtins))
    owners = (node.value for node in ast.walk(written) if isinstance(node, ast.Attribute))
    modules = {owner.id for owner in owners if isinstance(owner, ast.Name)}
    known = sys.stdlib_module_names | ({"pytest"} if is_test_file(path) else set())
    found = [f"import {name}" for name in sorted(open_names & modules & known)]
    lacking = sorted(open_names - {each.removeprefix("import ") for each in found})
    for name in lacking:
        for module, file in _modules(workspace, path):
            if name in {each.name for each in definitions(_text(workspace, file))}:
                found.append(f"from {module} import {name}")
                break
    return found


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(tree: ast.AST) -> set[str]:
    """Every name that something in the tree gives a value, whatever its scope: too many rather than too few."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {(each.asname or each.name).partition(".")[0] for each in aliases}
    return names


def _modules(workspace: Workspace, path: str) -> Iterable[tuple[str, str]]:
    """(module as it is imported, its file) for what this file imports from, then for what the tests do."""
    files = workspace.files("*.py")
    for importer in [path, *filter(is_test_file, files)]:
        for node in ast.walk(parse_or_empty(_text(workspace, importer))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                stem = node.module.replace(".", "/")
                for file in files:
                    if file != path and f"/{file}".endswith((f"/{stem}.py", f"/{stem}/__init__.py")):
                        yield node.module, file


def _text(workspace: Workspace, path: str) -> str:
    return decode(workspace.read(path), path).text if workspace.exists(path) else ""
