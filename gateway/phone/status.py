"""What is asked of a phone besides its picture and its hierarchy: the app in front, its screen, its keyguard."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.errors import DeviceError
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.reading.display import Screen, density_of, screen_of, size_of
from gateway.phone.reading.focus import Focus, focus_of
from gateway.phone.reading.power import is_awake, is_locked, needs_secret


@dataclass(frozen=True)
class Display:
    """`size` is width and height in pixels as the screen is held now, `rotation` 0..3 times 90 degrees, `density` in
    dpi."""

    size: tuple[int, int]
    rotation: int
    density: int


@dataclass(frozen=True)
class Power:
    """None: the device does not tell. `secret`: a PIN, pattern or password unlocks it."""

    screen_on: bool | None
    locked: bool | None
    secret: bool | None


def front(calls: Calls, deadline: Deadline) -> tuple[Focus, Screen]:
    """The app in front and the screen, of one call where the device tells both in it. A package is empty where none
    is told, as with the screen off."""
    said = calls.query("dumpsys window displays", deadline)
    focus = focus_of(said)
    if focus is None:
        focus = focus_of(calls.query("dumpsys activity activities", deadline))
    return focus or Focus(""), screen_of(said)


def display(calls: Calls, deadline: Deadline) -> Display:
    """Raises DeviceError where the device does not tell the size."""
    screen = screen_of(calls.query("dumpsys window displays", deadline))
    density = density_of(calls.query("wm density", deadline)) or screen.density or 0
    return Display(_size(calls, screen, deadline), screen.rotation or 0, density)


def size(calls: Calls, deadline: Deadline) -> tuple[int, int]:
    """Width and height in pixels, as the screen is held now. Raises DeviceError where the device does not tell it."""
    return _size(calls, screen_of(calls.query("dumpsys window displays", deadline)), deadline)


def _size(calls: Calls, screen: Screen, deadline: Deadline) -> tuple[int, int]:
    if screen.size is not None:
        return screen.size
    natural = size_of(calls.query("wm size", deadline))
    if natural is None:
        raise DeviceError(f"{calls.serial} does not tell the size of its screen", hint="is it an Android phone?")
    return natural[::-1] if (screen.rotation or 0) % 2 else natural


def power(calls: Calls, deadline: Deadline) -> Power:
    policy = calls.query("dumpsys window policy", deadline)
    return Power(is_awake(calls.query("dumpsys power", deadline)), is_locked(policy), needs_secret(policy))
