"""What is on the screen, as a numbered list of elements: the hierarchy without containers and repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gateway.phone.covering import Item, without_covered
from gateway.phone.element import Bounds, Element
from gateway.phone.harmless import harmless
from gateway.phone.hierarchy import Hierarchy, Node
from gateway.phone.labels import named_by_texts_within, without_repeated_labels
from gateway.phone.listing import listing
from gateway.phone.reading_order import in_reading_order
from gateway.phone.window import Window

__all__ = ["Bounds", "Element", "elements_of", "is_blank", "listing"]

BAR = 0.2  # of the screen's height: a window of the system that is lower is its status or navigation bar
SAME = 0.8  # of the smaller one's area: two texts at one place
TWINS = 16  # of the same text are compared; more are different things of the same name
LETTERS = 100_000  # are enough to know a screen's language

STATES = ("checked", "disabled", "focused", "selected", "password", "filled", "scrollable")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
LETTER = re.compile(r"[^\W\d_]")


def elements_of(hierarchy: Hierarchy, size: tuple[int, int]) -> tuple[Element, ...]:
    """The visible elements in reading order, numbered from 1; `size` is width and height as the screen is held.

    A clickable row becomes one element with the texts in it; what is clickable inside it stays one of its own. Of
    several windows, what a smaller one hides is left out, and so are the system's bars, which `uiautomator dump` does
    not show either.
    """
    screen = Bounds(0, 0, *size)
    right_to_left = _reads_right_to_left(hierarchy)
    windows: list[tuple[Bounds, list[Item]]] = []
    order = 0
    for root in sorted(hierarchy.roots, key=lambda each: -each.bounds.area):
        if not root.visible or (len(hierarchy.roots) > 1 and _is_bar(root, screen)):
            continue
        bounds = root.bounds.within(screen)
        bounds = bounds if bounds.area else screen  # a root that does not tell where it is
        window = Window(screen, bounds, order, right_to_left=right_to_left)
        items = named_by_texts_within(window.read(root, screen))
        items = without_repeated_labels(without_covered(items, window.scrims))
        order = window.order
        if not items:
            continue
        windows = [(below, _not_under(bounds, below, shown)) for below, shown in windows]
        windows.append((bounds, items))
    shown = in_reading_order(windows, right_to_left=right_to_left)
    return tuple(
        _element(number, item) for number, item in enumerate(_once(each for part in shown for each in part), 1)
    )


def is_blank(elements: Sequence[Element]) -> bool:
    """Whether the hierarchy tells (nearly) nothing of what is to be seen, so that the picture has to be read: a page of
    a browser that is one empty node, a game, a map."""
    return any(each.role == "canvas" for each in elements) or not any(each.text or each.hint for each in elements)


def _is_bar(root: Node, screen: Bounds) -> bool:
    return root.package == "com.android.systemui" and root.bounds.height < BAR * screen.height


def _not_under(window: Bounds, below: Bounds, items: list[Item]) -> list[Item]:
    """The items below whose middle the window leaves free; of windows of one size nobody knows which is above."""
    if window.area == below.area:
        return items
    centres = [(each, *each.bounds.centre) for each in items]
    return [each for each, x, y in centres if not (window.left <= x < window.right and window.top <= y < window.bottom)]


def _once(items: Iterable[Item]) -> list[Item]:
    """Without what says the same at the same place: a control stays rather than a text."""
    kept: dict[int, Item] = {}
    same: dict[str, list[Item]] = {}
    for item in items:
        others = same.setdefault(item.text.casefold(), []) if item.text and item.role != "list" else []
        twin = next((each for each in others[-TWINS:] if not (each.acts and item.acts) and _overlap(each, item)), None)
        if twin is None:
            others.append(item)
            kept[item.order] = item
        elif item.acts:
            others[others.index(twin)] = item
            kept[twin.order] = item
    return list(kept.values())


def _overlap(one: Item, other: Item) -> bool:
    return max(one.bounds.covered_by(other.bounds), other.bounds.covered_by(one.bounds)) >= SAME


def _element(number: int, item: Item) -> Element:
    text, hint = item.text, item.hint
    if "password" in item.state:  # a text beside it may have become its own: that names it
        text, hint = "", hint or text
    return Element(
        number,
        item.role,
        harmless(text),
        item.bounds,
        hint=harmless(hint),
        resource_id=item.resource_id,
        state=tuple(each for each in STATES if each in item.state),
        clickable=item.clickable,
        editable=item.role == "field",
        package=item.package,
    )


def _reads_right_to_left(hierarchy: Hierarchy) -> bool:
    text = "".join(node.text or node.description for node in hierarchy.nodes())[:LETTERS]
    return 2 * len(RIGHT_TO_LEFT.findall(text)) > len(LETTER.findall(text))
