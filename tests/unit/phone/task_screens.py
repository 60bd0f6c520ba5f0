"""Screens as a task sees them, made by hand after those of the simulated phone's apps and of Android's own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from gateway.phone.element import Bounds, Element
from gateway.phone.judging.look import Look
from gateway.phone.state_id import state_id
from gateway.phone.task.seeing import look_of
from gateway.phone.task.state import Seen

SIZE = (1080, 2400)
SHOP, MESSAGES, NOTES, HOME = (
    "org.simphone.shop",
    "com.android.messaging",
    "org.simphone.notes",
    "com.android.launcher3",
)
UP = ("button", "Navigate up", (12, 96, 156, 240), {"resource_id": "up"})


def element(role: str, text: str, bounds: tuple[int, int, int, int] = (0, 400, 1080, 592), **more: object) -> Element:
    """Controls can be clicked, texts cannot, unless it is said otherwise."""
    given = {"clickable": role not in ("text", "list", "progress"), "editable": role == "field", **more}
    return Element(int(given.pop("number", 1)), role, text, Bounds(*bounds), **given)  # type: ignore[arg-type, call-overload]


def elements(*given: Element | tuple[object, ...], package: str = SHOP) -> tuple[Element, ...]:
    """Numbered from 1."""
    made = [
        each if isinstance(each, Element) else element(*each[:3], **(each[3] if len(each) > 3 else {}))
        for each in given
    ]  # type: ignore[arg-type]
    return tuple(replace(each, number=at, package=each.package or package) for at, each in enumerate(made, 1))


def look(
    *given: Element | tuple[object, ...],
    package: str = SHOP,
    activity: str = ".MainActivity",
    png: str | None = None,
    readable: bool = True,
    **more: object,
) -> Look:
    """As it would be observed; a picture is another one where the elements are, unless it is given."""
    shown = elements(*given, package=package) if readable else None
    hashed = look_of(shown, package, activity)
    picture = png or hashlib.sha256(hashed.encode()).hexdigest()
    seen = Seen(
        look=hashed if shown else f"picture:{picture}",
        state_id=str(state_id(shown, f"{package}/{activity}")) if shown is not None else "",
        package=package,
        activity=activity,
        size=more.pop("size", SIZE),  # type: ignore[arg-type]
        png=picture,
        elements="list" if readable else None,
        **more,  # type: ignore[arg-type]
    )
    return Look(seen, shown)


def on(look: Look, text: str) -> Element:
    """The element that says this, or has that developers' name."""
    return next(each for each in look.shown if text in (each.text, each.resource_id, each.hint))


def home() -> Look:
    icons = ("Clock", "Contacts", "Messages", "Notes", "Settings", "Shop")
    return look(
        *(("button", name, (24 + 258 * at, 144, 282 + 258 * at, 414)) for at, name in enumerate(icons[:4])),
        package=HOME,
        activity="com.android.launcher3.uioverrides.QuickstepLauncher",
    )


def checkout(button: str = "Pay £94.98", *, disabled: bool = False, declined: bool = False, **more: object) -> Look:
    state = {"state": ("disabled",)} if disabled else {}
    banner = [
        (
            "text",
            "Your card was declined. You have not been charged.",
            (48, 1800, 1032, 1950),
            {"resource_id": "declined"},
        )
    ]
    return look(
        UP,
        ("text", "Checkout", (168, 126, 1068, 210), {"resource_id": "page_title"}),
        ("list", "", (0, 264, 1080, 2061), {"state": ("scrollable",)}),
        ("field", "Anna Berg", (48, 300, 1032, 444), {"hint": "Full name", "resource_id": "name"}),
        ("radio", "Credit or debit card", (0, 900, 1080, 1092), {"resource_id": "payment_card", "state": ("checked",)}),
        ("radio", "Pay on delivery", (0, 1092, 1080, 1284), {"resource_id": "payment_on_delivery"}),
        ("field", "", (48, 1300, 1032, 1444), {"hint": "Card number", "resource_id": "card_number"}),
        ("text", "Total · £94.98", (48, 1500, 1032, 1600), {"resource_id": "total"}),
        *(banner if declined else ()),
        ("button", button, (48, 2088, 1032, 2232), {"resource_id": "pay", **state}),
        activity=".CheckoutActivity",
        **more,
    )


def confirmed() -> Look:
    return look(
        UP,
        ("text", "Order confirmed", (168, 126, 1068, 210), {"resource_id": "page_title"}),
        ("text", "Thank you, Anna. Your order S-10042 is on its way.", (0, 264, 1080, 500)),
        ("button", "Continue shopping", (48, 2088, 1032, 2232), {"resource_id": "continue_shopping"}),
        activity=".OrderActivity",
    )


