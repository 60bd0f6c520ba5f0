from __future__ import annotations

from pathlib import Path

import pytest

from gateway.tools.code.relevance import MAX_OFFERED, MAX_POINTED, relevant_definitions, relevant_files
from gateway.tools.registry import Situation
from gateway.tools.workspace import Workspace

CART = """\
class Cart:
    def __init__(self): ...
    def total(self): return _sum(self)
def _sum(cart): ...
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    files = {
        "shop/__init__.py": "from .cart import Cart\nfrom .tax import vat\n",
        "shop/cart.py": CART,
        "shop/tax.py": "def vat(x): ...\n",
        "shop/db.py": "def connect_all(): ...\n",
        "tests/test_cart.py": "from shop import Cart\n\ndef test_total():\n    assert Cart().total() == 1\n",
        "tests/test_db.py": "import shop.db\n\ndef test_db():\n    shop.db.connect_all()\n",
        "README.md": "The shop.\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return Workspace(tmp_path)


def _failed(*files: tuple[str, int, str]) -> dict[str, object]:
    frames = [{"path": path, "line": line, "function": function} for path, line, function in files]
    return {
        "tool": "test.run", "args": {}, "ok": False, "text": "",
        "data": {"failures": [{"test": "t", "message": "m", "files": frames}]},
    }  # fmt: skip


def test_without_a_hint_sources_come_first_and_tests_last(shop: Workspace) -> None:
    sources = ["shop/__init__.py", "shop/cart.py", "shop/db.py", "shop/tax.py"]
    offered = relevant_files(shop, Situation("please improve it"))
    assert offered == [*sources, "README.md", "tests/test_cart.py", "tests/test_db.py"]


def test_words_of_the_request_rank_the_files(shop: Workspace) -> None:
    assert relevant_files(shop, Situation("the tax is wrong"))[0] == "shop/tax.py"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("fix the bug in shop/cart.py", ["shop/cart.py"]),
        ("fix the bug in cart.py.", ["shop/cart.py"]),
        ("module shop.tax is slow", ["shop/tax.py"]),
        ("rename connect_all to connect", ["shop/db.py"]),
        ("make tests/test_db.py pass", ["shop/db.py", "tests/test_db.py"]),
        ("make tests/test_cart.py pass", ["shop/cart.py", "shop/tax.py", "tests/test_cart.py"]),
    ],
)
def test_what_the_request_names_is_all_that_is_offered(shop: Workspace, request_: str, expected: list[str]) -> None:
    assert relevant_files(shop, Situation(request_)) == expected


def test_a_traceback_goes_before_the_request(shop: Workspace) -> None:
    failed = _failed(("tests/test_db.py", 4, "test_db"), ("shop/db.py", 1, "connect_all"))
    assert relevant_files(shop, Situation("fix shop/tax.py", results=(failed,))) == ["shop/db.py"]
    read = {"tool": "file.read", "ok": True, "data": {"path": "shop/db.py"}}
    again = relevant_files(shop, Situation("fix shop/tax.py", results=(failed, read)))
    assert again == ["shop/db.py", "tests/test_db.py"], "the test may be to blame, once the code was seen"


def test_an_assertion_that_fails_points_at_what_its_test_imports(shop: Workspace) -> None:
    failed = _failed(("tests/test_cart.py", 4, "test_total"))
    situation = Situation("fix it", results=(failed,))
    assert relevant_files(shop, situation) == ["shop/cart.py"]
    assert relevant_definitions(shop, "shop/cart.py", situation) == ["Cart.total", "Cart.__init__", "_sum"]


def test_tests_that_pass_again_point_at_nothing(shop: Workspace) -> None:
    failed = _failed(("shop/db.py", 1, "connect_all"))
    passed = {"tool": "test.run", "args": {}, "ok": True, "text": "", "data": {"failures": []}}
    assert len(relevant_files(shop, Situation("improve it", results=(failed, passed)))) > MAX_POINTED


def test_one_definition_that_is_left_is_the_only_choice(shop: Workspace) -> None:
    failed = _failed(("shop/cart.py", 4, "_sum"))
    assert relevant_definitions(shop, "shop/cart.py", Situation("?", results=(failed,))) == ["_sum"]
    assert relevant_definitions(shop, "shop/cart.py", Situation("rename `_sum`")) == ["_sum"]
    assert len(relevant_definitions(shop, "shop/cart.py", Situation("rename it"))) == 4


def test_many_files_are_bounded(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"m{number}.py").write_text("")
    assert len(relevant_files(Workspace(tmp_path), Situation("?"))) == MAX_OFFERED
