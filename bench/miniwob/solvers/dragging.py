"""Tasks of dragging and of marking."""

from __future__ import annotations

from bench.miniwob.screen import Moves, Screen, Stuck, drag, fill, press, scroll, tap
from bench.miniwob.solving import ordinal, solves

FAR = 60  # pixels by which something is moved
PLACES = {"top left": 0, "top center": 1, "top right": 2, "center left": 3, "center": 4, "center right": 5}
PLACES |= {"bottom left": 6, "bottom center": 7, "bottom right": 8}


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
    return (yield drag(
        screen.within(box, 0.5, (now + 0.5) * share), screen.within(box, 0.5, (then + 0.5 + past) * share)
    ))


@solves("drag-items-grid")
def drag_items_grid(screen: Screen) -> Moves:
    name, where = screen.asked(r"Drag (\w+) (.+)\.")
    items = screen.all("text", "button")
    now = next(at for at, each in enumerate(items) if each.text == name)
    if "by one" in where:
        then = now + {"up": -3, "down": 3, "left": -1, "right": 1}[where.split()[0]]
    else:
        then = PLACES[where.removeprefix("to the ")]
    past = 0.3 if then > now else -0.3  # in reading order
    return (yield drag(items[now], screen.within(items[then], 0.5 + past, 0.5)))


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
    way = 1 if "larger" in screen.task else -1
    box = screen.all("field")[0].bounds
    x, y = box.right - 6, box.bottom - 6
    across, down = (FAR, 0) if "width" in screen.task else (0, FAR)
    screen = yield drag(screen.at(x, y), screen.at(x + way * across, y + way * down))
    return (yield from press(screen))


@solves("daily-calendar")
def daily_calendar(screen: Screen) -> Moves:
    length, unit, name, begin, end = screen.asked(
        r'Create a ([\d.]+) (\w+) event named "(\w+)", between (\d+)[AP]M and (\d+)[AP]M'
    )
    halves = int(float(length) * 2) if unit.startswith("hour") else int(length) // 30
    first = {"8": 16, "12": 24, "4": 32}[begin]
    while True:
        free = [first + at for at in range(8) if _free(screen, first + at)]
        runs = [at for at in free if all(at + more in free for more in range(halves))]
        if runs:
            break
        screen = yield from scroll(screen, screen.named("area"), 0.4)
    start, stop = screen.named(f"hh-{runs[0]}"), screen.named(f"hh-{runs[0] + halves - 1}")
    screen = yield drag(screen.within(start, 0.5, 0.4), screen.within(stop, 0.5, 0.6))
    screen = yield from fill(screen, screen.all("field")[0], name)
    return (yield from press(screen, "Create"))


def _free(screen: Screen, half: int) -> bool:
    """Whether that half of an hour is to be seen as a whole."""
    return any(each.resource_id == f"hh-{half}" and each.bounds.height > 100 for each in screen.elements)


_ = (Stuck, tap)
