"""The bridge to a phone: what callers use to see it and to act on it.

Synchronous, for threads: every method has a deadline in seconds for all that it does, retries included, and one thread
at a time has the device. What only reads is tried again; an act never is: DeviceLost and DeviceTimeout say in
`performed` whether it may have happened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ActionFailed, DeviceError, UsageError
from gateway.phone import actions, adb, devices, settle, status
from gateway.phone.actions import AgentAction, DeviceAction, Pixel
from gateway.phone.apps import App, Apps, Installed
from gateway.phone.calls import MAX_RETRIES, RETRY_DELAY_S, Calls
from gateway.phone.deadline import Deadline
from gateway.phone.hierarchy import Hierarchy
from gateway.phone.link import Link
from gateway.phone.observation import Observation
from gateway.phone.reading.focus import Focus
from gateway.phone.reading.packages import Package
from gateway.phone.settle import Settled
from gateway.phone.sight import Sight
from gateway.phone.status import Display, Power
from gateway.phone.text_input import TextInput, Typed, Way

CHOOSE_S = 30.0
READ_S = 15.0
OBSERVE_S = 45.0  # uiautomator alone may wait 10 s for the screen to come to rest, and is asked three times
ACT_S = 20.0
TYPE_S, LETTER_S = 60.0, 0.05  # `input text` may take 10 ms for each
INSTALL_S = 180.0

LONG_PRESS_MS = 1000  # Android's own is 400 to 500
DRAG_MS, SLOW_SWIPE_MS = 1000, 2000
KEYS = {"back": 4, "home": 3, "recent": 187, "enter": 66}
KEY_UNKNOWN, KEY_WAKE = 0, 224
ASKED = "getprop ro.build.version.release"  # what costs a device least to answer


@dataclass(frozen=True)
class ActionResult:
    """`pixels` are where the screen was touched, `how` is what was done for it, `output` what the device said to that;
    `typed` what came of typing and clearing."""

    pixels: tuple[Pixel, ...]
    how: str
    output: str = ""
    typed: Typed | None = None


class Bridge:
    """One device. `close` it at the end; threads may share it, and several of one device share its lock."""

    def __init__(self, link: Link, *, max_retries: int = MAX_RETRIES, retry_delay: float = RETRY_DELAY_S) -> None:
        self._calls = Calls(link, max_retries=max_retries, retry_delay=retry_delay)
        self._sight = Sight(self._calls)
        self._text = TextInput(self._calls, self._sight.hierarchy)
        self._apps = Apps(self._calls)

    @classmethod
    def open(
        cls,
        serial: str | None = None,
        mode: devices.Mode = "auto",
        adb_server: str = adb.DEFAULT,
        *,
        max_retries: int = MAX_RETRIES,
        retry_delay: float = RETRY_DELAY_S,
    ) -> Bridge:
        """The bridge to the device of that serial, which is connected to where it is host:port, or to the only one:
        the keys of the configuration's `device`. Raises NoDevice, SeveralDevices, AdbMissing and the like."""
        server = adb.AdbServer(adb_server)
        device = devices.choose(server, Deadline(CHOOSE_S, "choosing a device"), serial, mode)
        return cls(Link(server, device.serial), max_retries=max_retries, retry_delay=retry_delay)

    @property
    def serial(self) -> str:
        return self._calls.serial

    def close(self) -> None:
        """Put back what is owed to the phone, and end the threads."""
        with suppress(DeviceError), self._alone("closing", READ_S) as deadline:
            self._text.restore(deadline)
        self._sight.close()

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # seeing

    def observe(self, *, screenshot: bool = True, hierarchy: bool = True, deadline_s: float = OBSERVE_S) -> Observation:
        """What it shows now: both at the same time, and which app is in front. ScreenshotFailed is raised; so is
        HierarchyUnreadable where there is no screenshot to go on with."""
        with self._alone("observe", deadline_s) as deadline:
            return self._sight.observe(deadline, screenshot=screenshot, hierarchy=hierarchy)

    def screenshot(self, deadline_s: float = READ_S) -> bytes:
        """A PNG of the whole screen. Raises ScreenshotFailed."""
        with self._alone("screenshot", deadline_s) as deadline:
            return self._sight.screenshot(deadline)

    def hierarchy(self, deadline_s: float = OBSERVE_S) -> Hierarchy:
        """The tree of what is on the screen. Raises HierarchyUnreadable."""
        with self._alone("hierarchy", deadline_s) as deadline:
            return self._sight.hierarchy(deadline)

    def display(self, deadline_s: float = READ_S) -> Display:
        with self._alone("display", deadline_s) as deadline:
            return status.display(self._calls, deadline)

    def foreground(self, deadline_s: float = READ_S) -> Focus:
        """Which app and activity is in front; both empty where none is."""
        with self._alone("foreground", deadline_s) as deadline:
            return status.front(self._calls, deadline)[0]

    def power(self, deadline_s: float = READ_S) -> Power:
        """Whether the screen is on, and locked."""
        with self._alone("power", deadline_s) as deadline:
            return status.power(self._calls, deadline)

    def settle(self, longest_s: float = settle.LONGEST_S, deadline_s: float | None = None) -> Settled:
        """Wait until the screen has come to rest, for `longest_s` at most."""
        with self._alone("settle", longest_s + READ_S if deadline_s is None else deadline_s) as deadline:
            return settle.settle(self._sight.look, deadline, longest_s)

    def identity(self, deadline_s: float = READ_S) -> tuple[str, str]:
        """Its model, and its version of Android."""
        with self._alone("identity", deadline_s) as deadline:
            said = self._calls.query(f"getprop ro.product.model; {ASKED}", deadline).splitlines()
            model, android = [*(line.strip() for line in said), "", ""][:2]
            return model, android

    def keyboard_shown(self, deadline_s: float = READ_S) -> bool:
        with self._alone("keyboard", deadline_s) as deadline:
            return self._text.keyboard_shown(deadline)

    def healthy(self, deadline_s: float = READ_S) -> bool:
        """Whether it answers; it is not brought back where it does not."""
        try:
            with self._alone("health check", deadline_s) as deadline:
                return self._calls.link.shell(ASKED, deadline).code == 0
        except DeviceError:
            return False

    def reconnect(self, deadline_s: float = devices.RECONNECT_S) -> None:
        """Bring a lost device back. Raises DeviceLost where it stays away."""
        with self._alone("reconnect", deadline_s) as deadline:
            self._calls.bring_back(deadline)

    # acting

    def perform(
        self, action: DeviceAction | AgentAction, seen: Observation | None = None, deadline_s: float | None = None
    ) -> ActionResult:
        """Do it, at most once. The numbers of elements, and fractions, are of what was `seen`; without it fractions are
        of the screen as it was last. UsageError for an action that is not the phone's."""
        if isinstance(action, AgentAction):
            raise UsageError(f"{action.action} is the agent's own: the phone does nothing for it")
        if isinstance(action, actions.Wait):
            time.sleep(action.seconds)
            return ActionResult((), f"waited {action.seconds:g} s")
        if deadline_s is None:
            letters = len(action.text) if isinstance(action, actions.Type) else 0
            typing = isinstance(action, actions.Type | actions.Clear)
            deadline_s = TYPE_S + letters * LETTER_S if typing else ACT_S
        with self._alone(action.action, deadline_s) as deadline:
            if isinstance(action, actions.Type):
                return _typed(self._text.type(action.text, deadline))
            if isinstance(action, actions.Clear):
                return _typed(self._text.clear(deadline))
            if isinstance(action, actions.OpenApp):
                app, said = self._apps.start(action.app, deadline)
                return ActionResult((), f"started {app.component or app.package}", said)
            if action.action in KEYS:
                return self._do(f"input keyevent {KEYS[action.action]}", (), deadline)
            size = seen.size if seen else self._sight.size or status.size(self._calls, deadline)
            touched = actions.pixels(action, size, (seen.elements or ()) if seen else ())
            return self._touch(action, touched, deadline)

    def wake(self, deadline_s: float = ACT_S) -> Power:
        """Switch the screen on, and put away a keyguard that asks for nothing; what came of it. One that asks for a
        PIN stays, and `locked` says so."""
        with self._alone("wake", deadline_s) as deadline:
            now = status.power(self._calls, deadline)
            if not now.screen_on:
                self._calls.act(f"input keyevent {KEY_WAKE}", deadline)
            if now.locked is not False:
                with suppress(ActionFailed):  # Android 7 and earlier
                    self._calls.act("wm dismiss-keyguard", deadline)
            return status.power(self._calls, deadline)

    def press_nothing(self, deadline_s: float = ACT_S) -> None:
        """A key that does nothing: raises DeviceDenied where adb may not tap and type."""
        with self._alone("key that does nothing", deadline_s) as deadline:
            self._calls.act(f"input keyevent {KEY_UNKNOWN}", deadline)

    def round_trip_ms(self, deadline_s: float = READ_S) -> float:
        """How long a call takes that does next to nothing."""
        with self._alone("round trip", deadline_s) as deadline:
            began = time.perf_counter()
            self._calls.query(ASKED, deadline)
            return (time.perf_counter() - began) * 1000

    def ways_to_type(self, deadline_s: float = READ_S) -> list[Way]:
        with self._alone("ways to type", deadline_s) as deadline:
            return self._text.ways(deadline)

    # apps

    def apps(self, deadline_s: float = READ_S) -> list[App]:
        """Those that can be started, by label."""
        with self._alone("apps", deadline_s) as deadline:
            return self._apps.startable(deadline)

    def start_app(self, name: str, deadline_s: float = ACT_S) -> App:
        """By label or package. Raises AppNotFound."""
        with self._alone("start app", deadline_s) as deadline:
            return self._apps.start(name, deadline)[0]

    def stop_app(self, package: str, deadline_s: float = ACT_S) -> None:
        """Raises AppNotFound."""
        with self._alone("stop app", deadline_s) as deadline:
            self._apps.stop(package, deadline)

    def package(self, name: str, deadline_s: float = READ_S) -> Package | None:
        """Version and signature of an installed app; None where there is none of that package."""
        with self._alone("package", deadline_s) as deadline:
            return self._apps.details(name, deadline)

    def install(self, file: Path, package: str = "", deadline_s: float = INSTALL_S) -> Installed:
        """Raises InstallFailed, with the device's reason."""
        if not file.is_file():
            raise UsageError(f"there is no file {file}")
        with self._alone("install", deadline_s) as deadline:
            return self._apps.install(file, deadline, package)

    # inside, with the device for this thread alone

    @contextmanager
    def _alone(self, what: str, deadline_s: float) -> Iterator[Deadline]:
        deadline = Deadline(deadline_s, f"{what} of {self.serial}")
        with self._calls.alone(deadline):
            yield deadline

    def _do(self, line: str, touched: tuple[Pixel, ...], deadline: Deadline) -> ActionResult:
        done = self._calls.act(line, deadline)
        return ActionResult(touched, line, done.text.strip())

    def _touch(self, action: DeviceAction, touched: tuple[Pixel, ...], deadline: Deadline) -> ActionResult:
        places = " ".join(f"{x} {y}" for x, y in touched)
        if isinstance(action, actions.Tap):
            line = f"input tap {places}"
        elif isinstance(action, actions.DoubleTap):
            try:
                return self._do(f"input tap {places} && input tap {places}", touched, deadline)
            except ActionFailed as error:
                error.performed = None  # which of the two failed is not told
                raise
        elif isinstance(action, actions.LongPress):
            line = f"input swipe {places} {places} {LONG_PRESS_MS}"
        elif isinstance(action, actions.Swipe):
            line = f"input swipe {places} {action.duration}"
        else:
            try:
                return self._do(f"input draganddrop {places} {DRAG_MS}", touched, deadline)
            except ActionFailed as error:
                if not error.unknown:
                    raise
                # Android 6 and earlier
                line = f"input swipe {places} {SLOW_SWIPE_MS}"
        return self._do(line, touched, deadline)


def _typed(typed: Typed) -> ActionResult:
    return ActionResult((), typed.way, typed.note, typed)
