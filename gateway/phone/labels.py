"""Which text names which control."""

from __future__ import annotations

import re

from gateway.phone.covering import Item
from gateway.phone.element import Bounds
from gateway.phone.harmless import MAX_TEXT
from gateway.phone.roles import CONTROLS

SEPARATOR = " · "
NOT_WORD = re.compile(r"[\W_]+")
FEW = 12  # items: what holds more is no line of a form
MANY = 10_000  # pairs of a nameless control and a text: no screen has so many
BEFORE, AFTER = 2, 1  # places in reading order: a label comes first, and a slider's value may stand between them


def joined(text: str, more: str) -> str:
    """Both, or the one that says the other already."""
    if not text or not more or len(text) > MAX_TEXT:
        return text or more
    one, other = (f" {_plain(each)} " for each in (text, more))
    if other in one if other.strip() else more in text:
        return text
    return more if one.strip() and one in other else f"{text}{SEPARATOR}{more}"


def named_by_text_beside(items: list[Item]) -> list[Item]:
    """In a line of a form: the text in the row of a control that has no name, or else above it, becomes its name."""
    acting = [each for each in items if each.acts]
    if not 2 <= len(items) <= FEW or len(acting) != 1 or acting[0].role not in CONTROLS:
        return items
    control = acting[0]
    is_field = control.role == "field"
    if control.hint if is_field else control.text:
        return items
    texts = [each for each in items if each.role == "text" and each.bounds.top < control.bounds.bottom]
    beside = [each for each in texts if each.bounds.bottom > control.bounds.top]
    label = beside[0] if beside else texts[-1] if texts else None
    if label is None:
        return items
    if is_field:
        control.hint = label.text
    else:
        control.text = label.text
    return [each for each in items if each is not label]


def named_by_texts_within(items: list[Item]) -> list[Item]:
    """A nameless control takes the texts that stand within its bounds though they are no part of it."""
    nameless = [each for each in items if each.acts and not each.named]
    texts = [each for each in items if each.role in ("text", "image") and not each.acts]
    if not nameless or not texts or len(nameless) * len(texts) > MANY:
        return items
    taken: set[int] = set()
    for control in sorted(nameless, key=lambda each: each.bounds.area):
        for text in texts:
            if text.order not in taken and _inside(text.bounds, control.bounds):
                control.text = joined(control.text, text.text)
                taken.add(text.order)
    return [each for each in items if each.order not in taken]


def without_repeated_labels(items: list[Item]) -> list[Item]:
    """Without texts next to a control that only say its name, which it has already."""
    gone: set[int] = set()
    for at, control in enumerate(items):
        if control.role not in CONTROLS or not control.named:
            continue
        names = {_plain(each) for each in (control.hint, *control.text.split(SEPARATOR))} - {""}
        for text in items[max(at - BEFORE, 0) : at + AFTER + 1]:
            if text.role == "text" and not text.acts and _plain(text.text) in names and _near(text, control):
                gone.add(text.order)
    return [each for each in items if each.order not in gone]


def _plain(text: str) -> str:
    return NOT_WORD.sub(" ", text.casefold()).strip()


def _near(text: Item, control: Item) -> bool:
    """No further away than either is high."""
    gap = max(text.bounds.top - control.bounds.bottom, control.bounds.top - text.bounds.bottom)
    return gap <= max(text.bounds.height, control.bounds.height)


def _inside(inner: Bounds, outer: Bounds) -> bool:
    return inner.within(outer) == inner
