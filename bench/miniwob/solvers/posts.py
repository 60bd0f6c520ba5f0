"""Lists that have to be scrolled: posts, a restaurant's menu, results of a search, flights."""

from __future__ import annotations

import re

from bench.miniwob.screen import Moves, Screen, Stuck, fill, press, scroll, scroll_to, tap, wait
from bench.miniwob.solvers.choosing import pick_date
from bench.miniwob.solving import solves
from gateway.phone.element import Element

BUTTONS = ("Reply", "Retweet", "Like", "More")  # of a post, from left to right
BUTTONS_TO_SHARE = ("Reply", "Retweet", "Like", "Share")
CLOSE = 10  # pixels


@solves("social-media")
def social_media(screen: Screen) -> Moves:
    user, action = screen.asked(r'For the user (@\w+), click on the "(.+)" button')
    screen = yield from scroll_to(screen, lambda now: _post_of(now, user), _posts)
    name = action if action in BUTTONS else "More"
    for _ in range(2):  # the picture changes under the first touch, which goes astray
        post = _post_of(screen, user)
        if post is None or screen.matching("^Share via DM$"):
            break
        screen = yield tap(_buttons(screen, post)[BUTTONS.index(name)])
    if action in BUTTONS:
        return screen
    while not (found := screen.matching(f"^{re.escape(action)}")):
        screen = yield from scroll(screen, _posts(screen), 0.3)
    return (yield tap(found[0]))


@solves("social-media-all", "social-media-some")
def social_media_some(screen: Screen) -> Moves:
    action, number, user = screen.asked(r'Click the "(\w+)" button on (all|\d+) posts? by (@\w+) and')
    left = 100 if number == "all" else int(number)
    done: set[str] = set()
    while True:
        for post in screen.matching(f"^{user}$"):
            buttons, said = _buttons(screen, post), _said(screen, post)
            if left and buttons and said not in done:
                screen = yield tap(buttons[BUTTONS_TO_SHARE.index(action)])
                done.add(said)
                left -= 1
        if screen.find("Submit"):
            return (yield from press(screen))
        screen = yield from scroll(screen, _posts(screen), 0.4)


def _posts(screen: Screen) -> Element:
    return screen.named("area")


def _post_of(screen: Screen, user: str) -> Element | None:
    """The name of a user whose post is to be seen as a whole."""
    return next((each for each in screen.matching(f"^{user}$") if _buttons(screen, each)), None)


def _buttons(screen: Screen, user: Element) -> list[Element]:
    """Of the post that a user's name begins, from left to right; none where not all of them are to be seen."""
    top = user.bounds.top
    end = min((each.bounds.top for each in screen.matching("^@") if each.bounds.top > top), default=screen.size[1])
    found = [each for each in screen.all("button") if not each.text and top < each.bounds.top < end]
    return sorted(found, key=lambda each: each.bounds.left) if len(found) == len(BUTTONS) else []


def _said(screen: Screen, user: Element) -> str:
    below = [each for each in screen.all("text") if each.bounds.top > user.bounds.bottom]
    return min(below, key=lambda each: each.bounds.top).text if below else ""


@solves("order-food")
def order_food(screen: Screen) -> Moves:
    if "one of each" in screen.task:
        (names,) = screen.asked("each item: (.+)")
        wanted = {name.strip(): 1 for name in names.split(",")}
    else:
        number, kind = screen.asked(r"Order (\d+) items that are ([\w-]+)")
        screen = yield from scroll_to(screen, lambda now: _dish_of(now, kind), _posts)
        dish = _dish_of(screen, kind)
        assert dish is not None
        wanted = {dish.text: int(number)}
    while True:
        for name in list(wanted):
            while wanted[name] and (plus := _plus(screen, name)):
                screen = yield tap(plus)
                wanted[name] -= 1
        if found := screen.find("Order!"):
            return (yield tap(found))
        screen = yield from scroll(screen, _posts(screen), 0.5)


def _dish_of(screen: Screen, kind: str) -> Element | None:
    """A dish that has the sign for its kind below its name."""
    for sign in screen.matching(f"^{kind}$", "image"):
        for dish in screen.all("text"):
            if abs(sign.bounds.top - dish.bounds.bottom) < CLOSE and _plus(screen, dish.text):
                return dish
    return None


def _plus(screen: Screen, name: str) -> Element | None:
    """The button for one more of a dish: beside its name, or below that once there is a number."""
    if (dish := screen.find(name, "text")) is None:
        return None
    below = [each for each in screen.matching(r"^\+$") if each.bounds.top > dish.bounds.top - CLOSE]
    first = min(below, key=lambda each: each.bounds.top, default=None)
    near = 2 * dish.bounds.height + CLOSE
    return first if first and first.bounds.top - dish.bounds.top < near else None


@solves("search-engine")
def search_engine(screen: Screen) -> Moves:
    text = screen.quoted()[0]
    (position,) = screen.asked(r"click the (\d+)\w\w search result")
    screen = yield from fill(screen, screen.all("field")[0], text)
    screen = yield from press(screen, "Search")
    page, at = divmod(int(position) - 1, 3)
    if page:
        screen = yield tap(screen.get(str(page + 1)))
    results = [each for each in screen.matching(r"^[A-Z]", "button") if each.text != "Search"]
    return (yield tap(results[at]))


@solves("book-flight", "book-flight-nodelay")
def book_flight(screen: Screen) -> Moves:
    what, origin, to, month, day, year = screen.asked(
        r"Book the (\w+) one-way flight from: (.+) to: (.+) on (\d+)/(\d+)/(\d+)"
    )
    for field, text in (("flight-from", origin), ("flight-to", to)):
        screen = yield from fill(screen, screen.named(field), text)
        screen = yield wait(1)  # for the page, which asks for suggestions a moment later
        offered = [each for each in screen.matching(re.escape(text)) if each.role != "field"]
        if not offered:
            raise Stuck(f"{text} is not offered: {screen.texts()}")
        screen = yield tap(offered[0])
    screen = yield tap(screen.named("datepicker"))
    screen = yield from pick_date(screen, int(year), int(month), int(day))
    screen = yield from press(screen, "Search")
    flights: dict[str, int] = {}
    before: tuple[Element, ...] = ()
    while screen.elements != before:
        flights |= _flights(screen, cheap=what == "cheapest")
        before = screen.elements
        screen = yield from scroll(screen, screen.all("list")[0], 0.4)
    best = min(flights, key=lambda each: flights[each])
    while screen.find(best) is None:
        screen = yield from scroll(screen, screen.all("list")[0], -0.4)
    return (yield tap(screen.get(best)))


def _flights(screen: Screen, *, cheap: bool) -> dict[str, int]:
    """By the name of the button that books it: its price, or its minutes."""
    found = {}
    for button in screen.matching(r"\$\d+", "button"):
        above = [each for each in screen.matching(r"^\d+h \d+m$") if each.bounds.top < button.bounds.top]
        if cheap:
            found[button.text] = int(button.text.split("$")[1])
        elif above:
            hours, minutes = re.findall(r"\d+", above[-1].text)
            found[button.text] = int(hours) * 60 + int(minutes)
    return found
