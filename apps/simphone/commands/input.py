"""`input`: touches, keys and text.

As on Android 14: what is thrown comes on standard error with exit code 255; text that the keyboard's map does not have
throws, and types nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from simphone.commands import keycodes
from simphone.commands.call import UNKNOWN, Call, CommandFailed, JavaThrown
from simphone.commands.keycodes import keycode
from simphone.system.intent import Arguments, IllegalArgument

SOURCES = (
    "touchnavigation keyboard touchscreen mouse gamepad rotaryencoder joystick touchpad stylus dpad trackball".split()
)
USAGE = f"""Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are: 
{chr(10).join(f"      {each}" for each in SOURCES)}

[-d DISPLAY_ID]: specify the display ID.
      (Default: -1 for key event, 0 for motion event if not specified.)
The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap|--async] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ... (Default: keyboard)"""  # noqa: W291
_AT = "com.android.server.input.InputShellCommand"
_ON_COMMAND = f"{_AT}.onCommand(InputShellCommand.java:257)"
_DENIED = (
    "java.lang.SecurityException: Injecting input events requires the caller (or the source of the instrumentation, if "
    "any) to have the INJECT_EVENTS permission."
)
_SWIPE_MS, _DRAG_MS = 300, 500
_LONGEST_MS = 60_000
_LOUDEST = 15
_SELECT_ALL = ([113, 29], [114, 29])  # Ctrl and A


class Input:
    """Keeps what spans several commands: a finger that is down, a selection of everything."""

    def __init__(self) -> None:
        self._down: tuple[float, float, float] | None = None
        self._all_selected = False
        self._commands: dict[str, Callable[[Call, Arguments], Awaitable[None]]] = {
            "text": self._text,
            "keyevent": self._keyevent,
            "tap": self._tap,
            "swipe": self._swipe,
            "draganddrop": self._draganddrop,
            "press": self._press,
            "roll": self._roll,
            "motionevent": self._motionevent,
            "keycombination": self._keycombination,
        }

    async def run(self, call: Call) -> int:
        arguments = Arguments(call.words)
        name = arguments.next()
        if name in SOURCES:
            name = arguments.next()
        if name == "-d":
            arguments.next()
            name = arguments.next()
        if name is None or name in ("help", "-h"):
            await call.say(USAGE)
            return UNKNOWN
        command = self._commands.get(name)
        if command is None:
            await call.say(f"Unknown command: {name}")
            return UNKNOWN
        if call.fault("input_denied"):
            raise _thrown(name, _DENIED, "InputManagerService.injectInputEventToTarget(InputManagerService.java:911)")
        try:
            if call.system.display.on or name in ("keyevent", "keycombination"):
                await command(call, arguments)
        except IllegalArgument as error:
            raise _thrown(name, f"java.lang.IllegalArgumentException: {error}") from None
        return 0

    async def _tap(self, call: Call, arguments: Arguments) -> None:
        x, y = _point(call, arguments, "tap")
        if not call.fault("tap_dropped"):
            await call.system.display.tap(x, y)

    async def _swipe(self, call: Call, arguments: Arguments) -> None:
        x1, y1, x2, y2 = (*_point(call, arguments, "swipe"), *_point(call, arguments, "swipe"))
        ms = _duration(arguments, "swipe", _SWIPE_MS)
        if not call.fault("tap_dropped"):
            await call.system.display.swipe(x1, y1, x2, y2, ms)

    async def _draganddrop(self, call: Call, arguments: Arguments) -> None:
        x1, y1, x2, y2 = (*_point(call, arguments, "draganddrop"), *_point(call, arguments, "draganddrop"))
        ms = _duration(arguments, "draganddrop", _DRAG_MS)
        if not call.fault("tap_dropped"):
            await call.system.display.drag(x1, y1, x2, y2, ms)

    async def _motionevent(self, call: Call, arguments: Arguments) -> None:
        kind = arguments.required().upper()
        x, y = _point(call, arguments, "motionevent")
        if kind == "DOWN":
            self._down = (x, y, time.monotonic())
        elif kind == "UP" and self._down is not None:
            x1, y1, since = self._down
            self._down = None
            ms = min(_LONGEST_MS, int(1000 * (time.monotonic() - since)))
            await call.system.display.swipe(x1, y1, x, y, ms)
        elif kind == "CANCEL":
            self._down = None
        elif kind not in ("MOVE", "UP"):
            raise IllegalArgument(f"Unknown motionevent {kind}")

    async def _press(self, call: Call, arguments: Arguments) -> None:
        """A trackball, which this phone does not have."""

    async def _roll(self, call: Call, arguments: Arguments) -> None:
        _real(arguments, "roll"), _real(arguments, "roll")

    async def _text(self, call: Call, arguments: Arguments) -> None:
        text = arguments.required().replace("%s", " ")
        if any(not each.isascii() or (not each.isprintable() and each not in "\n\t") for each in text):
            raise _thrown(
                "text",
                "java.lang.NullPointerException: Attempt to get length of null array",
                f"{_AT}.sendText(InputShellCommand.java:338)",
                f"{_AT}.runText(InputShellCommand.java:310)",
            )
        display = call.system.display
        if text and self._all_selected:
            self._all_selected = False
            await display.clear_text()
        for number, line in enumerate(text.split("\n")):
            if number:
                await display.key(keycodes.ENTER)
            if line:
                await display.insert_text(line, keys=True)

    async def _keyevent(self, call: Call, arguments: Arguments) -> None:
        first, long, twice = arguments.required(), False, False
        while first.startswith("--"):
            long, twice = long or first == "--longpress", twice or first == "--doubletap"
            if first in ("--duration", "--delay"):
                arguments.required()
            first = arguments.required()
        for word in [first, *arguments.rest()]:
            for _ in range(2 if twice else 1):
                await self._key(call, keycode(word), long)

    async def _keycombination(self, call: Call, arguments: Arguments) -> None:
        first = arguments.required()
        if first == "-t":
            arguments.required()
            first = arguments.required()
        codes = [keycode(each) for each in (first, *arguments.rest())]
        if len(codes) < 2:
            raise IllegalArgument("keycombination requires at least 2 keycodes")
        self._all_selected = codes in _SELECT_ALL

    async def _key(self, call: Call, code: int, long: bool) -> None:
        system = call.system
        display, activities = system.display, system.activities
        selected, self._all_selected = self._all_selected, False
        if code == keycodes.POWER:
            await display.power(not display.on)
        elif code == keycodes.WAKEUP:
            await display.power(True)
        elif code in (keycodes.SLEEP, keycodes.SOFT_SLEEP):
            await display.power(False)
        elif not display.on or code == 0:
            return
        elif code == keycodes.HOME:
            await activities.home()
        elif code == keycodes.BACK:
            await activities.back()
        elif code == keycodes.APP_SWITCH:
            await system.recents()
        elif code in (keycodes.VOLUME_UP, keycodes.VOLUME_DOWN):
            said = system.settings.get("system", "volume_music") or ""
            level = (int(said) if said.isdecimal() else 0) + (1 if code == keycodes.VOLUME_UP else -1)
            system.settings.put("system", "volume_music", str(min(_LOUDEST, max(0, level))))
        elif code == keycodes.CLEAR or (code == keycodes.DEL and selected):
            await display.clear_text()
        elif code in (keycodes.COPY, keycodes.CUT):
            if text := await display.selection():
                system.clipboard = text
                if code == keycodes.CUT:
                    await display.key(keycodes.DEL)
        elif code == keycodes.PASTE:
            if system.clipboard:
                await display.insert_text(system.clipboard)
        else:
            await display.key(code, long=long)


def _point(call: Call, arguments: Arguments, command: str) -> tuple[float, float]:
    """Where the display has it."""
    return call.system.viewport.point(_real(arguments, command), _real(arguments, command))


def _real(arguments: Arguments, command: str) -> float:
    text = arguments.required()
    try:
        found = float(text)
    except ValueError:
        raise _thrown(command, f'java.lang.NumberFormatException: For input string: "{text}"') from None
    return found if abs(found) < 1e6 else 0.0  # not a number, too


def _duration(arguments: Arguments, command: str, usual: int) -> int:
    text = arguments.next()
    if text is None:
        return usual
    try:
        return min(_LONGEST_MS, max(0, int(text)))
    except ValueError:
        raise _thrown(command, f'java.lang.NumberFormatException: For input string: "{text}"') from None


def _thrown(command: str, thrown: str, *frames: str) -> CommandFailed:
    return JavaThrown(command, thrown, *frames, _ON_COMMAND)
