"""Tasks in lists that have to be scrolled: mail, posts, menus, results."""

from __future__ import annotations

import re

from bench.miniwob.screen import ENTER, Moves, Screen, Stuck, fill, press, scroll, scroll_to, swipe, tap, type_text, wait
from bench.miniwob.solvers.choosing import pick_date
from bench.miniwob.solving import solves
from gateway.phone.element import Element


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-important", "email-inbox-noscroll",
    "email-inbox-reply", "email-inbox-star-reply",
)
def email_inbox(screen: Screen) -> Moves:
    (sender,) = screen.asked(r"Find the email by (\w+)")
    screen = yield from scroll_to(screen, lambda now: _mail(now, sender), _mails)
    mail = _mail(screen, sender)
    assert mail is not None
    if "trash" in screen.task or "star" in screen.task:
        return (yield tap(_icons(screen, mail)[1 if "trash" in screen.task else 0]))
    screen = yield tap(mail)
    if "reply" in screen.task:
        (text,) = screen.quoted()
        return (yield from _reply(screen, text))
    (receiver,) = screen.asked(r"forward that email to (\w+)")
    return (yield from _forward(screen, receiver))


def _reply(screen: Screen, text: str) -> Moves:
    screen = yield tap(screen.get("Reply"))
    screen = yield from fill(screen, screen.all("field")[0], text)
    return (yield tap(screen.named("send-reply")))


def _forward(screen: Screen, receiver: str) -> Moves:
    screen = yield tap(screen.get("Forward"))
    screen = yield from fill(screen, screen.all("field")[0], receiver)
    return (yield tap(screen.named("send-forward")))


@solves("email-inbox-forward-nl")
def email_inbox_forward_nl(screen: Screen) -> Moves:
    (sender,) = screen.asked(r"(?:\bby|\bfrom) ([A-Z]\w+)") if re.search("by [A-Z]|from [A-Z]", screen.task) else (
        screen.asked(r"(\w+) (?:sent|wants his)")
    )
    names = re.findall(r"\b[A-Z][a-z]+\b", screen.task)
    receiver = next(each for each in names if each not in (sender, *MAIL_WORDS))
    mail = _mail(screen, sender)
    assert mail is not None
    screen = yield tap(mail)
    return (yield from _forward(screen, receiver))


MAIL_WORDS = "Send Please Forward Give Go Navigate Search Find The Get".split()


def _mails(screen: Screen) -> Element:
    return screen.named("main")


def _mail(screen: Screen, sender: str) -> Element | None:
    """The row of that sender's mail, where its icons are to be seen."""
    rows = [each for each in screen.all("button") if each.text.split(" · ")[0] == sender]
    return next((each for each in rows if len(_icons(screen, each)) == 2), None)


def _icons(screen: Screen, row: Element) -> list[Element]:
    """The nameless buttons within a row, from left to right."""
    inside = [
        each for each in screen.all("button")
        if not each.text and each is not row and row.bounds.top <= each.bounds.centre[1] < row.bounds.bottom
    ]
    return sorted(inside, key=lambda each: each.bounds.left)


ACTIONS = ("Reply", "Retweet", "Like", "More")


@solves("social-media")
def social_media(screen: Screen) -> Moves:
    user, action = screen.asked(r'For the user (@\w+), click on the "(.+)" button')
    screen = yield from scroll_to(screen, lambda now: next(iter(_controls(now, user)), None), _posts)  # type: ignore[arg-type,return-value]
    buttons = _controls(screen, user)[0]
    if action in ACTIONS:
        return (yield tap(buttons[ACTIONS.index(action)]))
    screen = yield tap(buttons[3])
    while not (found := screen.matching(f"^{re.escape(action)}")):
        screen = yield from scroll(screen, _posts(screen), 0.3)
    return (yield tap(found[0]))


@solves("social-media-all", "social-media-some")
def social_media_all(screen: Screen) -> Moves:
    action, user = screen.asked(r'Click the "(\w+)" button on .*by (@\w+) and')
    number = int(screen.asked(r"on (\d+) posts?")[0]) if "on all" not in screen.task else 1000
    at = ("Reply", "Retweet", "Like", "Share").index(action)
    done: set[str] = set()
    while True:
        for each in screen.matching(f"^{user}$"):
            controls = _below(screen, each)
            said = _said(screen, each)
            if controls and said not in done and len(done) < number:
                screen = yield tap(controls[at])
                done.add(said)
        if screen.find("Submit") is not None:
            return (yield from press(screen))
        screen = yield from scroll(screen, _posts(screen), 0.4)


def _posts(screen: Screen) -> Element:
    return screen.named("area")


