"""What came of typing and of emptying a field: what stands there, as it was read back or is seen now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gateway.engine.ports import Json
from gateway.phone.element import Element
from gateway.phone.judging.look import Difference, Look
from gateway.phone.judging.target import again
from gateway.phone.labels import SEPARATOR

LONG = 40  # characters of a text that a note repeats
FEW = 5  # words of it

Kept = Literal["whole", "other form", "in part", "not at all", "something else"]


class Verdict(NamedTuple):
    ok: bool | None
    cause: str = ""
    note: str = ""


def typed(text: str, before: Look, after: Look, outcome: Mapping[str, Json]) -> Verdict:
    """`outcome` may have `typed`: `{read, matches, note}` of what the bridge read back right after typing."""
    told = outcome.get("typed") or {}
    field = _field(before, after)
    if told.get("matches") is True:
        return Verdict(True)
    if field is not None and "password" in field.state:
        return _password(field)
    read = told.get("read")
    if read is None and field is not None and "password" not in field.state:
        read = field.text
    if "\n" in text and submitted(text, before, after):
        return Verdict(True, "", "It was typed and handed in: the field is empty again.")
    if read is None:
        return _unread(before, after)
    if told.get("matches") is None and not read:
        return Verdict(None, "", "The field may still be empty: it shows only its hint. Look before you go on.")
    kept = how_kept(text, _text(before), read)
    if kept == "whole":
        return Verdict(True)
    if kept == "other form":
        return Verdict(True, "", f"The field shows it as {quoted(read)}.")
    if kept == "not at all":
        return Verdict(False, "not_typed", "Nothing was typed: the field is as before. Tap the field, then type again.")
    if kept == "in part":
        return Verdict(False, "not_typed", f"The field took only {quoted(read)}. Clear it and type less, or accept it.")
    return Verdict(False, "not_typed", f"The field says {quoted(read)} instead. Clear it and type again, or accept it.")


def cleared(before: Look, after: Look, outcome: Mapping[str, Json]) -> Verdict:
    told = outcome.get("typed") or {}
    field = _field(before, after)
    if field is not None and "password" in field.state:
        left = "filled" in field.state
        return Verdict(
            not left, "not_cleared" if left else "", "The field is not empty: try once more." if left else ""
        )
    if told.get("matches") is True or (field is not None and not field.text):
        return Verdict(True)
    read = told.get("read") or (field.text if field is not None else None)
    if not read:
        return _unread(before, after)
    return Verdict(
        False, "not_cleared", f"The field still says {quoted(read)}. Long press it, or delete it in another way."
    )


def how_kept(text: str, earlier: str, read: str) -> Kept:
    """How a field that said `earlier` has taken a text, by what it says now. Apps put in separators, change case,
    and cut."""
    if _plain(read).count(_plain(text)) > _plain(earlier).count(_plain(text)):
        return "whole"
    if read == earlier:
        return "not at all"
    bare, now = _bare(text), _bare(read)
    if bare and now != _bare(earlier) and (bare in now or _digits(text, now)):
        return "other form"
    return "in part" if now and bare.startswith(now) else "something else"


def submitted(text: str, before: Look, after: Look) -> bool:
    """Whether a text that was in a field was handed in: it stands elsewhere, or another screen of the app is shown."""
    difference = Difference(before, after)
    gone = _field(before, after) is None and difference.screen and not difference.app
    return gone or handed_over(text, before.field, before, after)


def handed_over(text: str, field: Element | None, before: Look, after: Look) -> bool:
    """Whether a text has left its field, and is said by something else on the screen, once more than before: what a
    message does that is sent. Without a `field` it is the one that has the focus now."""
    left, said = after.field if field is None else again(field, after.shown), _plain(text)
    emptied = left is None or not left.text
    return emptied and bool(said) and _times_said(said, after) > _times_said(said, before)


def quoted(text: str) -> str:
    """A text of the screen within a note: on one line, short, and without marks that would end it."""
    words = text.replace('"', "'").split()
    short = " ".join(words[:FEW])
    if len(short) > LONG:
        short = short[:LONG].rstrip()
    whole = len(words) <= FEW and short == " ".join(words)
    return f'"{short}"' if whole else f'"{short}…"'


def _field(before: Look, after: Look) -> Element | None:
    """The field that was typed into, as it is afterwards."""
    had = before.field
    return (again(had, after.shown) if had is not None else None) or after.field


def _text(look: Look) -> str:
    return look.field.text if look.field is not None else ""


def _password(field: Element) -> Verdict:
    if "filled" in field.state:
        return Verdict(True, "", "The password field is filled; what stands in it cannot be read.")
    return Verdict(False, "not_typed", "The password field is empty still. Tap it, then type again.")


def _unread(before: Look, after: Look) -> Verdict:
    if after.seen.secure or before.seen.secure:
        return Verdict(None, "secure", "This screen hides its picture, and the field cannot be read. Go on with care.")
    return Verdict(None, "", "What stands in the field cannot be read. Look at the screen before you go on.")


def _times_said(said: str, look: Look) -> int:
    texts = (part for each in look.shown if each.role != "field" for part in each.text.split(SEPARATOR))
    return sum(_plain(each) == said for each in texts)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _bare(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def _digits(text: str, now: str) -> bool:
    """Whether a number field kept the digits and left out the rest."""
    digits = "".join(each for each in text if each.isdigit())
    return bool(digits) and now == digits
