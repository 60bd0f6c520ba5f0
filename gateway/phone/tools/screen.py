"""A screen as a tool's result: what can be named in the next call, and what a name means on the screen of then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gateway.engine.ports import Json
from gateway.errors import NotNow
from gateway.phone.element import Element
from gateway.phone.harmless import harmless
from gateway.phone.judging.look import Look
from gateway.phone.judging.target import called
from gateway.phone.listing import VALUED, listing
from gateway.tools.registry import Schema, Situation

NAME = 80  # characters of an element's name
LISTED = 600  # tokens
APPS = 300  # characters
SCREEN = "phone.screen"


def name_of(element: Element) -> str:
    """What it is called in a call: `3 button "Pay"`."""
    return f"{element.number} {_said(element)}"


def find(name: str, elements: Iterable[Element]) -> Element | None:
    """The element of that name: of the same number, too, or the only one that is called so; by its number alone, or by
    its text, where no more was said."""
    elements = tuple(elements)
    number, said = re.fullmatch(r"(\d*)\s*(.*)", harmless(name)).groups()  # type: ignore[union-attr]
    if number and said:
        same = [each for each in elements if _said(each) == said]
        exact = [each for each in same if each.number == int(number)]
        return exact[0] if exact else same[0] if len(same) == 1 else None
    if number:
        return next((each for each in elements if each.number == int(number)), None)
    wanted = said.casefold()
    same = [
        each for each in elements if wanted in (_said(each).casefold(), harmless(each.text or each.hint).casefold())
    ]
    return same[0] if len(same) == 1 else None


def described(look: Look) -> str:
    """In words: the app in front, and the list of what is there."""
    front = " ".join(filter(None, [look.seen.package, look.seen.activity])) or "nothing that is known"
    if look.elements is None:
        return f"In front: {front}\nThe screen cannot be read: {look.seen.unreadable}"
    return f"In front: {front}\n{listing(look.elements, LISTED)}"


def data_of(look: Look) -> dict[str, Json]:
    """`package`, `activity`, and the names of what can be tapped (`elements`) and typed into (`fields`)."""
    elements = [each for each in look.elements or () if "disabled" not in each.state]
    fields = [each for each in elements if each.editable or each.role == "field"]
    acting = [each for each in elements if each.clickable is not False or each.role in VALUED or each in fields]
    return {
        "package": look.seen.package,
        "activity": look.seen.activity,
        "elements": [name_of(each) for each in acting],
        "fields": [name_of(each) for each in fields],
    }


def last(situation: Situation, key: str) -> list[str]:
    """What the phone showed last of that kind. Raises NotNow where nobody has looked yet."""
    for result in reversed(situation.results):
        if str(result["tool"]).startswith("phone.") and key in result["data"]:
            return list(result["data"][key])
    raise NotNow(f"nobody has looked at the phone yet: call {SCREEN} first")


def one_of(schema: Schema, argument: str, names: list[str]) -> Schema:
    """With the argument narrowed to these."""
    if not names:
        raise NotNow("there is nothing on the screen for that")
    schema["properties"][argument] = {**_plain(schema["properties"][argument]), "enum": names}
    return schema


def _plain(argument: Mapping[str, Json]) -> dict[str, Json]:
    return {key: each for key, each in argument.items() if key in ("type", "description")}


def _names(element: Element) -> tuple[str, str]:
    return _said(element).casefold(), harmless(element.text or element.hint).casefold()


def _said(element: Element) -> str:
    return harmless(called(element), NAME)