def _controls(screen: Screen, user: str) -> list[list[Element]]:
    found = [_below(screen, each) for each in screen.matching(f"^{re.escape(user)}$")]
    return [each for each in found if each]


def _below(screen: Screen, user: Element) -> list[Element]:
    """The four buttons of the post that a user's name begins, from left to right; none where they are not to be seen."""
    others = [each.bounds.top for each in screen.matching("^@") if each.bounds.top > user.bounds.top]
    end = min(others, default=10**6)
    found = [each for each in screen.all("button") if not each.text and user.bounds.top < each.bounds.top < end]
    return sorted(found, key=lambda each: each.bounds.left) if len(found) == 4 else []


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
        screen = yield from scroll_to(screen, lambda now: _of_kind(now, kind), _posts)
        dish = _of_kind(screen, kind)
        assert dish is not None
        wanted = {dish.text: int(number)}
    while True:
        for name in list(wanted):
            dish = screen.find(name, "text")
            plus = dish and _plus(screen, dish)
            if plus:
                for _ in range(wanted.pop(name)):
                    screen = yield tap(plus)
        if found := screen.find("Order!"):
            return (yield tap(found))
        screen = yield from scroll(screen, _posts(screen), 0.5)


def _plus(screen: Screen, dish: Element) -> Element | None:
    return next((e for e in screen.matching(r"^\+$") if abs(e.bounds.top - dish.bounds.top) < 10), None)


def _of_kind(screen: Screen, kind: str) -> Element | None:
    for sign in screen.matching(f"^{kind}$", "image"):
        for dish in screen.all("text"):
            if 0 <= sign.bounds.top - dish.bounds.bottom < 20 and _plus(screen, dish):
                return dish
    return None


@solves("search-engine")
def search_engine(screen: Screen) -> Moves:
    text = screen.quoted()[0]
    (position,) = screen.asked(r"click the (\d+)\w\w search result")
    screen = yield from fill(screen, screen.all("field")[0], text)
    screen = yield from press(screen, "Search")
    page, at = divmod(int(position) - 1, 3)
    if page:
        screen = yield tap(screen.get(str(page + 1)))
    results = [each for each in screen.all("button") if re.fullmatch(r"[A-Z].*", each.text) and each.text != "Search"]
    return (yield tap(results[at]))


@solves("terminal")
def terminal(screen: Screen) -> Moves:
    screen = yield tap(screen.all("button")[0])
    screen = yield type_text("ls")
    screen = yield ENTER
    said = " ".join(screen.texts())
    files = re.split("user\\$", said)[-2].removeprefix(" · ls · ").replace("·", " ").split()
    if "no file extension" in screen.task:
        name = next(each for each in files if "." not in each)
    else:
        (ending,) = screen.asked(r"extension (\.[\w.]+)")
        name = next(each for each in files if each.endswith(ending))
    screen = yield type_text(f"rm {name}")
    return (yield ENTER)


@solves("book-flight", "book-flight-nodelay")
def book_flight(screen: Screen) -> Moves:
    what, origin, to, month, day, year = screen.asked(
        r"Book the (\w+) one-way flight from: (.+) to: (.+) on (\d+)/(\d+)/(\d+)"
    )
    for name, text in (("flight-from", origin), ("flight-to", to)):
        screen = yield from fill(screen, screen.named(name), text)
        screen = yield wait(1)
        offered = [each for each in screen.all("button", "text") if text in each.text and each.text != screen.task]
        if not offered:
            raise Stuck(f"{text} is not offered: {screen.texts()}")
        screen = yield tap(offered[0])
    screen = yield tap(screen.named("datepicker"))
    screen = yield from pick_date(screen, int(year), int(month), int(day))
    screen = yield from press(screen, "Search")
    best: tuple[int, str] | None = None
    while True:
        for each in screen.matching(r"\$\d+", "button"):
            price = int(each.text.split("$")[1])
            above = [d for d in screen.matching(r"^\d+h \d+m$") if d.bounds.top < each.bounds.top]
            if what == "cheapest":
                rank = price
            elif above:
                hours, minutes = re.findall(r"\d+", above[-1].text)
                rank = int(hours) * 60 + int(minutes)
            else:
                continue
            best = min(best or (10**9, ""), (rank, each.text))
        before = screen
        screen = yield from scroll(screen, screen.all("list")[0], 0.4)
        if screen.elements == before.elements:
            break
    assert best is not None
    while screen.find(best[1]) is None:
        screen = yield from scroll(screen, screen.all("list")[0], -0.4)
    return (yield tap(screen.get(best[1])))


_ = swipe
