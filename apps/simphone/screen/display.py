"""The display: windows of activities in the system's page, touches, keys, pictures and the hierarchy.

Coordinates are pixels of the present rotation, from the top left. Every method returns when what it did can be seen:
the next screenshot and the next hierarchy show it.

    web = Web(AppStore(folder / "apps"))
    web.folders["org.example"] = Path(…)       # its pages are at web.url + "/app/org.example/…"
    web.on_call = …                            # what pages ask of the system
    display = Display(web, folder)
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from simphone.screen import keys, picture
from simphone.screen.browser import ANSWER_S, Browser
from simphone.screen.devtools import BrowserGone, CallFailed
from simphone.screen.touch import PIXELS, Touch
from simphone.screen.web import Web

NATURAL = (1080, 2400)  # pixels
DENSITY = 160 * PIXELS  # dots per inch, as Android counts them
TIME = datetime(2026, 3, 2, 10, 0)  # stands still, so that two pictures of the same state are equal
_DOCUMENT = Path(__file__).parent / "pages" / "document.js"
_WHOLE = "Boolean(window.system && ['windows', 'recents', 'sheets'].every((each) => document.getElementById(each)))"
_SLOP = 8 * PIXELS  # pixels: a finger that moves less does not move
_LONG_MS = 400  # Android's long press; a page's browser waits a little longer
_LONGER_MS = 600


@dataclass(frozen=True)
class LauncherEntry:
    """An app on the home screen or in the recents. `icon`: a URL or a path on the phone's server ("/app/…/icon.svg"),
    or an emoji or letter; without one, the label's first letter."""

    package: str
    label: str
    icon: str = ""


@dataclass(frozen=True)
class StatusBar:
    """What its icons show; `battery` is a percentage."""

    wifi: bool = True
    mobile: bool = True
    airplane: bool = False
    bluetooth: bool = False
    battery: int = 100


