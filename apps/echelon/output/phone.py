"""Phones: which there are."""

from __future__ import annotations

from typing import Literal

from echelon.output.shape import Shape


class DeviceRow(Shape):
    """A phone as adb sees it. `state` is adb's word, `device` where it can be used; `android` is its version, empty
    where it could not be asked; `connected` says how, and `also` has other serials of the same phone. `advice` says
    what to do before it can be used, and is empty where it can."""

    serial: str
    state: str
    model: str
    android: str
    connected: Literal["usb", "wifi", "emulator"]
    also: tuple[str, ...]
    advice: str
