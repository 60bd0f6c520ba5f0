"""A command line without a shell: one program and its arguments.

Quoting is that of POSIX shells. What only a shell could do is refused, since the program would get it as plain text and
do something else than whoever wrote it meant.
"""

from __future__ import annotations

import re
import shlex

from gateway.errors import ToolError

_HINT = (
    "give one program with its arguments; make several calls for several programs, and quote what is meant literally"
)
_OPERATORS = {
    "|": "a pipe",
    "&": "`&`",
    ";": "`;`",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "\n": "a second line",
    "*": "a glob",
    "?": "a glob",
    "[": "a glob",
}
_EXPANSIONS = {"$": "`$`, which a shell would put a value in place of", "`": "a command substitution"}
_ENDING = re.compile(r"(?<!\\)\s+\Z")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BUILTINS = frozenset("alias cd eval exec exit export popd pushd read set shopt source ulimit umask unset .".split())


def words(command: str) -> list[str]:
    """The program and its arguments. Raises ToolError for what needs a shell, with what to do instead."""
    if "\0" in command:
        raise ToolError("a command cannot hold a NUL")
    try:
        found = shlex.split(_checked(_ENDING.sub("", command.lstrip())))
    except ValueError as error:
        raise ToolError(f"the command cannot be read: {error}", hint="close its quotation marks") from None
    if not found or not found[0]:
        raise ToolError("the command is empty", hint="name a program")
    if _ASSIGNMENT.match(found[0]):
        raise _needs_shell(f"the assignment {found[0]}", f"env {shlex.join(found)} runs a program with a variable set")
    if found[0] in _BUILTINS:
        raise _needs_shell(f"{found[0]}, a part of shells", "every command runs in the workspace's folder")
    return found


def _checked(command: str) -> str:
    """The command as shlex has to be given it. Refuses what stands there unquoted and means something to a shell."""
    read: list[str] = []
    quote = ""
    escaped = False
    before = " "
    for each in command:
        read.append(each)
        if escaped:
            escaped = False
            if each == "\n":
                del read[-2:]  # the line goes on
            elif quote and each in _EXPANSIONS:
                del read[-2]  # shlex keeps this backslash, a shell does not
        elif quote == "'":
            quote = "" if each == "'" else quote
        elif each == "\\":
            escaped = True
        elif each in _EXPANSIONS:
            raise _needs_shell(_EXPANSIONS[each])
        elif quote:
            quote = "" if each == quote else quote
        elif each in "'\"":
            quote = each
        elif each in _OPERATORS:
            raise _needs_shell(_OPERATORS[each])
        elif each == "~" and before.isspace():
            raise _needs_shell("`~`", "write the whole path")
        elif each == "#" and before.isspace():
            raise _needs_shell("a comment")
        before = each
    return "".join(read)


def _needs_shell(what: str, hint: str = _HINT) -> ToolError:
    return ToolError(f"the command has {what}: there is no shell to carry that out", hint=hint)
