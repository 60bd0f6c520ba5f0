"""The rules of the house that a machine can check: imports point one way, and importing is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A module may import what stands in its layer or below. What `gateway` has beside these is its face, above them all.
LAYERS = (
    {"gateway.errors", "gateway.config", "gateway.resources", "gateway.redact", "gateway.fence", "gateway.trust"},
    {"gateway.engine"},
    {"gateway.tools", "gateway.llm"},
    {"gateway.turn", "gateway.phone", "gateway.loop"},
)
FACE = len(LAYERS)
APPS = FACE + 1
STRANGERS = LAYERS[3]  # these meet through the engine and the tool registry only

PICTURES_AND_PHONES = {"PIL", "adbutils"}
MODELS = {"huggingface_hub", "jsonschema", "litellm", "openai", "tiktoken", "tokenizers", "xllamacpp"}
NETWORK = {"aiohttp", "httpx"}
HEAVY = PICTURES_AND_PHONES | MODELS | NETWORK


def package(module: str) -> str:
    """The part of a module's name that the layers speak of: `gateway.turn`, or an app's name."""
    return ".".join(module.split(".")[:2]) if module.startswith("gateway") else module.split(".")[0]


def layer(module: str) -> int:
    if module.split(".")[0] != "gateway":
        return APPS
    return next((rank for rank, names in enumerate(LAYERS) if package(module) in names), FACE)


def imported(module: str, source: str, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Line and name of every module of the project that `source` imports, wherever in it."""
    is_package = any(other.startswith(f"{module}.") for other in modules)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: len(module.split(".")) - node.level + is_package] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names = [
                f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in modules else origin for alias in node.names
            ]
        else:
            continue
        tops = {each.split(".")[0] for each in modules}
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in tops)


def violations(sources: dict[str, str]) -> list[str]:
    """Every import that points upward, or sideways between strangers, as `module:line imports module`."""
    return [
        f"{module}:{line} imports {name}"
        for module, source in sources.items()
        for line, name in imported(module, source, set(sources))
        if layer(name) > layer(module)
        or (package(name) != package(module) and {package(name), package(module)} <= STRANGERS)
    ]


def tree() -> dict[str, str]:
    """The project's own modules, by name."""
    roots = [(ROOT, ROOT / "gateway"), *((ROOT / "apps", app) for app in sorted((ROOT / "apps").glob("*")))]
    return {
        ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
        for base, folder in roots
        for path in sorted(folder.rglob("*.py"))
    }


def test_imports_point_one_way() -> None:
    assert violations(tree()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("gateway.engine.machine", "from gateway.llm.model import ask"),
        ("gateway.engine.machine", "from gateway import llm"),
        ("gateway.engine.machine", "from ..llm import model"),
        ("gateway.llm", "from .. import turn"),
        ("gateway.llm.model", "def f():\n    import gateway.turn.graph"),
        ("gateway.config", "import gateway.engine"),
        ("gateway.turn.graph", "from gateway.phone import bridge"),
        ("gateway.loop.session", "import gateway.turn"),
        ("gateway.turn.graph", "from gateway.api import Gateway"),
        ("gateway.turn.graph", "from gateway import Gateway"),
        ("gateway.api", "import echelon.cli"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_found(module: str, source: str) -> None:
    names = "gateway gateway.api gateway.config gateway.engine gateway.engine.machine gateway.llm gateway.llm.model "
    names += "gateway.turn gateway.turn.graph gateway.phone gateway.phone.bridge gateway.loop.session echelon.cli"
    assert len(violations(dict.fromkeys(names.split(), "") | {module: source})) == 1


def test_imports_that_point_down_are_fine() -> None:
    sources = {
        "gateway": "from gateway.api import Gateway",
        "gateway.api": "from gateway.turn.graph import graph",
        "gateway.turn.graph": "import json\nfrom gateway.turn import x\nfrom gateway.tools import registry",
        "gateway.turn": "",
        "gateway.tools.registry": "from ..engine import ports\nfrom gateway.errors import ToolError",
        "gateway.engine.ports": "import gateway.errors",
        "gateway.errors": "",
        "echelon.cli": "from gateway import Gateway",
    }
    assert violations(sources) == []


def entrances() -> list[str]:
    """What people import or start first."""
    return ["gateway", *(["echelon.cli"] if (ROOT / "apps/echelon/cli.py").exists() else [])]


@pytest.mark.parametrize("module", entrances())
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'apps')]}; import {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert HEAVY.isdisjoint(loaded)


def test_turns_do_not_load_the_graph_of_tasks_on_phones(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'apps')]}\n"
        "from pathlib import Path; from gateway import Gateway, Settings\n"
        f"place, graph = Path({str(tmp_path)!r}), 'gateway.phone.task.graph'\n"
        "runs = Gateway(Settings.load(environ={'ECHELON_HOME': str(place)}, cwd=place)).runs\n"
        "print(list(runs.types), graph in sys.modules, runs.types['phone'].name, graph in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split("] ") == ["['loop', 'command', 'phone', 'turn'", "False phone True\n"]
