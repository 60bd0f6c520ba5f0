"""Which tools there are: those of `gateway.tools.builtin`, of installed packages, and the user's own.

A module of the built-in package, or of `$ECHELON_HOME/tools`, adds every tool that it declares. A package adds those
of the modules that it names under the entry point group `echelon.tools`. What is wrong with a package, or a file of the
user, costs its own tools only: `Registry.left_out` says so.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from types import ModuleType

from gateway.tools import builtin
from gateway.tools.registry import Registry, Tool

GROUP = "echelon.tools"

Load = Callable[[], ModuleType]


def builtin_registry(home: Path | None = None, *more: str) -> Registry:
    """A fresh registry; the modules are imported here, where they are first needed. `more` names modules of other parts
    of the gateway that declare tools."""
    registry = Registry()
    declared: dict[str, str] = {}  # where, by the tool's name
    shipped = sorted(f"{builtin.__name__}.{each.name}" for each in pkgutil.iter_modules(builtin.__path__))
    for name in [*shipped, *more]:
        module = importlib.import_module(name)
        for tool in _new(module, registry):
            registry.add(tool)
            declared[tool.name] = module.__name__
    for place, load in _others(home):
        reason = _added(place, load, registry, declared)
        if reason:
            registry.left_out.append(f"{place}: {reason}")
    return registry


def _new(module: ModuleType, registry: Registry) -> list[Tool]:
    """The tools of a module without those that it only imports."""
    found = [each for each in vars(module).values() if isinstance(each, Tool)]
    return [each for each in found if each.name not in registry or registry.get(each.name) is not each]


def _others(home: Path | None) -> Iterator[tuple[str, Load]]:
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda found: found.name):
        yield entry.value, entry.load
    for path in sorted((home / "tools").glob("*.py")) if home else ():
        if not path.name.startswith("_"):
            yield str(path), partial(_of_user, path)


def _added(place: str, load: Load, registry: Registry, declared: dict[str, str]) -> str:
    """Add a module's tools, all or none; why none."""
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is not what the command gives
            module = load()
    except (Exception, SystemExit) as error:  # whatever a stranger's module raises
        return f"{type(error).__name__}: {error}"
    tools = _new(module, registry)
    if not tools:
        return "it declares no tool: put @tool above its function, or let the file's name begin with _"
    names: set[str] = set()
    for tool in tools:
        if tool.name in declared or tool.name in names:
            return f"there is a tool {tool.name} already, in {declared.get(tool.name, 'this file')}"
        names.add(tool.name)
    for tool in tools:
        registry.add(tool)
        declared[tool.name] = place
    return ""


def _of_user(path: Path) -> ModuleType:
    name = f"echelon_user_tools_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where a dataclass looks its type hints up
    spec.loader.exec_module(module)
    return module