def sale(activity: str = ".CheckoutActivity") -> Look:
    """A popup of the shop, above whatever was shown."""
    return look(
        ("text", "Spring sale", (72, 810, 1008, 900)),
        ("text", "Free standard delivery on every order of £50 or more.", (96, 966, 984, 1302)),
        ("button", "No thanks", (169, 1326, 522, 1470), {"resource_id": "no_thanks"}),
        ("button", "Show offers", (546, 1326, 936, 1470), {"resource_id": "show_offers"}),
        activity=activity,
    )


def conversation(draft: str = "", sent: Sequence[str] = (), *, keyboard: bool = True, **more: object) -> Look:
    lift = 654 if keyboard else 0
    focus = ("focused",) if keyboard else ()
    return look(
        UP,
        ("text", "Clara Müller", (168, 126, 756, 210), {"resource_id": "page_title"}),
        ("button", "Call", (768, 96, 912, 240), {"resource_id": "call"}),
        ("button", "Delete conversation", (924, 96, 1068, 240), {"resource_id": "delete"}),
        ("text", "Hast du die Adresse?", (48, 372, 888, 504), {"resource_id": "message_10"}),
        *(
            ("text", said, (233, 600 + 156 * at, 1032, 732 + 156 * at), {"resource_id": f"message_{11 + at}"})
            for at, said in enumerate(sent)
        ),
        (
            "field",
            draft,
            (24, 2088 - lift, 900, 2232 - lift),
            {"hint": "Text message", "resource_id": "compose_message_text", "state": focus},
        ),
        (
            "button",
            "Send message",
            (912, 2088 - lift, 1056, 2232 - lift),
            {"resource_id": "send_message", "state": () if draft else ("disabled",)},
        ),
        package=MESSAGES,
        activity=".ConversationActivity",
        **more,
    )


def question(
    title: str, action: str = "Delete", package: str = MESSAGES, activity: str = ".ConversationActivity"
) -> Look:
    """An AlertDialog: of its window alone the hierarchy tells."""
    return look(
        ("text", title, (72, 957, 1008, 1071), {"resource_id": "alertTitle"}),
        ("text", "It cannot be undone.", (72, 1071, 1008, 1167), {"resource_id": "message"}),
        ("button", "Cancel", (516, 1179, 740, 1323), {"resource_id": "button2"}),
        ("button", action, (740, 1179, 960, 1323), {"resource_id": "button1"}),
        package=package,
        activity=activity,
    )


def crashed(said: str = "Shop keeps stopping", ids: tuple[str, str] = ("button1", "button2")) -> Look:
    return look(
        ("text", said, (72, 957, 1008, 1071), {"resource_id": "alertTitle"}),
        ("button", "Close app", (516, 1179, 960, 1323), {"resource_id": ids[0]}),
        ("button", "Wait", (72, 1179, 500, 1323), {"resource_id": ids[1]}),
        package="android",
        activity="",
    )


def settings_list(top: int = 0, names: Sequence[str] = ("Network", "Apps", "Battery", "Display", "Sound")) -> Look:
    """`top` is how far it has scrolled, in pixels."""
    return look(
        ("text", "Settings", (12, 126, 912, 210), {"resource_id": "page_title"}),
        ("list", "", (0, 264, 1080, 2256), {"state": ("scrollable",)}),
        *(("button", name, (0, 264 + 192 * at - top, 1080, 456 + 192 * at - top)) for at, name in enumerate(names)),
        package="com.android.settings",
        activity=".Settings",
    )


def wifi(on: bool, *, said: str = "Wi-Fi", **more: object) -> Look:
    state = ("checked",) if on else ()
    return look(
        UP,
        ("switch", said, (876, 294, 1032, 438), {"resource_id": "wifi_switch", "state": state}),
        ("button", "Add network", (0, 1560, 1080, 1752), {"resource_id": "add_network"}),
        package="com.android.settings",
        activity=".WifiSettings",
        **more,
    )


def editor(
    body: str = "", *, state: tuple[str, ...] = ("focused",), hint: str = "Note", lift: int = 0, **more: object
) -> Look:
    return look(
        UP,
        ("button", "Delete", (924, 96, 1068, 240), {"resource_id": "delete"}),
        ("field", body, (0, 408, 1080, 2256 - lift), {"hint": hint, "resource_id": "body", "state": state}),
        package=NOTES,
        activity=".EditorActivity",
        **more,
    )


def stopwatch(time: str, at: float, *, label: str = "Pause", **more: object) -> Look:
    return look(
        ("text", time, (0, 336, 1080, 576), {"resource_id": "stopwatch_time"}),
        ("button", label, (200, 900, 500, 1050), {"resource_id": "toggle"}),
        ("button", "Lap", (600, 900, 900, 1050), {"resource_id": "lap"}),
        package="com.android.deskclock",
        activity=".DeskClock",
        at=at,
        **more,
    )
