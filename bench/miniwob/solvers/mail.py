"""A mailbox: deleting, marking, answering, sending on."""

from __future__ import annotations

import re

from bench.miniwob.screen import Moves, Screen, fill, scroll_to, tap
from bench.miniwob.solving import solves
from gateway.phone.element import Element

VERBS = "Send Please Forward Give Go Navigate Search Find The".split()  # begin sentences, and are no names


@solves(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def email_inbox(screen: Screen) -> Moves:
    (sender,) = screen.asked(r"Find the email by (\w+)")
    screen = yield from scroll_to(screen, lambda now: _mail(now, sender), lambda now: now.named("main"))
    mail = _found(screen, sender)
    if "star" in screen.task or "trash" in screen.task:
        star, trash = _icons(screen, mail)
        return (yield tap(star if "star" in screen.task else trash))
    screen = yield tap(mail)
    if "forward" in screen.task:
        return (yield from _send_on(screen, *screen.asked(r"forward that email to (\w+)")))
    screen = yield tap(screen.get("Reply"))
    screen = yield from fill(screen, screen.all("field")[0], *screen.quoted())
    return (yield tap(screen.named("send-reply")))


@solves("email-inbox-forward-nl")
def email_inbox_forward_nl(screen: Screen) -> Moves:
    (sender,) = screen.asked(r"\b(?:by|from) ([A-Z]\w+)|(\w+) (?:sent|wants his)")
    names = re.findall(r"\b[A-Z][a-z]+\b", screen.task)
    screen = yield tap(_found(screen, sender))
    return (yield from _send_on(screen, next(each for each in names if each not in (sender, *VERBS))))


def _send_on(screen: Screen, receiver: str) -> Moves:
    screen = yield tap(screen.get("Forward"))
    screen = yield from fill(screen, screen.all("field")[0], receiver)
    return (yield tap(screen.named("send-forward")))


def _mail(screen: Screen, sender: str) -> Element | None:
    """The row of that sender's mail, where its icons are to be seen."""
    rows = [each for each in screen.all("button") if each.text.split(" · ")[0] == sender]
    return next((each for each in rows if len(_icons(screen, each)) == 2), None)


def _found(screen: Screen, sender: str) -> Element:
    mail = _mail(screen, sender)
    assert mail is not None
    return mail


def _icons(screen: Screen, row: Element) -> list[Element]:
    """A star and a bin."""
    middle = [(each, each.bounds.centre[1]) for each in screen.all("button") if not each.text]
    inside = [each for each, y in middle if row.bounds.top <= y < row.bounds.bottom]
    return sorted(inside, key=lambda each: each.bounds.left)
