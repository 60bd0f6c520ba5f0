"""Another way to do what a touch did not do. For harmless acts only: the first may have an effect later."""

from __future__ import annotations

from gateway.phone.actions import DeviceAction, Drag, LongPress, Numbered, Place, Swipe, Tap
from gateway.phone.element import Element

PRESS_MS = 80  # `input tap` lets go at once, which some views take for nothing
HOLD_MS = 2000  # twice as long as a long press
SLOWER, SLOW_MS = 3, 1500
BESIDE = 1 / 3  # of an element's width and height, from its corner: something else may take what hits its middle


def another_way(action: DeviceAction, target: Element | None, size: tuple[int, int]) -> DeviceAction | None:
    """A short press for a tap, a longer one for a long press, a slower swipe for a swipe; None where there is none.
    `size` is width and height of the screen in pixels."""
    if isinstance(action, Tap):
        place = _beside_the_middle(action.coordinate, target, size)
        return Swipe(start=place, end=place, duration=PRESS_MS)
    if isinstance(action, LongPress):
        return Swipe(start=action.coordinate, end=action.coordinate, duration=HOLD_MS)
    if isinstance(action, Drag):
        return Swipe(start=action.start, end=action.end, duration=HOLD_MS)
    if isinstance(action, Swipe) and action.start != action.end and action.duration < SLOW_MS:
        return action.model_copy(update={"duration": min(SLOWER * action.duration, SLOW_MS)})
    return None


def _beside_the_middle(place: Place, target: Element | None, size: tuple[int, int]) -> Place:
    """A place that was given as such is kept, and so is where a slider is set."""
    if not isinstance(place, Numbered) or target is None or target.role in ("slider", "canvas", "list"):
        return place
    bounds = target.bounds
    x, y = bounds.left + BESIDE * bounds.width, bounds.top + BESIDE * bounds.height
    return min(max(x / size[0], 0.0), 1.0), min(max(y / size[1], 0.0), 1.0)
