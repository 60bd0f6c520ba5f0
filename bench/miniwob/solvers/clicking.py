"""Tasks of one touch, or of several that do not depend on each other."""

from __future__ import annotations

from bench.miniwob.screen import Moves, Screen, Stuck, fill, press, swipe, tap
from bench.miniwob.solving import ordinal, solves

SCROLLS = 4  # are enough for the longest text, whose place no element tells


@solves("click-test")
def click_test(screen: Screen) -> Moves:
    return (yield tap(screen.get("Click Me!")))


@solves("click-test-2", "click-test-transfer")
def click_named(screen: Screen) -> Moves:
    return (yield tap(screen.get(*screen.asked(r"button (\w+)"))))


@solves("click-button", "click-link", "unicode-test", "click-dialog-2")
def click_quoted(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    return (yield tap(screen.get("Close" if wanted == "x" else wanted, "button")))


@solves("click-dialog")
def click_dialog(screen: Screen) -> Moves:
    while screen.find("Close", "button") is None:  # the page has moved to the right
        screen = yield swipe((0.2, 0.3), (0.8, 0.3))
    return (yield tap(screen.get("Close", "button")))


@solves("click-button-sequence")
def click_button_sequence(screen: Screen) -> Moves:
    screen = yield tap(screen.get("ONE"))
    return (yield tap(screen.get("TWO")))


@solves("click-tab")
def click_tab(screen: Screen) -> Moves:
    return (yield tap(screen.get(*screen.asked(r"(Tab #\d)"))))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def click_tab_2(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    for tab in [each.text for each in screen.matching(r"^(Tab #)?\d$", "button", "tab")]:
        if screen.find(wanted, "button"):
            break
        screen = yield tap(screen.get(tab))
    return (yield tap(screen.get(wanted, "button")))


@solves("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(screen: Screen) -> Moves:
    (section,) = screen.matching("^Section")
    screen = yield tap(section)
    return (yield from press(screen))


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def click_collapsible_2(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    for section in [each.text for each in screen.matching("^Section")]:
        screen = yield tap(screen.get(section))
        if found := screen.find(wanted, "button"):
            return (yield tap(found))
    raise Stuck(f"no section has {wanted!r}")


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
def click_checkboxes(screen: Screen) -> Moves:
    (wanted,) = screen.asked("Select (.+) and click")
    for name in [] if wanted == "nothing" else wanted.split(", "):
        screen = yield tap(screen.get(name, "checkbox", "radio"))
    return (yield from press(screen))


@solves("click-widget")
def click_widget(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    if wanted in ("text", "textarea"):
        fields = screen.all("field")
        high = max(fields, key=lambda each: each.bounds.height)
        return (yield tap(high if wanted == "textarea" else next(each for each in fields if each is not high)))
    return (yield tap(screen.all(wanted)[0]))


@solves("ascending-numbers")
def ascending_numbers(screen: Screen) -> Moves:
    places = [each.bounds.centre for each in sorted(screen.matching(r"^\d+$"), key=lambda each: int(each.text))]
    for x, y in places:  # the numbers go after the first touch
        screen = yield tap(screen.at(x, y))
    return screen


@solves("focus-text", "focus-text-2")
def focus_text(screen: Screen) -> Moves:
    which = ordinal(*screen.asked(r"(\d)\w\w input")) if "input" in screen.task else 0
    return (yield tap(screen.all("field")[which]))


@solves("grid-coordinate")
def grid_coordinate(screen: Screen) -> Moves:
    return (yield tap(screen.named(*screen.asked(r"(\(-?\d,-?\d\))"))))


@solves("odd-or-even")
def odd_or_even(screen: Screen) -> Moves:
    rows = [(int(each.text), each.bounds.centre[1]) for each in screen.matching(r"^-?\d+$")]
    for number, y in rows:
        name = "Odd" if number % 2 else "Even"
        screen = yield tap(min(screen.matching(f"^{name}$"), key=lambda each: abs(each.bounds.centre[1] - y)))
    return (yield from press(screen))


@solves("navigate-tree")
def navigate_tree(screen: Screen) -> Moves:
    (wanted,) = screen.quoted()
    opened: set[str] = set()
    while (found := screen.find(wanted, "button")) is None:
        closed = [each for each in screen.all("button") if each.text and each.text not in opened]
        if not closed:
            raise Stuck(f"{wanted!r} is in no folder")
        opened.add(closed[0].text)
        screen = yield tap(closed[0])
    return (yield tap(found))


@solves("phone-book")
def phone_book(screen: Screen) -> Moves:
    name, what = screen.asked(r"Find (\w+) in the contact book and click on their (phone number|email|address)")
    while screen.find(name) is None:
        screen = yield tap(screen.get(">"))
    label = screen.get({"phone number": "Phone:", "email": "Email:", "address": "Address:"}[what])
    links = [each for each in screen.all("button") if each.bounds.bottom > label.bounds.top]
    return (yield tap(min(links, key=lambda each: abs(each.bounds.centre[1] - label.bounds.centre[1] - 1))))


@solves("generate-number")
def generate_number(screen: Screen) -> Moves:
    while not _fits(screen.task, screen.named("display-number").text):
        screen = yield tap(screen.get("Generate"))
    return (yield from press(screen))


def _fits(task: str, shown: str) -> bool:
    if not shown.isdigit():
        return False
    number, limit = int(shown), int("0" + "".join(each for each in task if each.isdigit()))
    if "greater" in task:
        return number > limit
    if "less" in task:
        return number < limit
    return number % 2 == (1 if "odd" in task else 0)


@solves("buy-ticket")
def buy_ticket(screen: Screen) -> Moves:
    books = screen.matching(r"Book for \$\d+", "button")
    if "cheapest" in screen.task or "expensive" in screen.task:
        best = min if "cheapest" in screen.task else max
        return (yield tap(best(books, key=lambda each: int(each.text.split("$")[1]))))
    durations = screen.matching(r"^\d+h \d+m$")
    hours = [tuple(int(part[:-1]) for part in each.text.split()) for each in durations]
    return (yield tap(books[hours.index((min if "shortest" in screen.task else max)(hours))]))


@solves("sign-agreement")
def sign_agreement(screen: Screen) -> Moves:
    if screen.task == "Click the cancel button.":
        return (yield tap(screen.get("Cancel")))
    name, button = screen.quoted()
    while "disabled" in screen.named("name").state:
        screen = yield swipe(screen.within(screen.named("text-area"), 0.5, 0.95), (0.5, 0.06))  # out of it, and on
    screen = yield from fill(screen, screen.named("name"), name)
    return (yield from press(screen, button))


@solves("scroll-text-2")
def scroll_text_2(screen: Screen) -> Moves:
    up = "bottom" in screen.task  # the finger
    for _ in range(SCROLLS):
        text = screen.named("text-area")
        start, end = (0.95, 0.06) if up else (0.05, 0.94)
        screen = yield swipe(screen.within(text, 0.5, start), (0.5, end))
    return (yield from press(screen))


@solves("find-greatest")
def find_greatest(screen: Screen) -> Moves:
    cards = [each.bounds.centre for each in screen.all("button") if each.text != "Submit"]
    shown: dict[tuple[int, int], int] = {}
    for place in cards:
        screen = yield tap(screen.at(*place))
        shown[place] = next(int(each.text) for each in screen.matching(r"^\d+$"))
    best = max(shown, key=lambda place: shown[place])
    if best != cards[-1]:
        screen = yield tap(screen.at(*best))
    return (yield from press(screen))
