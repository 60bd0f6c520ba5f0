"""Where the programs of conditions are found, and what they are told of their surroundings."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from gateway.errors import ToolError
from gateway.tools.sandbox import clean_environment

_PLAIN = {
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "CARGO_TERM_COLOR": "never",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "npm_config_logs_max": "0",
    "npm_config_update_notifier": "false",
}


def search_path(root: Path) -> str:
    """The workspace's own environment goes first, then PATH, then what is installed beside the gateway."""
    beside = str(Path(sys.executable).parent)
    return os.pathsep.join([str(root / ".venv" / "bin"), clean_environment()["PATH"], beside])


def environment(root: Path, folder: Path) -> dict[str, str]:
    """What comes on top of the sandbox's clean environment: caches and temporary files go to `folder`."""
    return {
        **_PLAIN,
        "PATH": search_path(root),
        "TMPDIR": str(folder),
        "COVERAGE_FILE": str(folder / "coverage"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
    }


def find(root: Path, name: str) -> str | None:
    """The path of a program; one with a `/` in it is meant from the workspace on."""
    if "/" in name:
        return shutil.which(str(root / name))
    return shutil.which(name, path=search_path(root))


def opened(path: Path) -> BinaryIO:
    """A report, to be read. Raises ToolError for what is no file: a program may leave a pipe there, and wait."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ToolError("its report is no file")
    return os.fdopen(handle, "rb")


def need(root: Path, name: str, hint: str) -> str:
    """The path of a program. Raises ToolError where there is none."""
    found = find(root, name)
    if found is None:
        raise ToolError(f"{name} is not there, or cannot be run", hint=hint)
    return found
