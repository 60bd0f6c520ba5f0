"""The moves that a screen allows, each with a name that a small model can say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gateway.engine.ports import Json
from gateway.phone.actions import ACTION
from gateway.phone.agents.button_words import SEARCHING
from gateway.phone.element import Bounds, Element
from gateway.phone.labels import SEPARATOR
from gateway.phone.listing import ON_OFF, words

Kind = Literal["tap", "type", "enter", "scroll", "hide keyboard", "back", "done"]

NAME, NAMED = 40, 60  # characters of an element's label, and of what a model calls it
SILENT = {"list", "progress"}  # roles that are there for others
SCROLL_MS = 600  # slow enough to move the content and not to fling it
NEAR, FAR = 0.25, 0.75  # of what scrolls, where the finger goes


@dataclass(frozen=True)
class Move:
    """What may be chosen now. `action` is it as data, None for what is more than one action or none of the phone's."""

    name: str
    kind: Kind
    action: dict[str, Json] | None = None
    element: Element | None = None


def shown(elements: Sequence[Element]) -> list[Element]:
    """The elements that say or take something."""
    return [each for each in elements if each.role not in SILENT and (each.text or each.hint or each.resource_id)]


def label(element: Element) -> str:
    """What it is called, in short: its first words, on one line and without quotation marks."""
    text = element.hint or element.text if element.role == "field" else element.text
    name = (text.split(SEPARATOR)[0] or text or element.resource_id).replace('"', "'")
    return name if len(name) <= NAME else name[: NAME - 1].rstrip() + "…"


def name(element: Element) -> str:
    """What a model calls it. A move begins with the name: by its first token a small model has chosen."""
    text = (element.hint or element.text) if element.role == "field" else (element.text or element.resource_id)
    text = (text or element.resource_id).replace('"', "'")
    return text if len(text) <= NAMED else text[: NAMED - 1].rstrip() + "…"


def is_on(element: Element) -> bool | None:
    """Of what can be switched; None for anything else."""
    return "checked" in element.state if element.role in ON_OFF else None


def is_field(element: Element) -> bool:
    return element.role == "field" or element.editable


def is_search(field: Element) -> bool:
    """Whether a field looks things up."""
    return not SEARCHING.isdisjoint(words(f"{field.hint} {field.resource_id} {field.text}"))


def can_be_tapped(element: Element) -> bool:
    if "disabled" in element.state or is_field(element):
        return False
    acts = element.clickable or element.role in ON_OFF or element.role in ("tab", "picker")
    return bool(acts) or (element.clickable is None and element.role == "text")  # read from a picture


def moves_of(
    elements: Sequence[Element],
    size: tuple[int, int],
    *,
    keyboard: bool = False,
    barred: Sequence[Mapping[str, Json]] = (),
) -> list[Move]:
    """All that can be done with what is on the screen, in its order, then scrolling and going back. None of them is
    one of `barred`."""
    found: list[Move] = []
    for each in shown(elements):
        if is_field(each) and "disabled" not in each.state:
            found.append(Move(name(each), "type", tap(each), each))
            if "focused" in each.state and each.text:
                found.append(Move("press enter", "enter", {"action": "enter"}, each))
        elif can_be_tapped(each):
            found.append(Move(name(each), "tap", tap(each), each))
    area = scrolling(elements, size)
    if area is not None:
        found.append(Move("scroll down", "scroll", swipe(area, size, FAR, NEAR)))
        found.append(Move("scroll up", "scroll", swipe(area, size, NEAR, FAR)))
    found.append(Move("hide keyboard", "hide keyboard", BACK) if keyboard else Move("back", "back", BACK))
    return _distinct([each for each in found if each.action is None or not is_one_of(each.action, barred)])


def is_one_of(action: Mapping[str, Json], actions: Sequence[Mapping[str, Json]]) -> bool:
    """Whether it is among them, however it is written."""
    return _plain(action) in [_plain(each) for each in actions]


def _distinct(found: Sequence[Move]) -> list[Move]:
    """With a number behind each name that stands there already."""
    met: Counter[str] = Counter()
    distinct = []
    for each in found:
        met[each.name] += 1
        distinct.append(replace(each, name=f"{each.name} ({met[each.name]})") if met[each.name] > 1 else each)
    return distinct


BACK: dict[str, Json] = {"action": "back"}


def tap(element: Element) -> dict[str, Json]:
    return {"action": "tap", "coordinate": {"element": element.number}}


def typing(field: Element, text: str) -> tuple[dict[str, Json], ...]:
    """What it takes to have just that text in the field."""
    focus = () if "focused" in field.state else (tap(field),)
    empty = ({"action": "clear"},) if field.text or "filled" in field.state else ()
    return (*focus, *empty, {"action": "type", "text": text})


def scrolling(elements: Sequence[Element], size: tuple[int, int]) -> Bounds | None:
    """The largest of what scrolls, but for rows."""
    areas = [each.bounds for each in elements if "scrollable" in each.state]
    return max((each for each in areas if each.height * 3 > each.width), key=lambda each: each.area, default=None)


def swipe(area: Bounds, size: tuple[int, int], start: float, end: float) -> dict[str, Json]:
    """Up or down in the middle of an area; from and to are fractions of its height."""
    x = _fraction((area.left + area.right) / 2, size[0])
    ys = [_fraction(area.top + area.height * each, size[1]) for each in (start, end)]
    return {"action": "swipe", "start": [x, ys[0]], "end": [x, ys[1]], "duration": SCROLL_MS}


def _fraction(pixel: float, length: int) -> float:
    return round(min(max(pixel / length, 0.0), 1.0), 4)


def _plain(action: Mapping[str, Json]) -> Json:
    """In one form, whichever it was written in; as it stands where it is none of ours."""
    try:
        return ACTION.validate_python(dict(action)).model_dump()
    except ValueError:
        return dict(action)


def schema(names: Sequence[str]) -> dict[str, Json]:
    """One of the moves."""
    return {
        "type": "object",
        "properties": {"move": {"type": "string", "enum": list(dict.fromkeys(names))}},
        "required": ["move"],
        "additionalProperties": False,
    }


_ACTED = re.compile(r'^\w+ "(.*)"$')


def called_name(target: str) -> str:
    """The name out of what a step says that it touched, such as `button "Pay"`."""
    found = _ACTED.match(target)
    return found[1] if found else target
