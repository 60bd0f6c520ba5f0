"""Tasks of choosing: lists, dates, times, sliders, menus."""

from __future__ import annotations

import re

from bench.miniwob.screen import (
    CLEAR,
    Moves,
    Point,
    Screen,
    Stuck,
    fill,
    press,
    scroll,
    scroll_to,
    tap,
    type_text,
    wait,
)
from bench.miniwob.solving import ordinal, solves
from gateway.phone.element import Element

MONTHS = (
    "January February March April May June July August September October November December"  # as calendars write them
).split()


@solves("choose-list")
def choose_list(screen: Screen) -> Moves:
    (wanted,) = screen.asked("Select (.+) from the list")
    screen = yield tap(screen.all("picker")[0])
    screen = yield from scroll_to(screen, lambda now: now.find(wanted), lambda now: now.all("list")[0])
    screen = yield tap(screen.get(wanted))
    return (yield from press(screen))


@solves("click-scroll-list")
def click_scroll_list(screen: Screen) -> Moves:
    (wanted,) = screen.asked("Select (.+) from the scroll list")
    screen = yield tap(screen.all("picker")[0])
    for name in wanted.split(", "):
        screen = yield tap(screen.get(name))
    screen = yield tap(screen.get("OK"))
    return (yield from press(screen))


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(screen: Screen) -> Moves:
    month, day, year = map(int, screen.asked(r"Select (\d+)/(\d+)/(\d+)"))
    screen = yield tap(screen.named("datepicker"))
    screen = yield from pick_date(screen, year, month, day)
    return (yield from press(screen))


def pick_date(screen: Screen, year: int, month: int, day: int) -> Moves:
    """In a calendar that shows a month, with `Prev` and `Next`."""
    for _ in range(60):
        shown = " ".join(screen.texts())
        name = next(each for each in MONTHS if each in shown)
        then = int(screen.matching(r"^\d{4}$")[0].text) * 12 + MONTHS.index(name)
        if then == year * 12 + month - 1:
            screen = yield tap(screen.get(str(day), "button"))
            while screen.find("Prev"):  # it fades away, which a list of what is there does not show
                screen = yield wait(0.2)
            return screen
        screen = yield tap(screen.get("Prev" if then > year * 12 + month - 1 else "Next"))
    raise Stuck("the month is not found")


@solves("enter-date")
def enter_date(screen: Screen) -> Moves:
    month, day, year = map(int, screen.asked(r"Enter (\d+)/(\d+)/(\d+)"))
    screen = yield tap(screen.all("picker")[0])
    (shown,) = screen.matching(r"^\w+ \d{4}$")
    if shown.text.split()[1] != str(year):
        screen = yield tap(shown)
        while screen.find(str(year)) is None:
            later = year > int(screen.matching(r"^\d{4}$")[0].text)
            screen = yield from scroll(screen, screen.all("list")[0], 0.6 if later else -0.6)
        screen = yield tap(screen.get(str(year)))
    for _ in range(12):
        (shown,) = screen.matching(r"^\w+ \d{4}$")
        now = MONTHS.index(shown.text.split()[0]) + 1
        if now == month:
            break
        screen = yield tap(screen.matching("Next month" if now < month else "Previous month")[0])
    screen = yield tap(screen.get(f"{day} {MONTHS[month - 1]} {year}"))
    screen = yield tap(screen.get("OK"))
    return (yield from press(screen))


@solves("enter-time")
def enter_time(screen: Screen) -> Moves:
    hour, minute, half = screen.asked(r"(\d+):(\d+) ([AP]M)")
    screen = yield tap(screen.all("picker")[0])
    for name, number in (("input_hour", int(hour) % 12 + 12 * (half == "PM")), ("input_minute", int(minute))):
        screen = yield from fill(screen, screen.named(name), str(number))
    screen = yield from press(screen, "OK")
    return (yield from press(screen))


@solves("use-spinner")
def use_spinner(screen: Screen) -> Moves:
    wanted = int(*screen.asked(r"Select (-?\d+)"))
    field = screen.all("field")[0].bounds
    x, height = field.right + 18, field.height  # the arrows are no elements: assistive technology is not told of them
    while (now := int(screen.all("field")[0].text)) != wanted:
        screen = yield tap(screen.at(x, field.top + height * (0.25 if now < wanted else 0.75)))
    return (yield from press(screen))


@solves("use-slider")
def use_slider(screen: Screen) -> Moves:
    (wanted,) = screen.asked(r"Select (-?\d+)")
    screen = yield from slide(screen, "slider", "val", int(wanted))
    return (yield from press(screen))


@solves("use-slider-2")
def use_slider_2(screen: Screen) -> Moves:
    for number, wanted in enumerate(re.findall(r"-?\d+", screen.task), 1):
        screen = yield from slide(screen, f"slider-{number}", f"val-{number}", int(wanted))
    return (yield from press(screen))


@solves("form-sequence")
def form_sequence(screen: Screen) -> Moves:
    number, which = screen.asked(r"Select (-?\d+) with the slider, click the (\w+) checkbox")
    screen = yield from slide(screen, "slider", "val", int(number))
    screen = yield tap(screen.all("checkbox")[ordinal(which)])
    return (yield from press(screen))


def slide(screen: Screen, slider: str, shown: str, wanted: int) -> Moves:
    """Tap along a slider, nearer each time, until it shows the number."""
    low, high = 0.0, 1.0
    while int(screen.named(shown).text) != wanted:
        if high - low < 0.001:
            raise Stuck(f"the slider does not go to {wanted}")
        middle = (low + high) / 2
        far = 0.0 if middle > 0.5 else 1.0  # a tap on the handle moves nothing: out of the way with it
        for share in (far, middle):
            screen = yield tap(_along(screen, screen.named(slider), share))
        if int(screen.named(shown).text) < wanted:
            low = middle
        else:
            high = middle
    return screen


def _along(screen: Screen, slider: Element, share: float) -> Point:
    if slider.bounds.width > slider.bounds.height:
        return screen.within(slider, share, 0.5)
    return screen.within(slider, 0.5, 1 - share)


@solves("form-sequence-2")
def form_sequence_2(screen: Screen) -> Moves:
    radio, number, field = screen.asked(r'the (\w+) radio button and enter the number "(-?\d+)" into the (\w+) textbox')
    screen = yield tap(screen.all("radio")[ordinal(radio)])
    screen = yield from fill(screen, screen.all("field")[ordinal(field)], number)
    return (yield from press(screen))


@solves("form-sequence-3")
def form_sequence_3(screen: Screen) -> Moves:
    (wanted,) = screen.asked("Choose (.+) from the dropdown")
    screen = yield tap(screen.all("button")[0])
    screen = yield from scroll_to(screen, lambda now: now.find(wanted), lambda now: now.all("list")[0])
    screen = yield tap(screen.get(wanted))
    return (yield from press(screen, *screen.quoted()))


@solves("click-pie", "click-pie-nodelay")
def click_pie(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    screen = yield tap(screen.get("+"))
    screen = yield wait(1)
    return (yield tap(screen.get(wanted)))


@solves("use-colorwheel")
def use_colorwheel(screen: Screen) -> Moves:
    from PIL import ImageColor

    (name,) = screen.asked("Select (.+) with the color picker")
    field = screen.all("field")[0]
    screen = yield tap(field)
    screen = yield CLEAR
    screen = yield type_text("".join(f"{each:02x}" for each in ImageColor.getrgb(name)))
    screen = yield tap(screen.get("Color:"))  # the colours go, which cover the button
    return (yield from press(screen))
