"""Keys of the phone, as a browser gets them."""

from __future__ import annotations

import string

from simphone.screen import keys


def test_every_printable_character_of_ascii_has_a_key() -> None:
    printable = set(string.printable) - set(string.whitespace) | {" "}
    assert set(keys.CHARACTERS) == printable
    assert all(key["key"] == text == key["text"] for text, key in keys.CHARACTERS.items())


def test_a_capital_is_its_letter_with_shift() -> None:
    small, capital = keys.CHARACTERS["q"], keys.CHARACTERS["Q"]
    assert (small["code"], capital["code"]) == ("KeyQ", "KeyQ")
    assert (small["windowsVirtualKeyCode"], capital["windowsVirtualKeyCode"]) == (81, 81)
    assert (small["modifiers"], capital["modifiers"]) == (0, 8)


def test_androids_codes_are_keys_of_a_page_or_nothing() -> None:
    enter, delete, letter, back = (keys.of_android(code) for code in (66, 67, 29, 4))
    assert enter is not None and (enter["key"], enter["text"]) == ("Enter", "\r")
    assert delete is not None and (delete["key"], "text" in delete) == ("Backspace", False)
    assert letter == keys.CHARACTERS["a"]
    assert back is None
