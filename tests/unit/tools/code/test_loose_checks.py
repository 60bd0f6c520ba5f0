from __future__ import annotations

import pytest

from gateway.tools.code.loose_checks import in_functions, with_raises

LOOSE = (
    "from a import f\n\nexpected = [1,\n    2]\nassert f(1) == expected\nwith pytest.raises(ValueError):\n    f(0)\n"
)


def test_loose_checks_are_put_into_a_function_with_what_they_need() -> None:
    assert in_functions(LOOSE, "a") == (
        "from a import f\n\n\ndef test_a():\n    expected = [1,\n        2]\n    assert f(1) == expected\n"
        "    with pytest.raises(ValueError):\n        f(0)\n"
    )


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    source = "def test_a():\n    pass\n\nassert True\n"
    assert in_functions(source, "a") == "def test_a():\n    pass\n\n\ndef test_a_too():\n    assert True\n"


@pytest.mark.parametrize("source", ["def test_a():\n    assert 1\n", "x = 1\n", "assert (", ""])
def test_what_has_no_loose_checks_stays(source: str) -> None:
    assert in_functions(source, "a") == source


@pytest.mark.parametrize("error", ["ValueError", 'ValueError("too small")', "pytest.raises(ValueError)"])
def test_a_result_is_not_compared_with_an_error(error: str) -> None:
    source = f"def test_a():\n    assert f(0) == {error}\n    assert f(1) == 2\n"
    raised = "    with pytest.raises(ValueError):\n        f(0)\n"
    assert with_raises(source) == f"def test_a():\n{raised}    assert f(1) == 2\n"


@pytest.mark.parametrize("source", ["assert f(0) == Point(1)\n", "assert f(0) == len\n", "assert (", ""])
def test_other_comparisons_stay(source: str) -> None:
    assert with_raises(source) == source
