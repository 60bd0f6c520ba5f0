"""Intents: what an activity is started with, read from a command line and printed as Android does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from simphone.system.component import Component

MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
LAUNCHER = "android.intent.category.LAUNCHER"
HOME = "android.intent.category.HOME"
NEW_TASK = 0x10000000


class IllegalArgument(Exception):
    """What Android throws as an IllegalArgumentException."""


@dataclass(slots=True)
class Intent:
    action: str = ""
    categories: tuple[str, ...] = ()
    data: str = ""
    type: str = ""
    flags: int = 0
    package: str = ""
    component: Component | None = None
    extras: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """As `Intent.toString()`: what is behind a web address' host is not told."""
        parts = []
        if self.action:
            parts.append(f"act={self.action}")
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data:
            parts.append(f"dat={_safe(self.data)}")
        if self.type:
            parts.append(f"typ={self.type}")
        if self.flags:
            parts.append(f"flg={self.flags:#x}")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            parts.append(f"cmp={self.component.short}")
        if self.extras:
            parts.append("(has extras)")
        return f"Intent {{ {' '.join(parts)} }}"


def launch(component: Component) -> Intent:
    """What the home screen starts an app with."""
    return Intent(MAIN, (LAUNCHER,), flags=0x10200000, package=component.package, component=component)


class Arguments:
    """The words of a command line, taken one after the other."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0

    def option(self) -> str | None:
        """The next word where it is an option."""
        if self._at < len(self._words) and self._words[self._at].startswith("-") and len(self._words[self._at]) > 1:
            return self.next()
        return None

    def next(self) -> str | None:
        if self._at >= len(self._words):
            return None
        self._at += 1
        return self._words[self._at - 1]

    def required(self) -> str:
        """Raises IllegalArgument."""
        found = self.next()
        if found is None:
            raise IllegalArgument(f'Argument expected after "{self._words[self._at - 1] if self._at else ""}"')
        return found

    def rest(self) -> list[str]:
        found = self._words[self._at :]
        self._at = len(self._words)
        return found


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise IllegalArgument(f'For input string: "{text}"') from None


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise IllegalArgument(f'For input string: "{text}"') from None


def _truth(text: str) -> bool:
    if text in ("true", "t"):
        return True
    if text in ("false", "f"):
        return False
    try:
        return int(text, 0) != 0
    except ValueError:
        raise IllegalArgument(f"Invalid boolean value: {text}") from None


def _list(of: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda text: [of(each) for each in text.split(",")] if text else []


_EXTRAS: Mapping[str, Callable[[str], Any]] = {
    "-e": str,
    "--es": str,
    "--ez": _truth,
    "--ei": _number,
    "--el": _number,
    "--ef": _real,
    "--ed": _real,
    "--eu": str,
    "--ecn": str,
    "--eia": _list(_number),
    "--eial": _list(_number),
    "--ela": _list(_number),
    "--elal": _list(_number),
    "--efa": _list(_real),
    "--efal": _list(_real),
    "--esa": _list(str),
    "--esal": _list(str),
}
_FLAGS = {
    "--activity-brought-to-front": 0x00400000,
    "--activity-clear-top": 0x04000000,
    "--activity-clear-task": 0x00008000,
    "--activity-exclude-from-recents": 0x00800000,
    "--activity-multiple-task": 0x08000000,
    "--activity-no-animation": 0x00010000,
    "--activity-no-history": 0x40000000,
    "--activity-no-user-action": 0x00040000,
    "--activity-previous-is-top": 0x01000000,
    "--activity-reorder-to-front": 0x00020000,
    "--activity-reset-task-if-needed": 0x00200000,
    "--activity-single-top": 0x20000000,
    "--activity-task-on-home": 0x00004000,
    "--debug-log-resolution": 0x00000008,
    "--exclude-stopped-packages": 0x00000010,
    "--grant-read-uri-permission": 0x00000001,
    "--grant-write-uri-permission": 0x00000002,
    "--include-stopped-packages": 0x00000020,
    "--receiver-foreground": 0x10000000,
    "--receiver-registered-only": 0x40000000,
    "--receiver-replace-pending": 0x20000000,
    "--selector": 0,
}


def parse(arguments: Arguments, own: Callable[[str, Arguments], bool]) -> Intent:
    """The intent of a command line; `own` takes the command's other options, and says whether it knows one.

    Raises IllegalArgument.
    """
    intent = Intent()
    given = False
    while (option := arguments.option()) is not None:
        if own(option, arguments):
            continue
        given = True
        if option == "-a":
            intent.action = arguments.required()
        elif option == "-d":
            intent.data = arguments.required()
        elif option == "-t":
            intent.type = arguments.required()
        elif option == "-c":
            intent.categories += (arguments.required(),)
        elif option == "-n":
            text = arguments.required()
            intent.component = Component.parse(text)
            if intent.component is None:
                raise IllegalArgument(f"Bad component name: {text}")
        elif option == "-p":
            intent.package = arguments.required()
        elif option == "-i":
            arguments.required()
        elif option == "-f":
            intent.flags = _number(arguments.required())
        elif option == "--esn":
            intent.extras[arguments.required()] = None
        elif option in _EXTRAS:
            key = arguments.required()
            intent.extras[key] = _EXTRAS[option](arguments.required())
        elif option in _FLAGS:
            intent.flags |= _FLAGS[option]
        else:
            raise IllegalArgument(f"Unknown option: {option}")
    word = arguments.next()
    if word is not None:
        given = True
        _implied(intent, word)
    if not given:
        raise IllegalArgument("No intent supplied")
    return intent


def _implied(intent: Intent, word: str) -> None:
    """What a last word without an option means: an address, a component or a package."""
    if ":" in word:
        intent.action, intent.data = intent.action or VIEW, word
    elif "/" in word:
        intent.action, intent.component = intent.action or MAIN, Component.parse(word)
        intent.categories = intent.categories or (LAUNCHER,)
        if intent.component is None:
            raise IllegalArgument(f"Bad component name: {word}")
    else:
        intent.action, intent.package = intent.action or MAIN, word
        intent.categories = intent.categories or (LAUNCHER,)


def _safe(data: str) -> str:
    try:
        parts = urlsplit(data)
    except ValueError:
        return data
    if parts.scheme in ("http", "https", "ftp", "rtsp"):
        return f"{parts.scheme}://{parts.netloc}" + ("/..." if parts.path or parts.query else "")
    if parts.scheme in ("tel", "sip", "sms", "smsto", "mailto"):
        hidden = "".join(each if each in "@.-:+" else "x" for each in parts.path)
        return f"{parts.scheme}:{hidden}"
    return data
