"""The program that `command:` names: of an agent, and of an exit condition."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from gateway.errors import ToolError
from gateway.loop.state import COMMAND
from gateway.tools.code.command_line import words
from gateway.tools.sandbox import clean_environment


def program_of(name: str) -> list[str]:
    """The program and its arguments. Raises ToolError for what needs a shell, and for quotation marks around all of it:
    the program would be one whose name has spaces."""
    try:
        found = words(name.removeprefix(COMMAND))
    except ToolError as error:
        if "no shell" in str(error):
            error.hint = f"give one program with its arguments: where it takes more, a script ({COMMAND}./mend.sh)"
        raise
    if len(found) == 1 and " " in found[0] and "/" not in found[0]:
        hint = f"leave out the inner quotation marks: {shlex.quote(COMMAND + found[0])}"
        raise ToolError(f"there is no program {found[0]!r}", hint=hint)
    return found


def is_there(program: str, workspace: Path) -> bool:
    """Whether an agent's program can be started: from the workspace on where it has a `/`, on PATH otherwise."""
    place = str(workspace / program) if "/" in program else program
    return shutil.which(place, path=clean_environment()["PATH"]) is not None
