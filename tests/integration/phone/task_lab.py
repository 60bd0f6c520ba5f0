"""Tasks on the simulated phone, with an agent that follows a script by what it sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gateway import Gateway, Settings
from gateway.phone.task.state import TaskOptions

SHOP, SETTINGS, NOTES, MESSAGES = (
    "org.simphone.shop",
    "com.android.settings",
    "org.simphone.notes",
    "org.simphone.messages",
)
BASKET = [{"id": 1, "product": 12, "name": "Coffee grinder Mola", "variant": "", "price": 5900, "quantity": 1}]
BUYING = {"signed_in": True, "popup_shown": True, "basket": BASKET, "next_line": 2, "payment_delay_ms": 50}


class Follower:
    """A MAI-UI-style agent that does one line of its script after the other: an action, in which `on: TEXT` stands for
    the place of the element that has this text in it."""

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        self.script = list(script)
        self.asked = 0
        self.seen: list[dict[str, Any]] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.asked += 1
        self.seen.append({name: value for name, value in obs.items() if name != "screenshot"})
        line = dict(self.script[min(self.asked, len(self.script)) - 1])
        on = line.pop("on", None)
        if on is not None:
            line["coordinate"] = place(obs, on)
        return f"<thinking>step {self.asked}</thinking>", line


CARD = {"Card number": "4242424242424242", "Expiry": "12/30", "Security code": "123"}


class Shopper:
    """Buys what is in the basket, deciding by the screen alone: so it goes on wherever it was interrupted. `by_card`
    enters the card first; else it is paid on delivery, in fewer steps."""

    def __init__(self, *, by_card: bool = False) -> None:
        self.by_card = by_card
        self.chosen: list[str] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        tree = obs.get("accessibility_tree")
        action = {"action": "wait", "seconds": 0.1} if tree is None else self._next(obs, tree)
        self.chosen.append(str(action))
        return "", action

    def _next(self, obs: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
        elements = tree["elements"]
        texts = [each.get("text", "") for each in elements]

        def there(text: str) -> bool:
            return any(text in each for each in texts)

        if there("S-10042"):
            return {"action": "FINISH", "reason": "ordered"}
        if tree["package"] != SHOP:
            return {"action": "open_app", "app": "Shop"}
        if there("Basket,"):
            return {"action": "tap", "coordinate": place(obs, "Basket,")}
        if there("Go to checkout"):
            return {"action": "tap", "coordinate": place(obs, "Go to checkout")}
        if there("Processing"):
            return {"action": "wait", "seconds": 2}
        if not there("Pay on delivery"):
            return {"action": "swipe", "start": [0.5, 0.7], "end": [0.5, 0.2]}
        return self._by_card(obs, elements) if self.by_card else self._on_delivery(obs, elements)

    def _on_delivery(self, obs: dict[str, Any], elements: list[dict[str, Any]]) -> dict[str, Any]:
        rows = [each for each in elements if "Pay on delivery" in each.get("text", "")]
        chosen = any("checked" in each.get("state", ()) for each in rows)
        return {"action": "tap", "coordinate": place(obs, "Place order" if chosen else "Pay on delivery")}

    def _by_card(self, obs: dict[str, Any], elements: list[dict[str, Any]]) -> dict[str, Any]:
        fields = [each for each in elements if each["role"] == "field"]
        for name, text in CARD.items():
            field = next((each for each in fields if name in f"{each.get('hint', '')} {each.get('text', '')}"), None)
            if field is not None and not field.get("text"):
                if "focused" in field.get("state", ()):
                    return {"action": "type", "text": text}
                return {"action": "tap", "coordinate": place(obs, name)}
        return {"action": "tap", "coordinate": place(obs, "Pay £")}


def place(obs: dict[str, Any], text: str) -> list[float]:
    """The middle of the element that has the text in it, the smallest of them."""
    tree = obs["accessibility_tree"]
    found = [
        each
        for each in tree["elements"]
        if text.casefold() in f"{each.get('text', '')} {each.get('hint', '')} {each.get('resource_id', '')}".casefold()
    ]
    assert found, f"{text!r} is not on the screen: {[each.get('text') for each in tree['elements']]}"
    left, top, right, bottom = min(found, key=area)["bounds"]
    return [(left + right) / 2 / tree["size"][0], (top + bottom) / 2 / tree["size"][1]]


def area(element: dict[str, Any]) -> float:
    left, top, right, bottom = element["bounds"]
    return float((right - left) * (bottom - top))


def quick(serial: str, adb_server: str, **more: Any) -> TaskOptions:
    """Options without the pauses that people's phones need."""
    given = {"step_delay": 0.0, "retry_delay": 0.02, "patience": 3.0, "tree": True, **more}
    return TaskOptions(serial=serial, adb_server=adb_server, **given)


Gateways = Callable[..., Gateway]


def gateway_in(home: Any, **more: Any) -> Gateway:
    home.mkdir(exist_ok=True)
    return Gateway(Settings.load(environ={"ECHELON_HOME": str(home)}, cwd=home), **more)
