"""Simulated phones: those that were started, the apps that they ship with, the faults that they know."""

from __future__ import annotations

from echelon.output.shape import Shape


class SimphoneRow(Shape):
    """A simulated phone that runs until the command ends: `adb connect` takes its `serial`; tests look in at the
    address `test_channel`; `folder` keeps what is on it; `connected` says whether the adb server has it already."""

    serial: str
    serial_number: str
    test_channel: str
    folder: str
    connected: bool


class AppRow(Shape):
    """An app that a simulated phone ships with; `activities` are names as `am start -n PACKAGE/ACTIVITY` takes them."""

    package: str
    label: str
    version_code: int
    version_name: str
    launcher: str | None
    activities: tuple[str, ...]


class AppPacked(Shape):
    """A package file for `adb install`: its path, and which version of which app it holds."""

    file: str
    package: str
    version_code: int
    version_name: str
    bytes: int


class FaultRow(Shape):
    """A fault by its name, with what it does."""

    name: str
    description: str
