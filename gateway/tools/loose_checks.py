"""Checks as tests that pytest finds: small models write them at the top of the file as well."""

from __future__ import annotations

import ast

from gateway.tools.python_source import parse_or_empty


def in_functions(source: str, name: str) -> str:
    """The source with the checks of its top level in a function `test_NAME`; unchanged where there are none.

    Imports and definitions stay where they are; other statements, which the checks may need, move with them.
    """
    tree = parse_or_empty(source)
    if not any(isinstance(node, ast.Assert | ast.With) for node in tree.body):
        return source
    staying = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    lines = source.splitlines()
    moved: list[str] = []
    for node in tree.body:
        if isinstance(node, staying) or _is_main(node):
            continue
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        moved += [f"    {line}" if line.strip() else "" for line in lines[first:last]]
        lines[first:last] = [""] * (last - first)
    kept = "\n".join(lines).strip()
    return f"{kept}\n\n\ndef test_{_free(tree, name)}():\n" + "\n".join(moved) + "\n"


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _free(tree: ast.Module, name: str) -> str:
    """A name that no function of the file has."""
    taken = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    while f"test_{name}" in taken:
        name += "_too"
    return name