class Display:
    """After a crash of the browser it is there again with the same windows, their pages loaded anew."""

    density = DENSITY

    def __init__(self, web: Web, folder: Path) -> None:
        self._web = web
        self._browser = Browser(folder, self._prepare)
        self._browser.on_event = self._event
        self._touch = Touch(self._browser)
        self._input = asyncio.Lock()
        self._acting: set[asyncio.Future[None]] = set()
        self._windows: dict[str, dict[str, Any]] = {}
        self._front: str | None = None
        self._launcher: Sequence[LauncherEntry] = ()
        self._status = StatusBar()
        self._time: datetime | None = TIME
        self._dark = False
        self._animated = False
        self._preparing = False  # also after it failed
        self.on = True
        self.rotation = 0  # quarter turns
        self.keyboard_allowed = True
        self.page_errors: deque[str] = deque(maxlen=100)  # of all pages, the newest last

    @property
    def size(self) -> tuple[int, int]:
        """Pixels in the present rotation."""
        return (NATURAL[1], NATURAL[0]) if self.rotation % 2 else NATURAL

    async def start(self) -> None:
        """The web server must be running. Raises BrowserMissing."""
        await self._browser.start()

    async def stop(self) -> None:
        await self._browser.stop()

    # what it shows

    async def screenshot(self, scale: float = 1.0) -> bytes:
        """A PNG of the whole screen. With a scale below 1 it is drawn with fewer pixels, which costs less."""
        if not self.on:
            return picture.black(*self.size)
        taken = asyncio.ensure_future(self._picture(scale))
        taken.add_done_callback(lambda done: done.cancelled() or done.exception())  # also of one that nobody waits for
        return await asyncio.shield(taken)  # of one that is not waited for the browser would keep the scale

    async def _picture(self, scale: float) -> bytes:
        asked: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if scale != 1:
            width, height = self.size
            asked["clip"] = {"x": 0, "y": 0, "width": width / PIXELS, "height": height / PIXELS, "scale": scale}
        async with self._input:  # the browser scales the page for a picture: a touch meanwhile would go astray
            try:
                answer = await self._browser.call("Page.captureScreenshot", asked)
            except BrowserGone:
                answer = await self._browser.call("Page.captureScreenshot", asked)
        return base64.b64decode(answer["data"])

    async def hierarchy(self) -> str:
        """XML of the window in front (the app's, a dialog's, the recents or the home screen), as `uiautomator dump`
        writes it; not of the bars and the keyboard."""
        return str(await self._read(f"system.hierarchy({self.rotation})"))

    async def state(self) -> dict[str, Any]:
        """`front` (token or None), `keyboard` (shown), `dialog` (its text or None), `recents` (shown), `toasts` (the
        last twenty), `focused` ({package, token, id, text, hint, password, type} of the field, or None)."""
        return dict(await self._read("system.state()"))

    async def reward(self) -> dict[str, Any]:
        """What a MiniWoB task in front says: `reward`, `raw_reward`, `done`, `query`; None where it says nothing."""
        return dict(await self._read("system.reward()"))

    async def evaluate(self, expression: str, *, token: str | None = None) -> Any:
        """The value of JavaScript in the page of a window, by default the one in front. Raises CallFailed."""
        window = f"system.windows.get({json.dumps(token) if token is not None else 'system.frontToken'})"
        return await self._browser.evaluate(f"{window}.contentWindow.eval({json.dumps(expression)})")

    # touches and keys

    async def tap(self, x: float, y: float) -> None:
        await self._act(self._touch.tap(x, y))

    async def long_press(self, x: float, y: float, ms: int = _LONGER_MS) -> None:
        await self._act(self._touch.hold(x, y, max(ms, _LONGER_MS)))

    async def swipe(self, x1: float, y1: float, x2: float, y2: float, ms: int = 300) -> None:
        """Without momentum. One that does not move is a tap, or a long press from 400 ms on."""
        if abs(x2 - x1) >= _SLOP or abs(y2 - y1) >= _SLOP:
            await self._act(self._touch.move(x1, y1, x2, y2, ms))
        elif ms >= _LONG_MS:
            await self.long_press(x1, y1, ms)
        else:
            await self.tap(x1, y1)

    async def drag(self, x1: float, y1: float, x2: float, y2: float, ms: int = 500) -> None:
        """A long press that moves, where the page listens to touches; else with a mouse, as old pages want it."""
        if not self.on:
            return
        if await self._read(f"system.takesTouch({x1 / PIXELS}, {y1 / PIXELS})"):
            await self._act(self._touch.move(x1, y1, x2, y2, ms, hold=True))
        else:
            await self._act(self._touch.drag_by_mouse(x1, y1, x2, y2, ms))

    async def insert_text(self, text: str, *, keys: bool = False) -> None:
        """Into the field with the focus; with `keys` as a keyboard types it, else as an input method commits it."""
        await self._act(self._touch.type(text) if keys else self._touch.insert(text))

    async def clear_text(self) -> None:
        """The field with the focus is empty."""
        await self._do("clearField")

    async def selection(self) -> str:
        """The text that is selected, for the clipboard."""
        return str(await self._read("system.selection()"))

    async def key(self, keycode: int, *, long: bool = False) -> None:
        """To what has the focus. Keys of the system (back, home, power, volume) are not for pages."""
        if key := keys.of_android(keycode):
            await self._act(self._press(key, repeat=long))

    async def back(self) -> bool:
        """True if the keyboard, a dialog, a picker, the recents or the page's `onBack` took it."""
        return bool(await self._do("back"))

    # windows

    async def open(
        self, token: str, url: str, package: str, *, zoom: float = 1, extras: Mapping[str, Any] | None = None
    ) -> None:
        """An activity's window, in front of all. `url` may be a path on the phone's server. Returns when the page has
        loaded, or after five seconds."""
        self._windows.pop(token, None)
        wanted = {"token": token, "url": url, "package": package, "zoom": zoom, "extras": dict(extras or {})}
        self._windows[token] = wanted
        self._front = token
        await self._do("open", wanted)

    async def front(self, token: str | None, *, result: Any = None) -> None:
        """None is the home screen. `result` is that of the activity that was above."""
        if token is not None and token not in self._windows:
            raise KeyError(token)
        self._front = token
        await self._do("front", token, result)

    async def close(self, token: str) -> None:
        """The home screen is in front then, if this window was."""
        self._windows.pop(token, None)
        if self._front == token:
            self._front = None
        await self._do("close", token)

    async def refresh(self, package: str) -> None:
        """The app's state was changed from outside: its windows read it anew."""
        await self._do("refresh", package)

    async def recents(self, entries: Sequence[LauncherEntry]) -> None:
        """The choice is a call "recents_choose" {package}."""
        await self._do("showRecents", [asdict(each) for each in entries])

    async def dialog(self, title: str, text: str, buttons: Sequence[str]) -> None:
        """A dialog of the system's own (crash, permission, pop-up). The choice is a call of package "android",
        "dialog_choice" {title, index, button}; index -1 when it was dismissed."""
        await self._do("systemDialog", title, text, list(buttons))

    async def dismiss(self) -> None:
        """Dialogs, pickers, the recents and the keyboard go, as if dismissed."""
        await self._do("dismissAll")

    async def toast(self, text: str) -> None:
        """Two seconds, at the bottom."""
        await self._do("toast", text)

    async def forget_toasts(self) -> None:
        """None was ever shown."""
        await self._do("forgetToasts")

    # the system's state, as far as it shows

    async def launcher(self, entries: Sequence[LauncherEntry]) -> None:
        self._launcher = tuple(entries)
        await self._do("setLauncher", [asdict(each) for each in entries])

    async def status(self, shown: StatusBar) -> None:
        self._status = shown
        await self._do("setStatus", asdict(shown))

    async def set_time(self, when: datetime | None) -> None:
        """What the status bar and `phone.now()` say; None runs with the clock of this machine."""
        self._time = when
        await self._do("setTime", _milliseconds(when))

    async def theme(self, dark: bool) -> None:
        self._dark = dark
        await self._do("setTheme", dark)
        with suppress(BrowserGone):
            await self._browser.call("Emulation.setEmulatedMedia", self._media())

    async def rotate(self, rotation: int) -> None:
        self.rotation = rotation % 4
        with suppress(BrowserGone):
            await self._browser.call("Emulation.setDeviceMetricsOverride", self._metrics())
        await self._do("layOut")

    async def power(self, on: bool) -> None:
        """Off: pictures are black, and touches and keys do nothing."""
        self.on = on
        await self._do("power", on)

    async def animate(self, on: bool) -> None:
        """Something on the screen moves without an end."""
        self._animated = on
        await self._do("animate", on)

    async def allow_keyboard(self, allowed: bool) -> None:
        """Not while an input method without a keyboard is chosen."""
        self.keyboard_allowed = allowed
        await self._do("allowKeyboard", allowed)

    # the browser

    async def _act(self, action: Any) -> None:
        """An input, and what it leads to. A page that crashes under it is no error of the input."""
        if not self.on:
            action.close()
            return
        acting = asyncio.ensure_future(self._acted(action))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        await asyncio.shield(acting)  # a finger that is down comes up again, though nobody waits for it any more

    async def _acted(self, action: Any) -> None:
        async with self._input:
            try:
                await self._browser.ready()
                await action
                while typed := await self._browser.evaluate("system.settled()"):
                    for each in typed:
                        if key := keys.NAMED.get(each):
                            await self._press(key)
                        else:
                            await self._touch.type(each)
            except BrowserGone:
                await self._browser.ready()

    async def _press(self, key: dict[str, Any], *, repeat: bool = False) -> None:
        await self._touch.press(key, repeat=repeat)
        if key["key"] == "Enter":
            await self._browser.evaluate("system.entered()")

    async def _read(self, expression: str) -> Any:
        try:
            return await self._asked(expression)
        except BrowserGone:
            return await self._asked(expression)

    async def _do(self, method: str, *arguments: Any) -> Any:
        """A browser that ends meanwhile is prepared with the same state."""
        try:
            return await self._asked(_call(method, *arguments))
        except BrowserGone:
            await self._browser.ready()
            return None

    async def _asked(self, expression: str) -> Any:
        try:
            return await self._browser.evaluate(expression)
        except CallFailed:
            if await self._browser.evaluate(_WHOLE):
                raise
            self._browser.revive()
            raise BrowserGone("a page has taken that of the phone apart: it is started anew") from None

    async def _prepare(self, browser: Browser) -> None:
        """A new browser shows what the last one showed; a window whose page did not load again is empty."""
        if self._preparing:
            for each in self._windows.values():
                each["url"] = "about:blank"
        self._preparing = True
        for method, params in (
            ("Page.enable", {}),
            ("Runtime.enable", {}),
            ("Inspector.enable", {}),
            ("Emulation.setDeviceMetricsOverride", self._metrics()),
            ("Emulation.setEmulatedMedia", self._media()),
            ("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setScrollbarsHidden", {"hidden": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _DOCUMENT.read_text(encoding="utf-8")}),
            ("Page.navigate", {"url": f"{self._web.url}/system/index.html"}),
        ):
            await browser.call_now(method, params)
        loaded = "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        await browser.evaluate_now(f"{loaded}.then(() => undefined)")
        shown = [
            _call("setTheme", self._dark),
            _call("setTime", _milliseconds(self._time)),
            _call("setStatus", asdict(self._status)),
            _call("setLauncher", [asdict(each) for each in self._launcher]),
            _call("allowKeyboard", self.keyboard_allowed),
            _call("animate", self._animated),
            _call("power", self.on),
            *(_call("open", each) for each in self._windows.values()),
            _call("front", self._front, None, False),
        ]
        for expression in shown:
            try:
                async with asyncio.timeout(ANSWER_S):
                    await browser.evaluate_now(expression)
            except TimeoutError:
                raise BrowserGone(f"a page has not loaded in {ANSWER_S:.0f} s") from None
        self._preparing = False

    def _metrics(self) -> dict[str, Any]:
        width, height = self.size
        kinds = ("portraitPrimary", "landscapePrimary", "portraitSecondary", "landscapeSecondary")
        return {
            "width": width // PIXELS,
            "height": height // PIXELS,
            "deviceScaleFactor": PIXELS,
            "mobile": False,  # it would inflate the text of pages made for a desktop
            "screenOrientation": {"type": kinds[self.rotation], "angle": 90 * self.rotation},
        }

    def _media(self) -> dict[str, Any]:
        features = {"prefers-color-scheme": "dark" if self._dark else "light", "prefers-reduced-motion": "reduce"}
        return {"features": [{"name": name, "value": value} for name, value in features.items()]}

    def _event(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.page_errors.append(details.get("exception", {}).get("description") or details.get("text", "?"))
        elif method == "Input.dragIntercepted":
            self._touch.dragged = params["data"]
        elif method == "Page.frameNavigated":
            frame = params["frame"]
            if "parentId" not in frame and frame["url"] not in (f"{self._web.url}/system/index.html", "about:blank"):
                self._browser.revive()  # a page has put itself in the place of the whole phone
        elif method == "Page.javascriptDialogOpening":  # the page leaves without asking
            task = asyncio.ensure_future(self._browser.call_now("Page.handleJavaScriptDialog", {"accept": True}))
            task.add_done_callback(lambda done: done.exception())


def _call(method: str, *arguments: Any) -> str:
    return f"system.{method}({', '.join(json.dumps(each) for each in arguments)})"


def _milliseconds(when: datetime | None) -> int | None:
    return None if when is None else int(when.timestamp() * 1000)
