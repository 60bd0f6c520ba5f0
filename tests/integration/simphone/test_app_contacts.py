"""Contacts, touched."""

from __future__ import annotations

from typing import Any

from app_lab import CONTACTS, MESSAGES, Finger


def contact(finger: Finger, name: str) -> dict[str, Any] | None:
    return next((each for each in finger.state(CONTACTS)["contacts"] if each["name"] == name), None)


def test_a_contact_is_created(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.tap("new_contact")
    finger.type("Jörg", into="first")
    finger.type("Weiß-Núñez", into="last")
    finger.type("+49 30 5550 1234", into="phone")
    finger.seek_and_tap("phone_type")
    finger.tap("Work")
    finger.type("joerg@example.com", into="email")
    finger.tap("save")
    finger.see("Contact info")
    found = contact(finger, "Jörg Weiß-Núñez")
    assert found == {
        "id": 44,
        "name": "Jörg Weiß-Núñez",
        "first": "Jörg",
        "last": "Weiß-Núñez",
        "phone": "+49 30 5550 1234",
        "phone_type": "Work",
        "email": "joerg@example.com",
        "favourite": False,
    }


def test_what_cannot_be_is_not_saved(finger: Finger) -> None:
    before = finger.state(CONTACTS)
    finger.open(CONTACTS)
    finger.tap("new_contact")
    finger.tap("save")
    finger.see("Enter a name, a number or an e-mail address")
    finger.type("Ada", into="first")
    finger.type("ada at example", into="email")
    finger.tap("save")
    finger.see("This is no e-mail address")
    assert finger.state(CONTACTS) == before


def test_changes_are_not_thrown_away_unasked(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.tap("new_contact")
    finger.type("Ada", into="first")
    finger.back()
    finger.tap("Keep editing")
    finger.see("Create contact")
    finger.back()
    finger.tap("Discard")
    finger.see("search")
    assert contact(finger, "Ada") is None


def test_a_contact_is_found_edited_and_deleted(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.type("bjorn ake", into="search")  # without the accents
    finger.tap("Björn Åkesson")
    finger.tap("edit")
    finger.type("+46 70 555 99 99", into="phone")
    finger.tap("save")
    finger.see("+46 70 555 99 99")
    edited = contact(finger, "Björn Åkesson")
    assert edited is not None and edited["phone"] == "+46 70 555 99 99"
    finger.tap("delete")
    finger.tap("Delete")
    finger.see("clear_search")
    assert contact(finger, "Björn Åkesson") is None


def test_family_names_come_first_where_they_do(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.type("田中", into="search")
    finger.tap("田中さくら")
    finger.see("+81 90 5550 1278")


def test_a_favourite_is_at_the_top(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.seek_and_tap("Ahmet Yılmaz")
    finger.tap("Add to favourites")
    finger.back()
    finger.see("favourite_3")
    found = contact(finger, "Ahmet Yılmaz")
    assert found is not None and found["favourite"]


def test_a_message_begins_at_a_contact(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.tap("Mum")
    finger.tap("message")
    finger.see("Morning love, did the parcel come?")
    assert finger.phone.state()["package"] == MESSAGES
    finger.back()
    finger.see("Contact info")


def test_a_call_is_on_record(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.tap("Mum")
    finger.tap("call")
    finger.see("Calling…")
    finger.tap("End call")
    assert finger.log(CONTACTS, "call") == [{"to": "+44 1632 960112"}]


def test_the_list_reaches_from_the_first_letter_to_the_last_script(finger: Finger) -> None:
    finger.open(CONTACTS)
    finger.see("Favourites")
    finger.seek("김민준")
