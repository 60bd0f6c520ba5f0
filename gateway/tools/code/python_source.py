"""Python files as a set of named definitions: what is in one, and how one of them is replaced.

A definition is named as Python's `__qualname__` does it: `function`, `Class`, `Class.method`.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.tools.code.source_text import SourceText

_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d+\| ?")
_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class NotReplaced(Exception):
    """Why a definition could not be replaced, in words that tell a model what to do instead."""


@dataclass(frozen=True)
class Definition:
    """A function, method or class; `first` and `last` are its lines, decorators included, from 1."""

    name: str
    node: _Node
    first: int
    last: int

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def calls(self) -> set[str]:
        """The names that its body calls, without what stands before the last dot."""
        return called_names(self.node)


def parse(text: str) -> ast.Module:
    """`ast.parse` without its warnings; raises SyntaxError for whatever Python cannot read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "too deeply nested") from error


def definitions(text: str) -> list[Definition]:
    """Those of the module and of its classes, in order; none if it does not parse. Functions inside functions are not
    listed."""
    try:
        module = parse(text)
    except SyntaxError:
        return []
    return list(_walk(module.body, ""))


def called_names(node: ast.AST) -> set[str]:
    """The last parts of all names called below `node`."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {f.id if isinstance(f, ast.Name) else f.attr for f in calls if isinstance(f, ast.Name | ast.Attribute)}


def _walk(body: Iterable[ast.stmt], prefix: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, _Node):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Definition(prefix + node.name, node, first, node.end_lineno or node.lineno)
            if isinstance(node, ast.ClassDef):
                yield from _walk(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _walk((each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)), prefix)


def unwrapped(source: str) -> str:
    """The code in what a model wrote: without Markdown fences, line numbers or common indentation."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if "```" in source and (fenced := _FENCE.search(source)):
        source = fenced.group(1)
    lines = source.split("\n")
    if all(_NUMBERED.match(line) for line in lines if line.strip()):
        lines = [_NUMBERED.sub("", line) for line in lines]
    first = next((line for line in lines if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip(" \t"))]
    return "\n".join(line.removeprefix(margin) for line in lines).strip("\n") + "\n"


def replaced(old: SourceText, name: str, source: str) -> tuple[str, list[str]]:
    """The file's text with the definition `name` replaced by the one in `source`, and notes on what else was done.

    Decorators stay unless the source has its own; imports that the source needs and the file lacks are added; other
    statements around the definition are left out. Raises NotReplaced.
    """
    target = _only(definitions(old.text), name)
    source = unwrapped(source)
    module = _parsed(source)
    new = _new_definition(module, target)
    if kept := _docstring(source, new, old, target):
        source, module, new = kept, parse(kept), _new_definition(parse(kept), target)
    lines = old.lines
    head = lines[target.first - 1]
    indent = head[: len(head) - len(head.lstrip(" \t"))]
    if head.strip() and not re.match(r"[ \t]*(@|async\b|def\b|class\b)", head):
        raise NotReplaced(f"{name} does not begin on a line of its own; change it with old and new instead.")
    first = target.first
    if target.node.decorator_list and not new.decorator_list:
        first = target.node.lineno
    body = _indented(source, new, indent)
    text = "".join(lines[: first - 1]) + old.with_newlines(body)
    tail = "".join(lines[target.last :])
    text += (old.newline if lines[target.last - 1].endswith(("\n", "\r")) else "") + tail
    text, added = _with_imports(SourceText(text, old.encoding, old.newline), module)
    try:
        parse(text)
    except SyntaxError as error:
        raise NotReplaced(f"the file would no longer be valid Python: line {error.lineno}: {error.msg}.") from None
    if text != old.text and _behaviour(new) == _behaviour(target.node):
        raise NotReplaced(f"the new {name} does just what the old one does. Find what is wrong in it, and change that.")
    notes = [f"added {each}" for each in added]
    others = [each for each in module.body if each is not new and not isinstance(each, ast.Import | ast.ImportFrom)]
    if others and not (len(module.body) == 1 and isinstance(module.body[0], ast.ClassDef)):
        notes.append(f"only {name} was taken from the new source")
    return text, notes


def changed_by(source: str, text: str) -> str:
    """The name of the one definition in the file `text` that a new source changes; where it repeats what is there, one
    that it repeats. Raises NotReplaced where that cannot be told."""
    there = {each.name: each for each in definitions(text)}
    offered = list(_walk(_parsed(unwrapped(source)).body, ""))
    found: dict[str, Definition] = {}  # what is offered, by its name in the file
    for each in offered:
        inside = [name for name in there if name == each.name or name.rpartition(".")[2] == each.name]
        found.update(dict.fromkeys(inside, each) if len(inside) == 1 else {})
    for name in [name for name in found if there[name].is_class]:
        methods = [each for each in there if each.startswith(f"{name}.")]
        if all(each in found for each in methods):
            found = {each: new for each, new in found.items() if each not in methods}  # the whole class is meant
        else:
            del found[name]
    changed = [name for name, new in found.items() if _behaviour(new.node) != _behaviour(there[name].node)]
    if len(changed) == 1 or (found and not changed):
        return (changed or list(found))[0]
    if changed:
        raise NotReplaced(f"the new source changes {', '.join(changed)}: change one of them at a time.")
    known = ", ".join(there) or "none (does the file parse?)"
    defined = ", ".join(each.name for each in offered) or "nothing"
    raise NotReplaced(f"the new source defines {defined}. Write one of the file's own definitions: {known}.")


def _parsed(source: str) -> ast.Module:
    try:
        return parse(source)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise NotReplaced(
            f"the new source is not valid Python: line {error.lineno}: {error.msg}{f': {line}' if line else ''}. "
            "Write the whole definition again."
        ) from None


def _behaviour(node: _Node) -> str:
    """The definition without its docstring and decorators, in a form that layout does not change."""
    bare = copy.copy(node)
    bare.decorator_list = []
    if ast.get_docstring(node, clean=False) is not None:
        bare.body = node.body[1:]
    return ast.dump(bare)


def _docstring(source: str, new: _Node, old: SourceText, target: Definition) -> str | None:
    """The source with the old docstring, where the new definition has none; None where nothing is to be done."""
    if ast.get_docstring(target.node) is None or ast.get_docstring(new) is not None:
        return None
    first = new.body[0]
    if first.lineno == new.lineno:  # all on one line
        return None
    said = target.node.body[0]
    text = "".join(old.lines[said.lineno - 1 : said.end_lineno]).replace(old.newline, "\n")
    lines = source.splitlines(keepends=True)
    indent = " " * first.col_offset
    kept = textwrap.indent(textwrap.dedent(text.rstrip("\n")), indent) + "\n"
    whole = "".join([*lines[: first.lineno - 1], kept, *lines[first.lineno - 1 :]])
    try:
        parse(whole)
    except SyntaxError:
        return None
    return whole


def _only(found: list[Definition], name: str) -> Definition:
    same = [each for each in found if each.name == name]
    if len(same) == 1:
        return same[0]
    if same:
        raise NotReplaced(f"{len(same)} definitions are called {name}; change the right one with old and new instead.")
    known = ", ".join(dict.fromkeys(each.name for each in found)) or "none (does the file parse?)"
    raise NotReplaced(f"nothing in this file is called {name}. Its definitions: {known}.")


def _new_definition(module: ast.Module, target: Definition) -> _Node:
    """The definition in the source that has the target's name: bare, or inside a class of the right name."""
    offered = list(_walk(module.body, ""))
    bare = target.name.rpartition(".")[2]
    for wanted in (target.name, bare):
        same = [each for each in offered if each.name == wanted and each.is_class == target.is_class]
        if same:
            return same[-1].node
    what = "class" if target.is_class else "def"
    there = ", ".join(each.name for each in offered) or "no definition"
    raise NotReplaced(f"the new source defines {there}, not {target.name}: it has to begin with `{what} {bare}`.")


def _indented(source: str, node: _Node, indent: str) -> str:
    """The lines of `node`, behind `indent`; lines inside a string are left alone, for their spaces are its content,
    except in docstrings."""
    inside: set[int] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes)):
            inside.update(_rest_of(each))
    for each in ast.walk(node):
        if isinstance(each, _Node) and ast.get_docstring(each, clean=False) is not None:
            inside.difference_update(_rest_of(each.body[0]))
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    lines = source.split("\n")
    result = []
    for number in range(first, (node.end_lineno or node.lineno) + 1):
        line = lines[number - 1]
        if number not in inside:
            margin = line[: node.col_offset]
            line = line[node.col_offset :] if not margin.strip() else line.lstrip()
            line = indent + line if line.strip() else ""
        result.append(line)
    return "\n".join(result)


def _rest_of(node: ast.expr | ast.stmt) -> range:
    """The lines of a node after its first."""
    return range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)


def _with_imports(file: SourceText, module: ast.Module) -> tuple[str, list[str]]:
    """The file with those imports of `module` that it lacks, after its own last one."""
    there = parse_or_empty(file.text)
    have = {each for node in ast.walk(there) for each in _imported(node)}
    lacking = list(
        dict.fromkeys(
            ast.unparse(node)
            for node in module.body
            if any(each not in have for each in _imported(node)) and not _from_future(node)
        )
    )
    if not lacking:
        return file.text, []
    after = 0
    for node in there.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (after == 0 and docstring):
            after = node.end_lineno or node.lineno
    lines = file.lines
    lines[after:after] = [each + file.newline for each in lacking]
    return "".join(lines), lacking


def parse_or_empty(text: str) -> ast.Module:
    """The module, or an empty one if it does not parse."""
    try:
        return parse(text)
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def _imported(node: ast.AST) -> set[tuple[str, str, str]]:
    """(module, name, name it is bound to) for each name that an import statement binds."""
    if isinstance(node, ast.Import):
        return {(each.name, "", each.asname or each.name) for each in node.names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {(module, each.name, each.asname or each.name) for each in node.names}
    return set()


def _from_future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
