"""A small Python project, faulty or sound, and programs that the tests of conditions put in the place of real ones."""

from __future__ import annotations

import os
from pathlib import Path

import quick_pytest

from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.state import ConditionResult, ConditionSetting

SOUND = {
    "calc.py": 'def total(xs):\n    """The sum."""\n    return sum(xs)\n',
    "tests/test_calc.py": "import calc\n\n\ndef test_total():\n    assert calc.total([1]) == 1\n",
    "pyproject.toml": (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n\n'
        '[project]\nname = "demo"\nversion = "0.1"\n' + quick_pytest.TOML
    ),
    # a backend of its own: nothing has to be fetched, wherever the tests run; as others, it leaves things behind
    "backend.py": """\
import tarfile
import zipfile
from pathlib import Path

INFO = "Metadata-Version: 2.1\\nName: demo\\nVersion: 0.1\\n"
FILES = ("pyproject.toml", "backend.py", "calc.py", "PKG-INFO")


def build_sdist(folder, settings=None):
    Path("PKG-INFO").write_text(INFO)
    Path("demo.egg-info").mkdir()
    with tarfile.open(f"{folder}/demo-0.1.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for each in FILES:
            archive.add(each, f"demo-0.1/{each}")
    return "demo-0.1.tar.gz"


def build_wheel(folder, settings=None, metadata_directory=None):
    compile(Path("calc.py").read_text(), "calc.py", "exec")
    Path("build").mkdir()
    with zipfile.ZipFile(f"{folder}/demo-0.1-py3-none-any.whl", "w") as archive:
        archive.write("calc.py")
        archive.writestr("demo-0.1.dist-info/METADATA", INFO)
        archive.writestr("demo-0.1.dist-info/WHEEL", "Wheel-Version: 1.0\\n")
        archive.writestr("demo-0.1.dist-info/RECORD", "")
    return "demo-0.1-py3-none-any.whl"
""",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def project(root: Path, **changed: str) -> Path:
    """A sound project at `root`; `calc="…"` is another text for calc.py, `tests` for its tests."""
    names = {"calc": "calc.py", "tests": "tests/test_calc.py", "pyproject": "pyproject.toml", "backend": "backend.py"}
    return write(root, {**SOUND, **{names[each]: text for each, text in changed.items()}})


def program(folder: Path, name: str, script: str) -> Path:
    """An executable; `script` begins with its interpreter."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(script)
    path.chmod(0o755)
    return path


def listing(root: Path) -> dict[str, bytes]:
    """Every file of a folder, with its content; folders have a `/`."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        found |= {os.path.relpath(os.path.join(folder, each), root) + "/": b"" for each in folders}
        found |= {os.path.relpath(os.path.join(folder, each), root): Path(folder, each).read_bytes() for each in names}
    return found


async def evaluated(name: str, root: Path, *, command: str | None = None, timeout_s: float = 120) -> ConditionResult:
    setting = ConditionSetting(command=command, timeout_s=timeout_s)
    (result,) = await evaluate([name], root, {name: setting})
    assert result.name == name
    return result
