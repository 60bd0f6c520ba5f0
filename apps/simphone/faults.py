"""What goes wrong with phones, on demand: each fault by name, and at which moment it acts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from math import isfinite
from threading import Lock

FAULTS: Mapping[str, str] = {
    "link_drop": "the connection is cut after so many bytes of a call, counted both ways",
    "link_down": "the connection is cut, and new ones are refused for so many seconds",
    "no_answer": "a command runs, and nothing is ever sent (at=connect: not even a greeting)",
    "answer_lost": "a command runs, and the connection is cut before its answer",
    "auth_refused": "the phone does not allow this computer (at=connect)",
    "auth_slow": "allowing this computer takes so many seconds longer (at=connect)",
    "storage_full": "there is no space left for what is written",
    "slow_screen": "screenshots and dumps take so many seconds longer",
    "animation": "the screen never comes to rest",
    "black_screenshot": "a screenshot is all black, as of a secure window",
    "screenshot_warning": "a line of text comes before the PNG",
    "screenshot_crlf": "every LF of the PNG arrives as CR LF",
    "screenshot_empty": "a screenshot has no bytes",
    "screenshot_cut": "a screenshot ends in its middle, or after so many bytes",
    "dump_fails": "uiautomator dump says that the screen is never idle",
    "dump_empty": "uiautomator dump writes an empty file",
    "dump_null_root": "uiautomator dump says that there is no root node",
    "dump_invalid": "uiautomator dump writes invalid XML",
    "dump_huge": "uiautomator dump writes so many nodes more (bytes=N)",
    "tap_dropped": "a tap does nothing, and says nothing",
    "input_denied": "the vendor does not permit input events",
    "app_crash": "the app (text=package, or the one in front) crashes",
    "app_anr": "the app (text=package, or the one in front) is not responding",
    "popup": "a dialog with this text comes in front",
    "screen_off": "the screen is switched off",
}


@dataclass
class Fault:
    """One fault. `at` is a glob over what is happening: a command line as it was sent ("input tap *"), a transfer
    ("sync:send /sdcard/a.txt", also recv, stat, list), or "connect"."""

    name: str
    at: str = "*"
    skip: int = 0  # so many matches pass before it acts
    times: int = 1  # it acts so often; 0 is until it is cleared
    seconds: float = 0
    bytes: int = 0
    text: str = ""

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise ValueError(f"there is no fault {self.name!r}; there are: {', '.join(FAULTS)}")
        for key, kind in _KEYS.items():
            value = getattr(self, key)
            if type(value) is not kind and not (kind is float and type(value) is int):
                raise ValueError(f"{key} of {self.name} is {value!r}, which is no {kind.__name__}")
        if min(self.skip, self.times, self.seconds, self.bytes) < 0:
            raise ValueError(f"the numbers of {self.name} are not negative")
        if not isfinite(self.seconds):
            raise ValueError(f"the seconds of {self.name} are not finite")

    @classmethod
    def parse(cls, text: str) -> Fault:
        """From "name" or "name:key=value,key=value", as in "link_drop:at=screencap*,bytes=1000,times=2".

        A comma within a value is part of it unless a key and "=" follow. Raises ValueError that says what is wrong.
        """
        name, colon, rest = text.partition(":")
        values: dict[str, str | int | float] = {}
        for part in _COMMA.split(rest) if colon else ():
            key, equals, value = part.partition("=")
            if not equals or key not in _KEYS:
                raise ValueError(f"{part!r} in {text!r} is not one of {', '.join(_KEYS)}, with = and a value")
            try:
                values[key] = _KEYS[key](value)
            except ValueError:
                raise ValueError(f"{value!r} is not a number: {key} in {text!r}") from None
        return cls(name.strip(), **values)  # type: ignore[arg-type]


_TYPES: Mapping[str, type[str] | type[int] | type[float]] = {"str": str, "int": int, "float": float}
_KEYS = {each.name: _TYPES[str(each.type)] for each in fields(Fault) if each.name != "name"}
_COMMA = re.compile(rf",(?=(?:{'|'.join(_KEYS)})=)")


class Faults:
    """The faults of one phone. Safe to use from several threads."""

    acted: list[str]  # what acted, in order: "tap_dropped input tap 1 2"

    def __init__(self) -> None:
        self.acted = []
        self._faults: list[_Counted] = []
        self._lock = Lock()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(_Counted(fault, fault.skip, fault.times))

    def clear(self, name: str | None = None) -> None:
        """Those of this name, or all."""
        with self._lock:
            self._faults = [each for each in self._faults if name not in (None, each.fault.name)]

    def active(self) -> list[Fault]:
        """Those that may act yet."""
        with self._lock:
            return [each.fault for each in self._faults]

    def stands(self, name: str, happening: str) -> bool:
        """Whether one of this name is set for what is happening; nothing is counted."""
        return any(each.name == name and fnmatchcase(happening, each.at) for each in self.active())

    def take(self, name: str, happening: str) -> Fault | None:
        """The fault of this name that acts on what is happening now, if one does; it is counted."""
        with self._lock:
            for each in self._faults:
                if each.fault.name != name or not fnmatchcase(happening, each.fault.at):
                    continue
                if each.skip:
                    each.skip -= 1
                    continue
                if each.times == 1:
                    self._faults.remove(each)
                each.times -= 1
                self.acted.append(f"{name} {happening}")
                return each.fault
        return None


@dataclass(eq=False)
class _Counted:
    fault: Fault
    skip: int
    times: int
