"""What a phone has kept passes where it fits, and else says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from echelon.evaluation.judges import Left, judge
from echelon.evaluation.phone_conditions import Kept
from echelon.evaluation.suite import Judging, load_suite
from gateway.errors import ConfigError

CONTACTS, MESSAGES = "com.android.contacts", "com.android.messaging"
ADA = {"name": "Ada Lovelace", "phone": "+44 7700 900-321", "favourite": True, "age": 36}


def kept(*sent: dict[str, Any], contacts: tuple[Any, ...] = (ADA,), night: str = "1") -> Kept:
    return Kept(
        settings={"system": {}, "secure": {"ui_night_mode": night}, "global": {}},
        states={CONTACTS: {"contacts": list(contacts)}},
        logs={MESSAGES: [{"kind": "sent", "data": each} for each in sent] + [{"kind": "call", "data": {}}]},
    )


def judged(phone: Kept | None, *conditions: dict[str, Any]) -> str:
    left = Left(Path(), Path(), "", Path(), phone=phone)
    return judge(Judging.model_validate({"phone": list(conditions)}), left)


def some(**where: Any) -> dict[str, Any]:
    return {"app": CONTACTS, "some": "contacts", "where": where}


def sent(**where: Any) -> dict[str, Any]:
    return {"app": MESSAGES, "log": "sent", "where": where}


def test_a_setting() -> None:
    wanted = {"setting": "secure ui_night_mode", "is": "2"}
    assert judged(kept(night="2"), wanted) == ""
    assert judged(kept(), wanted) == "the setting ui_night_mode is 1, not 2"
    assert judged(kept(), {"setting": "global never_set", "is": "0"}) == "the setting never_set is None, not 0"


@pytest.mark.parametrize(
    "where",
    [
        {"name": "Ada Lovelace"},
        {"name": {"has": "LOVE"}},
        {"phone": {"digits": "447700900321"}},
        {"favourite": True, "age": 36},
        {},
    ],
)
def test_an_entry_that_fits(where: dict[str, Any]) -> None:
    assert judged(kept(), some(**where)) == ""


@pytest.mark.parametrize(
    "where",
    [
        {"name": "ada lovelace"},
        {"name": {"has": "Byron"}},
        {"phone": {"digits": "7700900321"}},
        {"favourite": False},
        {"favourite": 1},
        {"age": "36"},
        {"street": "any"},
        {"name": "Ada Lovelace", "age": 37},
    ],
)
def test_an_entry_that_does_not_fit(where: dict[str, Any]) -> None:
    assert judged(kept(), some(**where)).startswith(f"0 of contacts in {CONTACTS} with ")


def test_an_entry_that_was_made_twice_is_one_too_many() -> None:
    assert judged(kept(contacts=(ADA, ADA)), some(name="Ada Lovelace")).startswith("2 of contacts")
    assert judged(kept(contacts=(ADA, ADA)), {**some(name="Ada Lovelace"), "times": 2}) == ""
    assert judged(kept(contacts=()), {**some(name="Ada Lovelace"), "times": 0}) == ""


@pytest.mark.parametrize("contacts", [(), ("no object",), (None,)])
def test_a_list_without_such_entries(contacts: tuple[Any, ...]) -> None:
    assert judged(kept(contacts=contacts), some(name="Ada Lovelace")) != ""


def test_an_app_that_is_not_there_has_nothing() -> None:
    assert judged(kept(), {"app": "org.none", "some": "notes", "where": {}}).startswith("0 of notes")
    assert judged(kept(), {"app": "org.none", "log": "sent"}) == "0 × sent in org.none, not 1"


def test_a_record_of_one_message_to_the_right_person() -> None:
    to_ada, to_bob = {"to": "+44 7700", "text": "Hello"}, {"to": "12", "text": "Hello"}
    wanted = sent(to={"digits": "447700"}, text={"has": "hello"})
    assert judged(kept(to_ada), wanted) == ""
    assert judged(kept(), wanted) == f"0 × sent in {MESSAGES}, not 1"
    assert judged(kept(to_ada, to_ada), wanted) == f"2 × sent in {MESSAGES}, not 1"
    assert judged(kept(to_bob, to_ada), wanted) == f"2 × sent in {MESSAGES}, not 1"
    assert "is {'to': '12'" in judged(kept(to_bob), wanted)
    assert judged(kept(), {**sent(), "times": 0}) == ""


def test_one_of_several() -> None:
    wanted = {"any": [some(name="Bob"), some(name={"has": "Ada"})]}
    assert judged(kept(), wanted) == ""
    assert " and " in judged(kept(contacts=()), wanted)


def test_every_problem_is_told() -> None:
    assert judged(kept(contacts=()), some(name="Ada"), {"setting": "secure ui_night_mode", "is": "2"}).count(";") == 1


def test_a_task_that_had_no_phone() -> None:
    assert judged(None, some()) == "there was no phone"


@given(st.lists(st.fixed_dictionaries({"n": st.integers(0, 3)})), st.integers(0, 3), st.integers(0, 4))
def test_as_many_as_there_are(entries: list[dict[str, int]], n: int, times: int) -> None:
    there = sum(each["n"] == n for each in entries)
    assert (judged(kept(contacts=tuple(entries)), {**some(n=n), "times": times}) == "") == (there == times)


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"some": "contacts"}, "app"),
        ({"settings": "secure a", "is": "1"}, "no such condition"),
        ("wifi", "no such condition"),
        ({"setting": "secure", "is": "1"}, "setting"),
        ({"setting": "secure a", "is": "1", "extra": 1}, "there is no such key"),
        ({"any": []}, "any"),
        ({**some(name={"hass": "x"})}, "where"),
    ],
)
def test_a_condition_that_is_none_is_named(tmp_path: Path, condition: object, problem: str) -> None:
    request = {"id": "a", "type": "a", "wordings": ["a"], "judge": {"phone": [condition]}}
    path = tmp_path / "suite.yaml"
    path.write_text(yaml.safe_dump({"name": "small", "phone": True, "requests": [request]}))
    with pytest.raises(ConfigError, match=problem) as raised:
        load_suite(path)
    assert "requests.0.judge.phone.0" in str(raised.value)


def test_a_suite_of_turns_has_no_phone_to_judge(tmp_path: Path) -> None:
    request = {"id": "a", "type": "a", "wordings": ["a"], "judge": {"phone": [some()]}}
    path = tmp_path / "suite.yaml"
    path.write_text(yaml.safe_dump({"name": "small", "requests": [request]}))
    with pytest.raises(ConfigError, match="phone: true"):
        load_suite(path)
