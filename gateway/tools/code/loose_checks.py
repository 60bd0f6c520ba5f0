"""Checks as pytest understands them: small models write them at the top of the file, and compare with errors."""

from __future__ import annotations

import ast
import builtins

from gateway.tools.code.python_source import parse_or_empty


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


def with_raises(source: str) -> str:
    """The source with checks that compare a result with an error, which cannot be, as `with pytest.raises(…):`."""
    lines = source.splitlines()
    tree = parse_or_empty(source)
    for node in sorted(ast.walk(tree), key=lambda node: -getattr(node, "lineno", 0)):
        match node:
            case ast.Assert(test=ast.Compare(left=call, ops=[ast.Eq() | ast.Is()], comparators=[other])):
                error = _error(other)
                if error:
                    margin = lines[node.lineno - 1][: node.col_offset]
                    new = [f"{margin}with pytest.raises({error}):", f"{margin}    {ast.unparse(call)}"]
                    lines[node.lineno - 1 : node.end_lineno or node.lineno] = new
    return "\n".join(lines) + "\n" if tree.body else source


def _error(node: ast.expr) -> str:
    """The name of the error that an expression stands for; empty where it stands for none."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="pytest"), attr="raises"), args=[error, *_]):
            return ast.unparse(error)
        case ast.Call(func=ast.Name(id=name)) | ast.Name(id=name):
            kind = getattr(builtins, name, None)
            return name if isinstance(kind, type) and issubclass(kind, BaseException) else ""
    return ""


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _free(tree: ast.Module, name: str) -> str:
    """A name that no function of the file has."""
    taken = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    while f"test_{name}" in taken:
        name += "_too"
    return name
