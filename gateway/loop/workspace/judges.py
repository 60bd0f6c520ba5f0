"""Which files judge what an agent did: tests, and what says how tests, linters, scanners and builds are run.

A file is known by its name alone. So a change of pyproject.toml counts although it may only name a new dependency:
that it is looked at costs a reader a moment, and a rule that was switched off there unseen would cost more.
"""

from __future__ import annotations

import fnmatch
import posixpath

from gateway.tools.code.relevance import is_test_file

_FOLDERS = frozenset({"test", "tests", "__tests__", "spec"})
_NAMES = (
    "*.test.*", "*.spec.*", "*_test.*", "*_spec.*",
    "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "noxfile.py", ".coveragerc",
    "ruff.toml", ".ruff.toml", ".flake8", "mypy.ini", ".bandit", "bandit.y*ml", "sitecustomize.py", "*.pth",
    "package.json", ".eslintrc*", "eslint.config.*", "jest.config.*", "vitest.config.*", "tsconfig*.json",
    "Cargo.toml", "clippy.toml", ".clippy.toml", "go.mod", ".golangci.*", "Makefile", "makefile", "GNUmakefile",
)  # fmt: skip


def judges(path: str) -> bool:
    name = posixpath.basename(path)
    return (
        is_test_file(path)
        or not _FOLDERS.isdisjoint(path.split("/")[:-1])
        or any(fnmatch.fnmatchcase(name, each) for each in _NAMES)
    )
