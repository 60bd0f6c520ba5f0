from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simphone.faults import FAULTS, Fault, Faults


def test_a_fault_is_read_as_it_is_written() -> None:
    assert Fault.parse("link_drop:at=screencap*,bytes=1000,times=2") == Fault(
        "link_drop", at="screencap*", bytes=1000, times=2
    )
    assert Fault.parse("slow_screen:seconds=1.5,skip=3") == Fault("slow_screen", seconds=1.5, skip=3)
    assert Fault.parse("screen_off") == Fault("screen_off")


def test_a_comma_within_a_value_belongs_to_it() -> None:
    assert Fault.parse("popup:text=Hello, you: a=b,times=0") == Fault("popup", text="Hello, you: a=b", times=0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("link_dorp", "there is no fault 'link_dorp'; there are: link_drop"),
        ("popup:colour=red", "'colour=red'"),
        ("popup:", "''"),
        ("link_drop:bytes=many", "'many' is not a number: bytes"),
        ("link_drop:times=-1", "not negative"),
    ],
)
def test_a_fault_that_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        Fault.parse(text)
    assert says in str(caught.value)


@given(skip=st.integers(0, 5), times=st.integers(0, 5), matches=st.integers(0, 15))
def test_a_fault_passes_some_matches_and_acts_on_the_next(skip: int, times: int, matches: int) -> None:
    faults = Faults()
    faults.add(Fault("tap_dropped", at="input tap *", skip=skip, times=times))
    acted = []
    for number in range(matches):
        assert faults.take("tap_dropped", "input text hello") is None
        assert faults.take("popup", "input tap 1 2") is None
        acted.append(faults.take("tap_dropped", f"input tap {number} 2") is not None)
    last = skip + times if times else matches
    assert acted == [skip <= number < last for number in range(matches)]
    assert faults.acted == [f"tap_dropped input tap {number} 2" for number in range(matches) if acted[number]]
    assert bool(faults.active()) is (not times or matches < last)


def test_two_faults_of_a_name_act_one_after_the_other() -> None:
    faults = Faults()
    faults.add(Fault("popup", text="one"))
    faults.add(Fault("popup", text="two"))
    assert [taken.text for _ in range(3) if (taken := faults.take("popup", "input tap 1 2"))] == ["one", "two"]


def test_faults_are_cleared_by_name_or_all() -> None:
    faults = Faults()
    for name in ("popup", "screen_off", "popup"):
        faults.add(Fault(name))
    faults.clear("popup")
    assert [each.name for each in faults.active()] == ["screen_off"]
    faults.clear()
    assert faults.active() == []


def test_a_fault_can_be_asked_for_without_being_used_up() -> None:
    faults = Faults()
    faults.add(Fault("storage_full", at="cp *"))
    assert faults.stands("storage_full", "cp a b")
    assert not faults.stands("storage_full", "ls")
    assert faults.take("storage_full", "cp a b")
    assert not faults.stands("storage_full", "cp a b")


def test_every_fault_says_what_it_does() -> None:
    assert all(FAULTS.values())


@pytest.mark.parametrize(
    "wrong", [{"at": 5}, {"text": {"a": 1}}, {"times": 0.5}, {"times": True}, {"seconds": "3"}, {"bytes": None}]
)
def test_what_is_of_the_wrong_type_is_refused_before_it_acts(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of popup is .*, which is no"):
        Fault("popup", **wrong)


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e999"])
def test_seconds_come_to_an_end(seconds: str) -> None:
    with pytest.raises(ValueError, match="seconds of slow_screen are not finite"):
        Fault.parse(f"slow_screen:seconds={seconds}")
