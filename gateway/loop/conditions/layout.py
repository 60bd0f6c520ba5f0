"""What the files of a workspace say about how it is tested, built, linted and scanned."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path

from gateway.errors import EchelonError
from gateway.tools.workspace import Workspace

_TARGET = re.compile(r"^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*(?::(?![:=])|::(?!=))", re.MULTILINE)
_PLACEHOLDER = "no test specified"  # the script that `npm init` writes
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them


class Layout:
    """A workspace as it is now. Raises ToolError where it is no folder."""

    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root)
        self.root = self.workspace.root

    def has(self, name: str) -> bool:
        return (self.root / name).is_file()

    def text(self, name: str) -> str:
        """The text of a file; empty where there is none, or where it is outside."""
        try:
            return self.workspace.read(name).decode("utf-8", "replace") if self.has(name) else ""
        except EchelonError:
            return ""

    def configures(self, name: str, table: str) -> bool:
        """Whether a TOML or INI file has a table of that name, or one below it."""
        return re.search(rf"^\s*\[+\s*{re.escape(table)}\s*[.\]]", self.text(name), re.MULTILINE) is not None

    @cached_property
    def python(self) -> str:
        """What tells that this is a Python project; empty where nothing does."""
        named = next(filter(self.has, _PYTHON), "")
        if named:
            return named
        if any(each.is_file() for each in self.root.glob("*.py")):
            return "*.py"
        return "tests/" if any((self.root / "tests").glob("*.py")) else ""

    @cached_property
    def scripts(self) -> dict[str, str]:
        """Those of package.json."""
        try:
            said = json.loads(self.text("package.json") or "{}")
        except (ValueError, RecursionError):
            return {}
        scripts = said.get("scripts") if isinstance(said, dict) else None
        if not isinstance(scripts, dict):
            return {}
        return {name: each for name, each in scripts.items() if isinstance(each, str) and _PLACEHOLDER not in each}

    @cached_property
    def makefile(self) -> str:
        return next(filter(self.has, _MAKEFILES), "")

    @cached_property
    def targets(self) -> frozenset[str]:
        """Those of the Makefile."""
        text = self.text(self.makefile) if self.makefile else ""
        return frozenset(each for names in _TARGET.findall(text) for each in names.split())
