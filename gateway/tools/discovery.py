"""Which tools there are: those of `gateway.tools.builtin`, of installed packages, and the user's own.

A module of the built-in package, or of `$ECHELON_HOME/tools`, adds every tool that it declares. A package adds those
of the modules that it names under the entry point group `echelon.tools`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from gateway.errors import ConfigError
from gateway.tools import builtin
from gateway.tools.registry import Registry, Tool

GROUP = "echelon.tools"


def builtin_registry(home: Path | None = None) -> Registry:
    """A fresh registry; the modules are imported here, where they are first needed. Raises ConfigError."""
    registry = Registry()
    for module in _modules(home):
        for tool in [each for each in vars(module).values() if isinstance(each, Tool)]:
            if tool.name not in registry or registry.get(tool.name) is not tool:  # else one that it imports
                registry.add(tool)
    return registry


def _modules(home: Path | None) -> Iterator[ModuleType]:
    for each in sorted(pkgutil.iter_modules(builtin.__path__), key=lambda found: found.name):
        yield importlib.import_module(f"{builtin.__name__}.{each.name}")
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda found: found.name):
        try:
            yield entry.load()
        except Exception as error:  # whatever a stranger's module raises
            raise ConfigError(f"the tools of {entry.value} cannot be loaded: {error}", hint="uninstall it") from error
    for path in sorted((home / "tools").glob("*.py")) if home else ():
        yield _of_user(path)


def _of_user(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"echelon_user_tools_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's file: what it raises is told with its name
        raise ConfigError(f"{path}: {type(error).__name__}: {error}", hint="repair it, or move it away") from error
    return module
