"""A finger on a whole phone: finds nodes of the hierarchy by text, description or id and touches them; what came of it
is read from the apps' states and records."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from typing import Any

from screen_lab import Node

from simphone.background import PhoneThread
from simphone.phone import Phone
from simphone.system.intent import Intent

PATIENCE_S = 60.0
SETTINGS, CONTACTS = "com.android.settings", "com.android.contacts"
MESSAGES, CLOCK = "com.android.messaging", "com.android.deskclock"
NOTES, SHOP = "org.simphone.notes", "org.simphone.shop"


class Finger:
    def __init__(self, phone: PhoneThread) -> None:
        self.phone = phone

    # what can be seen

    def nodes(self) -> list[Node]:
        xml = self.phone.call(lambda phone: phone.display.hierarchy())
        return [Node(each) for each in ElementTree.fromstring(xml.encode()).iter("node")]

    def texts(self) -> list[str]:
        return [text for each in self.nodes() for text in (each.text, each.description) if text]

    def find(self, wanted: str) -> Node | None:
        """The first node with this id, text or description."""
        return next((each for each in self.nodes() if wanted in (each.id, each.text, each.description)), None)

    def see(self, wanted: str) -> Node:
        """Waits for it."""
        until = time.monotonic() + PATIENCE_S
        while True:
            found = self.find(wanted)
            if found is not None:
                return found
            assert time.monotonic() < until, f"there is no {wanted!r} among {self.texts()}; {self.problems()}"
            time.sleep(0.02)

    def seek(self, wanted: str) -> Node:
        """Scrolls down to it."""
        before: list[tuple[str, tuple[int, ...]]] | None = None
        while (shown := [(each.text + each.description, each.bounds) for each in self.nodes()]) != before:
            found = self.find(wanted)
            if found is not None and found.bounds[3] - found.bounds[1] > 60:
                return found
            before = shown
            self.phone.call(lambda phone: phone.display.swipe(540, 1300, 540, 700, 100))
        raise AssertionError(f"there is no {wanted!r} as far as one can scroll; at the end: {self.texts()}")

    def problems(self) -> list[str]:
        """What went wrong in the scripts of pages."""
        return list(self.phone.phone.display.page_errors)

    # what a finger does

    def tap(self, wanted: str) -> None:
        x, y = self.see(wanted).centre
        self.phone.call(lambda phone: phone.display.tap(x, y))

    def seek_and_tap(self, wanted: str) -> None:
        x, y = self.seek(wanted).centre
        self.phone.call(lambda phone: phone.display.tap(x, y))

    def long_press(self, wanted: str) -> None:
        x, y = self.see(wanted).centre
        self.phone.call(lambda phone: phone.display.long_press(x, y))

    def double_tap(self, wanted: str) -> None:
        """Two taps at once: the second one knows nothing of what came of the first."""
        x, y = self.see(wanted).centre

        async def twice(phone: Phone) -> None:
            await phone.display.tap(x, y)
            await phone.display.tap(x, y)

        self.phone.call(twice)

    def type(self, text: str, into: str = "") -> None:
        """In place of what the field holds; the keyboard is put away afterwards."""
        if into:
            self.tap(into)
            self.phone.call(lambda phone: phone.display.clear_text())
        self.phone.call(lambda phone: phone.display.insert_text(text))
        if self.phone.state()["keyboard"]:
            self.back()

    def back(self) -> None:
        self.phone.call(lambda phone: phone.system.activities.back())

    def home(self) -> None:
        self.phone.call(lambda phone: phone.system.activities.home())

    def open(self, package: str) -> None:
        """As from the home screen."""

        async def launch(phone: Phone) -> None:
            found = phone.system.packages.get(package)
            assert found is not None
            await phone.system.launch(found)

        self.phone.call(launch)

    def start(self, action: str, **extras: Any) -> None:
        """By an intent."""
        self.phone.call(lambda phone: phone.system.start(Intent(action=action, extras=extras), ""))

    # what came of it

    def state(self, package: str) -> dict[str, Any]:
        return self.phone.app_state(package)

    def change(self, package: str, **values: Any) -> None:
        self.phone.set_app_state(package, {**self.state(package), **values})

    def log(self, package: str, kind: str) -> list[Any]:
        return [each["data"] for each in self.phone.app_log(package) if each["kind"] == kind]

    def setting(self, namespace: str, key: str) -> str | None:
        return self.phone.phone.system.settings.get(namespace, key)

    def put(self, namespace: str, key: str, value: str) -> None:
        """As `settings put`."""

        async def change(phone: Phone) -> None:
            phone.system.settings.put(namespace, key, value)
            await phone.system.settled()

        self.phone.call(change)

    def toasts(self) -> list[str]:
        return list(self.phone.state()["toasts"])
