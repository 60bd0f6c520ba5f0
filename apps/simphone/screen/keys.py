"""Keys: what a character is on a US keyboard, and what Android's key codes are to a page.

Sources: https://www.w3.org/TR/uievents-code/, https://developer.android.com/reference/android/view/KeyEvent
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SHIFT = 8  # the protocol's bit for it
# The characters of a key, without and with shift; its name; its code on Windows, which pages know as `keyCode`.
_KEYS = [(f"{chr(letter + 32)}{chr(letter)}", f"Key{chr(letter)}", letter) for letter in range(ord("A"), ord("Z") + 1)]
_KEYS += [(f"{digit}{sign}", f"Digit{digit}", ord(str(digit))) for digit, sign in enumerate(")!@#$%^&*(")]
_KEYS += [
    (" ", "Space", 32),
    (";:", "Semicolon", 186),
    ("=+", "Equal", 187),
    (",<", "Comma", 188),
    ("-_", "Minus", 189),
    (".>", "Period", 190),
    ("/?", "Slash", 191),
    ("`~", "Backquote", 192),
    ("[{", "BracketLeft", 219),
    ("\\|", "Backslash", 220),
    ("]}", "BracketRight", 221),
    ("'\"", "Quote", 222),
]


def _character(text: str, code: str, number: int, shift: bool) -> dict[str, Any]:
    return {
        "key": text,
        "code": code,
        "text": text,
        "windowsVirtualKeyCode": number,
        "modifiers": _SHIFT if shift else 0,
    }


def _named(name: str, number: int, text: str = "") -> dict[str, Any]:
    return {"key": name, "code": name, "windowsVirtualKeyCode": number} | ({"text": text} if text else {})


# Parameters of Input.dispatchKeyEvent, without its type.
CHARACTERS: Mapping[str, dict[str, Any]] = {
    text: _character(text, code, number, shift=at == 1) for both, code, number in _KEYS for at, text in enumerate(both)
}
NAMED: Mapping[str, dict[str, Any]] = {
    "Enter": _named("Enter", 13, "\r"),
    "Tab": _named("Tab", 9),
    "Backspace": _named("Backspace", 8),
    "Delete": _named("Delete", 46),
    "Escape": _named("Escape", 27),
    "ArrowUp": _named("ArrowUp", 38),
    "ArrowDown": _named("ArrowDown", 40),
    "ArrowLeft": _named("ArrowLeft", 37),
    "ArrowRight": _named("ArrowRight", 39),
    "PageUp": _named("PageUp", 33),
    "PageDown": _named("PageDown", 34),
    "Home": _named("Home", 36),
    "End": _named("End", 35),
}
_ANDROID: Mapping[int, str] = {
    **{7 + digit: str(digit) for digit in range(10)},
    **{29 + letter: chr(ord("a") + letter) for letter in range(26)},
    **{144 + digit: str(digit) for digit in range(10)},  # of the number pad
    17: "*",
    18: "#",
    55: ",",
    56: ".",
    62: " ",
    68: "`",
    69: "-",
    70: "=",
    71: "[",
    72: "]",
    73: "\\",
    74: ";",
    75: "'",
    76: "/",
    77: "@",
    81: "+",
    19: "ArrowUp",
    20: "ArrowDown",
    21: "ArrowLeft",
    22: "ArrowRight",
    23: "Enter",
    61: "Tab",
    66: "Enter",
    67: "Backspace",
    92: "PageUp",
    93: "PageDown",
    111: "Escape",
    112: "Delete",
    122: "Home",
    123: "End",
    160: "Enter",
}


def of_android(keycode: int) -> dict[str, Any] | None:
    """None for a key that means nothing to a page."""
    name = _ANDROID.get(keycode, "")
    return NAMED.get(name) or CHARACTERS.get(name)
