"""Whether an act that was chosen on an earlier look would still do the same."""

from __future__ import annotations

from gateway.phone.actions import Clear, DeviceAction, Drag, Enter, Home, OpenApp, Swipe, Type, Wait
from gateway.phone.element import Element
from gateway.phone.judging.look import Look
from gateway.phone.judging.target import again, same
from gateway.phone.state_id import NUMBER

ANYWHERE = (Home, OpenApp, Wait)
MOST = 0.8  # of what was shown: so much is left of a screen that has not been left


def still_there(
    action: DeviceAction, target: Element | None, then: Look, now: Look, *, closely: bool, harmless: bool = False
) -> bool:
    """Whether the same page of the same app is in front, with the target where it was and switched as it was, and the
    same field in focus for what goes there. `closely`: and nothing else that matters has changed either, such as whose
    conversation it is. What is `harmless` may touch what tells another number by now, and scrolls whatever is there."""
    if isinstance(action, ANYWHERE):
        return True
    if _another_page(then, now):
        return False
    if target is not None and not (harmless and isinstance(action, Swipe | Drag) and action.start != action.end):
        found = (again if harmless else same)(target, now.elements or ())
        if found is None or not (_alike(target, found) if harmless else found.bounds == target.bounds):
            return False
        if ("checked" in found.state) != ("checked" in target.state):
            return False
    goes_into = then.field if isinstance(action, Enter | Type | Clear) else None
    if goes_into is not None and (now.field is None or same(goes_into, (now.field,)) is None):
        return False
    return not closely or then.seen.state_id == now.seen.state_id


def unmoved(target: Element | None, then: Look, now: Look) -> bool:
    """Whether an act seems to have left its screen as it was, but for little, with the target in its place: doing it
    once more there would be doing it twice."""
    if _another_page(then, now) or not then.shown:
        return False
    if target is not None:
        found = again(target, now.shown)
        if found is None or found.bounds != target.bounds or found.text != target.text:
            return False
    left = sum(same(each, now.shown) is not None for each in then.shown)
    return left >= MOST * len(then.shown)


def _another_page(then: Look, now: Look) -> bool:
    one, other = then.seen, now.seen
    if one.package != other.package or one.size != other.size:
        return True
    return bool(one.activity and other.activity) and one.activity != other.activity


def _alike(one: Element, other: Element) -> bool:
    """Whether a finger that goes down on the one is on the other, which says the same but for numbers."""
    (x, y), place = one.bounds.centre, other.bounds
    on = place.left <= x < place.right and place.top <= y < place.bottom
    return on and NUMBER.sub("#", one.text) == NUMBER.sub("#", other.text)
