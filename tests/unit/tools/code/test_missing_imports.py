from __future__ import annotations

from pathlib import Path

from gateway.tools.code.missing_imports import missing_imports
from gateway.tools.workspace import Workspace

OLD = "from accounts import Account\n\n\ndef transfer(a: Account, b: Account) -> None: ...\n"


def _found(tmp_path: Path, source: str) -> list[str]:
    (tmp_path / "accounts.py").write_text("class NotEnough(Exception): ...\nclass Account: ...\n")
    (tmp_path / "transfers.py").write_text(OLD)
    (tmp_path / "other.py").write_text("def elsewhere(): ...\n")
    return missing_imports(Workspace(tmp_path), "transfers.py", OLD, source)


def test_a_name_from_a_module_that_the_file_imports_from_is_imported(tmp_path: Path) -> None:
    source = "def transfer(a, b):\n    if a is b:\n        raise NotEnough\n"
    assert _found(tmp_path, source) == ["from accounts import NotEnough"]


def test_a_module_of_the_standard_library_is_imported_where_it_is_used_as_one(tmp_path: Path) -> None:
    assert _found(tmp_path, "def transfer(a, b):\n    return math.ceil(a / b)\n") == ["import math"]


def test_what_is_bound_built_in_or_not_to_be_found_is_left_alone(tmp_path: Path) -> None:
    source = "def transfer(a, b):\n    import re\n    math = len(a)\n    return re.sub(math.x, elsewhere, Account)\n"
    assert _found(tmp_path, source) == []
