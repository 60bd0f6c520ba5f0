"""Tasks of dragging and of marking."""

from __future__ import annotations

from bench.miniwob.screen import Moves, Screen, drag, press
from bench.miniwob.solving import ordinal, solves

FAR = 60  # pixels by which something is moved
HANDLE = 40  # pixels from a corner to the middle of what it is taken by


@solves("drag-box")
def drag_box(screen: Screen) -> Moves:
    large = screen.get("L")
    screen = yield drag(screen.get("s"), screen.within(large, 0.5, 0.5))
    return (yield from press(screen))


@solves("drag-circle", "drag-single-shape")
def drag_shape(screen: Screen) -> Moves:
    (way,) = screen.asked("(left|right|up|down)")
    shape = next(each for each in screen.all("button") if each.text != "Submit")
    x, y = shape.bounds.centre
    across, down = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[way]
    screen = yield drag(shape, screen.at(x + across * FAR, y + down * FAR))
    return (yield from press(screen))


@solves("drag-items")
def drag_items(screen: Screen) -> Moves:
    name, where = screen.asked(r"Drag (\w+) (.+)\.")
    (box,) = [each for each in screen.all("button") if name in each.text]
    names = box.text.split(" · ")
    now = names.index(name)
    if where == "to the top":
        then = 0
    elif where == "to the bottom":
        then = len(names) - 1
    elif "by one" in where:
        then = now + (1 if "down" in where else -1)
    else:
        then = ordinal(where)
    return (yield from move(screen, box.number, now, then))


def move(screen: Screen, number: int, now: int, then: int) -> Moves:
    """An item of a list that is one element to another place in it."""
    box = next(each for each in screen.elements if each.number == number)
    share = 1 / len(box.text.split(" · "))
    past = 0.3 if then > now else -0.3  # a neighbour gives way when its middle is passed
    return (
        yield drag(screen.within(box, 0.5, (now + 0.5) * share), screen.within(box, 0.5, (then + 0.5 + past) * share))
    )


@solves("drag-sort-numbers")
def drag_sort_numbers(screen: Screen) -> Moves:
    for place in range(4):
        box = next(each for each in screen.all("button") if " · " in each.text)
        numbers = [int(each) for each in box.text.split(" · ")]
        wanted = sorted(numbers)[place]
        if numbers[place] != wanted:
            screen = yield from move(screen, box.number, numbers.index(wanted), place)
    return (yield from press(screen))


@solves("highlight-text", "highlight-text-2")
def highlight_text(screen: Screen) -> Moves:
    which = ordinal(*screen.asked(r"the (\d)\w\w paragraph")) if "below" not in screen.task else 0
    paragraph = screen.all("text")[which]
    screen = yield drag(screen.within(paragraph, 0.0, 0.0), screen.within(paragraph, 1.0, 1.0))
    return (yield from press(screen))


@solves("resize-textarea")
def resize_textarea(screen: Screen) -> Moves:
    way = FAR if "larger" in screen.task else -FAR
    box = screen.all("field")[0].bounds
    x, y = box.right - HANDLE, box.bottom - HANDLE
    screen = yield drag(screen.at(x, y), screen.at(x + way, y) if "width" in screen.task else screen.at(x, y + way))
    return (yield from press(screen))
