"""A project of a few lines that is soon tested, built, linted and scanned, and what can be wrong with it."""

from __future__ import annotations

from pathlib import Path

import quick_pytest

TEST = "from shop import total\n\n\ndef test_total() -> None:\n    assert total([1, 2]) == 3\n"
PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "shop"
version = "1"
"""
PYPROJECT += quick_pytest.TOML
BACKEND = """import io
import tarfile
import zipfile

METADATA = b"Metadata-Version: 2.1\\nName: shop\\nVersion: 1\\n"


def build_sdist(folder, config_settings=None):
    with tarfile.open(f"{folder}/shop-1.tar.gz", "w:gz") as sdist:
        for name in ("pyproject.toml", "backend.py", "shop.py", "README.md"):
            sdist.add(name, f"shop-1/{name}")
        about = tarfile.TarInfo("shop-1/PKG-INFO")
        about.size = len(METADATA)
        sdist.addfile(about, io.BytesIO(METADATA))
    return "shop-1.tar.gz"


def build_wheel(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/shop-1-py3-none-any.whl", "w") as wheel:
        wheel.write("shop.py")
        wheel.writestr("shop-1.dist-info/METADATA", METADATA)
    return "shop-1-py3-none-any.whl"
"""
FAILS = ("sum(prices)", "max(prices)")
LINTED = ('"""A shop."""', '"""A shop."""\n\nimport os')
SCANNED = ('"""A shop."""', '"""A shop."""\n\nimport hashlib\n\nhashlib.md5(b"shop")')


def shop(workspace: Path, *wrong: tuple[str, str], builds: bool = True) -> None:
    """The project. `wrong` has texts of shop.py, and what stands there instead; without a readme it is not built."""
    (workspace / "shop.py").write_text('"""A shop."""\n\n\ndef total(prices):\n    return sum(prices)\n')
    (workspace / "test_shop.py").write_text(TEST)
    (workspace / "pyproject.toml").write_text(PYPROJECT)
    (workspace / "backend.py").write_text(BACKEND)
    for right, instead in wrong:
        replace(workspace, right, instead)
    if builds:
        readme(workspace)


def replace(workspace: Path, old: str, new: str) -> None:
    path = workspace / "shop.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def readme(workspace: Path) -> None:
    (workspace / "README.md").write_text("# A shop\n")
