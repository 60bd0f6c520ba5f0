"""Clock, touched."""

from __future__ import annotations

from typing import Any

from app_lab import CLOCK, Finger


def alarm(finger: Finger, number: int) -> dict[str, Any] | None:
    return next((each for each in finger.state(CLOCK)["alarms"] if each["id"] == number), None)


def test_an_alarm_is_set_by_the_time_picker(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("add_alarm")
    finger.type("14", into="Hour")
    finger.type("35", into="Minute")
    finger.tap("OK")
    finger.see("14:35")
    assert alarm(finger, 4) == {"id": 4, "time": "14:35", "days": [], "enabled": True, "label": ""}
    assert finger.toasts()[-1] == "Alarm set for 4 hours and 35 minutes from now"


def test_a_picker_that_is_left_sets_nothing(finger: Finger) -> None:
    before = finger.state(CLOCK)
    finger.open(CLOCK)
    finger.tap("add_alarm")
    finger.tap("Cancel")
    assert finger.state(CLOCK) == before


def test_an_alarm_is_switched_off_and_on(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("Alarm 06:45")
    found = alarm(finger, 1)
    assert found is not None and not found["enabled"]
    finger.tap("Alarm 06:45")
    found = alarm(finger, 1)
    assert found is not None and found["enabled"]
    assert finger.toasts()[-1] == "Alarm set for 20 hours and 45 minutes from now"


def test_days_and_a_label_are_given_to_an_alarm(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("alarm_3_expand")
    finger.tap("alarm_3_tuesday")
    finger.tap("alarm_3_friday")
    finger.tap("alarm_3_label")
    finger.type("Fleurs & jardin", into="label_text")
    finger.tap("dialog_ok")
    finger.see("Tue, Fri")
    expected = {"id": 3, "time": "21:15", "days": [2, 5], "enabled": True, "label": "Fleurs & jardin"}
    assert alarm(finger, 3) == expected


def test_a_deleted_alarm_can_be_had_back(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("alarm_2_expand")
    finger.tap("alarm_2_delete")
    finger.see("Alarm deleted")
    assert alarm(finger, 2) is None
    finger.tap("Undo")
    finger.see("09:30")
    assert alarm(finger, 2) is not None


def test_an_intent_sets_an_alarm(finger: Finger) -> None:
    extras = {
        "android.intent.extra.alarm.HOUR": 5,
        "android.intent.extra.alarm.MINUTES": 5,
        "android.intent.extra.alarm.MESSAGE": "Airport",
    }
    finger.start("android.intent.action.SET_ALARM", **extras)
    finger.see("05:05")
    assert alarm(finger, 4) == {"id": 4, "time": "05:05", "days": [], "enabled": True, "label": "Airport"}


def test_tabs_say_which_is_chosen(finger: Finger) -> None:
    finger.open(CLOCK)
    assert finger.see("tab_alarm").is_("selected")
    finger.tap("tab_clock")
    assert finger.see("tab_clock").is_("selected")
    assert not finger.see("tab_alarm").is_("selected")
    assert finger.see("digital_clock").text == "10:00"


def test_a_city_is_added(finger: Finger) -> None:
    finger.change(CLOCK, tab="clock")
    finger.open(CLOCK)
    finger.tap("add_city")
    finger.tap("Helsinki")
    finger.see("Helsinki")
    finger.tap("Remove Tokyo")
    assert finger.state(CLOCK)["cities"] == ["Berlin", "New York", "Helsinki"]


def test_a_timer_is_typed_started_and_deleted(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("tab_timer")
    for key in ("timer_5", "timer_00"):
        finger.tap(key)
    assert finger.see("timer_setup").text == "00h 05m 00s"
    finger.tap("timer_start")
    finger.see("Running")
    finger.tap("timer_pause")
    finger.see("Paused")
    timer = finger.state(CLOCK)["timer"]
    assert timer["ends_at"] is None and 0 < timer["left_ms"] <= timer["length_ms"] == 300_000
    finger.tap("timer_remove")
    finger.see("timer_setup")
    assert finger.state(CLOCK)["timer"]["length_ms"] == 0


def test_a_timer_ends(finger: Finger) -> None:
    finger.change(CLOCK, tab="timer")
    finger.open(CLOCK)
    finger.tap("timer_1")
    finger.tap("timer_start")
    finger.see("Time’s up")


def test_the_stopwatch_counts_laps(finger: Finger) -> None:
    finger.open(CLOCK)
    finger.tap("tab_stopwatch")
    finger.tap("stopwatch_start")
    finger.tap("stopwatch_lap")
    finger.tap("stopwatch_lap")
    finger.see("Lap 2")
    finger.tap("stopwatch_start")
    stopwatch = finger.state(CLOCK)["stopwatch"]
    assert stopwatch["started_at"] is None
    assert 0 < stopwatch["laps"][0] < stopwatch["laps"][1] < stopwatch["elapsed_ms"]
    finger.tap("Reset")
    assert finger.state(CLOCK)["stopwatch"] == {"elapsed_ms": 0, "started_at": None, "laps": []}
