"""What an action touches, and where that is on a later screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.phone.actions import DeviceAction, DoubleTap, Drag, LongPress, Numbered, Swipe, Tap, pixel
from gateway.phone.element import Bounds, Element

AT_PLACE = 0.8  # of each other's area: two elements at one place
NEAR = 1.0  # times a text's height: a place so near to a text that was read in a picture is on its button


def target_of(action: DeviceAction, elements: Sequence[Element] | None, size: tuple[int, int]) -> Element | None:
    """The element that a number names, or the smallest one where the finger goes down; None where there is none, and
    for actions that touch nothing. `size` is width and height of the screen in pixels. Of a picture only texts are
    known, not the buttons around them: so the nearest one counts where the place is in none."""
    if isinstance(action, Tap | LongPress | DoubleTap):
        place = action.coordinate
    elif isinstance(action, Swipe | Drag):
        place = action.start
    else:
        return None
    if isinstance(place, Numbered):
        return next((each for each in elements or () if each.number == place.element), None)
    point = pixel(place, size)
    under = [each for each in elements or () if _within(point, each.bounds)]
    small = min(under, key=lambda each: each.bounds.area, default=None)
    if small is not None and small.role not in ("list", "canvas"):
        return small
    read = [each for each in elements or () if each.clickable is None and _within(point, _button(each.bounds))]
    return min(read, key=lambda each: _distance(each.bounds, point), default=small)


def same(element: Element, elements: Iterable[Element]) -> Element | None:
    """That very element in a later list, whatever its number is there: of the same kind and name, saying the same. Of
    several the nearest."""
    found = [each for each in elements if _kind(each) == _kind(element) and _said(each) == _said(element)]
    return min(found, key=lambda each: _distance(each.bounds, element.bounds.centre), default=None)


def again(element: Element, elements: Iterable[Element]) -> Element | None:
    """That element in a later list, also where it says something else now, as a switch that says On or Off does: then
    it is known by its developers' name, if no other has that, or by its place."""
    elements = tuple(elements)
    if (found := same(element, elements)) is not None:
        return found
    kin = [each for each in elements if _kind(each) == _kind(element)]
    if element.resource_id and len(kin) == 1:
        return kin[0]
    return next((each for each in kin if _at_place(each.bounds, element.bounds)), None)


def called(element: Element | None) -> str:
    """As people call it: `button "Pay"`; empty for None."""
    if element is None:
        return ""
    name = element.text or element.hint or element.resource_id
    return f'{element.role} "{name}"' if name else element.role


def _kind(element: Element) -> tuple[str, str, str]:
    return element.role, element.resource_id, element.package


def _said(element: Element) -> tuple[str, str]:
    return element.text, element.hint


def _within(point: tuple[int, int], bounds: Bounds) -> bool:
    return bounds.left <= point[0] < bounds.right and bounds.top <= point[1] < bounds.bottom


def _button(text: Bounds) -> Bounds:
    margin = int(NEAR * text.height)
    return Bounds(text.left - 2 * margin, text.top - margin, text.right + 2 * margin, text.bottom + margin)


def _at_place(one: Bounds, other: Bounds) -> bool:
    return one.covered_by(other) >= AT_PLACE and other.covered_by(one) >= AT_PLACE


def _distance(bounds: Bounds, point: tuple[int, int]) -> int:
    x, y = bounds.centre
    return (x - point[0]) ** 2 + (y - point[1]) ** 2
