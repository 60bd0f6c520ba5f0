"""What apps keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from simphone.screen.store import AppStore


def test_an_app_begins_with_its_initial_state_and_cannot_change_it(tmp_path: Path) -> None:
    store = AppStore(tmp_path / "apps")
    store.initial["org.example"] = {"notes": [{"title": "Milk"}]}
    store.load("org.example")["notes"].clear()
    assert store.load("org.example") == {"notes": [{"title": "Milk"}]}
    assert store.load("org.other") == {}


def test_what_is_saved_is_there_for_the_next_store_in_the_folder(tmp_path: Path) -> None:
    AppStore(tmp_path).save("org.example", {"text": "Käse 🧀"})
    assert AppStore(tmp_path).load("org.example") == {"text": "Käse 🧀"}


def test_a_state_that_cannot_be_written_leaves_the_old_one_and_no_rest(tmp_path: Path) -> None:
    store = AppStore(tmp_path)
    store.save("org.example", {"a": 1})
    with pytest.raises(TypeError):
        store.save("org.example", {"a": object()})
    assert store.load("org.example") == {"a": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["org.example.json"]


def test_the_record_grows_and_outlives_a_new_state(tmp_path: Path) -> None:
    store = AppStore(tmp_path)
    store.append("org.example", "order", {"item": "tea\nblack"})
    store.save("org.example", {})
    store.append("org.example", "payment", 3)
    assert store.log("org.example") == [
        {"kind": "order", "data": {"item": "tea\nblack"}},
        {"kind": "payment", "data": 3},
    ]


def test_clear_is_a_fresh_installation(tmp_path: Path) -> None:
    store = AppStore(tmp_path)
    store.initial["org.example"] = {"a": 0}
    store.save("org.example", {"a": 1})
    store.append("org.example", "order", None)
    store.clear("org.example")
    store.clear("org.example")
    assert (store.load("org.example"), store.log("org.example")) == ({"a": 0}, [])


@pytest.mark.parametrize("name", ["../secret", "a/b", "", "..", "a b"])
def test_a_name_that_is_no_package_reaches_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no package name"):
        AppStore(tmp_path).load(name)


@pytest.mark.parametrize("rest", [b"", b"{", b"[1]", b"5", b"\xff\xfe"])
def test_a_state_that_cannot_be_read_is_the_initial_one(tmp_path: Path, rest: bytes) -> None:
    store = AppStore(tmp_path)
    store.initial["org.example"] = {"a": 0}
    (tmp_path / "org.example.json").write_bytes(rest)
    assert store.load("org.example") == {"a": 0}


def test_what_no_page_could_read_is_not_kept(tmp_path: Path) -> None:
    store = AppStore(tmp_path)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            store.save("org.example", {"a": wrong})
        with pytest.raises(ValueError):
            store.append("org.example", "order", wrong)
    assert (store.load("org.example"), store.log("org.example")) == ({}, [])
