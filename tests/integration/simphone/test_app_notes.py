"""Notes, touched."""

from __future__ import annotations

from typing import Any

from app_lab import NOTES, Finger


def titles(finger: Finger) -> list[str]:
    return [each["title"] for each in finger.state(NOTES)["notes"]]


def note(finger: Finger, title: str) -> dict[str, Any]:
    return next(each for each in finger.state(NOTES)["notes"] if each["title"] == title)


def test_a_new_note_is_saved_on_the_way_back(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("new_note")
    finger.type("Packing list", into="title")
    finger.type("Tent\nGrüße an Jürgen 東京", into="body")
    finger.back()
    finger.see("Packing list")
    assert note(finger, "Packing list")["body"] == "Tent\nGrüße an Jürgen 東京"


def test_an_edit_outlives_the_home_key(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("Running")
    finger.type("Rest day", into="body")
    finger.home()
    assert note(finger, "Running")["body"] == "Rest day"


def test_a_note_without_text_is_none(finger: Finger) -> None:
    before = titles(finger)
    finger.open(NOTES)
    finger.tap("new_note")
    finger.type("x", into="title")
    finger.tap("title")
    finger.phone.call(lambda phone: phone.display.clear_text())
    finger.back()
    finger.tap("Navigate up")
    finger.see("new_note")
    assert titles(finger) == before
    assert finger.toasts()[-1] == "Empty note discarded"


def test_a_deleted_note_can_be_had_back(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("Running")
    finger.tap("delete")
    finger.tap("Delete")
    finger.see("Note deleted")
    assert "Running" not in titles(finger)
    finger.tap("Undo")
    finger.see("Running")
    assert "Running" in titles(finger)


def test_nothing_is_deleted_before_it_is_confirmed(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("Running")
    finger.tap("delete")
    finger.tap("Cancel")
    finger.back()
    finger.see("Running")
    assert "Running" in titles(finger)


def test_several_are_selected_by_a_long_press_and_deleted(finger: Finger) -> None:
    finger.open(NOTES)
    finger.long_press("Running")
    finger.see("1 selected")
    finger.tap("Ideas for the garden")
    finger.see("2 selected")
    finger.tap("delete_selected")
    finger.tap("Delete")
    finger.see("2 notes deleted")
    assert not {"Running", "Ideas for the garden"} & set(titles(finger))


def test_back_ends_a_selection_and_keeps_the_app(finger: Finger) -> None:
    finger.open(NOTES)
    finger.long_press("Running")
    finger.see("1 selected")
    finger.back()
    assert finger.find("1 selected") is None
    assert finger.phone.state()["package"] == NOTES


def test_a_pinned_note_is_first(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("Running")
    finger.tap("pin")
    finger.back()
    finger.see("new_note")
    assert note(finger, "Running")["pinned"]
    shown = finger.texts()
    assert shown.index("Pinned") < shown.index("Running") < shown.index("Others")


def test_search_looks_at_titles_and_text(finger: Finger) -> None:
    finger.open(NOTES)
    finger.tap("open_search")
    finger.type("blueberry")
    finger.see("Wi-Fi at the cottage")
    assert finger.find("Running") is None
    finger.back()
    finger.see("Running")
