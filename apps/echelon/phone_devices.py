"""The phones that adb sees, as rows; and a simulated one for as long as a command takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from echelon.output.phone import DeviceRow
from gateway.config import Device as Wanted
from gateway.errors import DeviceError, EchelonError
from gateway.phone import devices
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from gateway.phone.devices import Device
from gateway.phone.link import Link

if TYPE_CHECKING:
    from simphone.background import PhoneThread

LIST_S = 20.0
ASK_S = 5.0
AT_ONCE = 8


def rows(server: AdbServer) -> list[DeviceRow]:
    """All of them, usable ones first. Raises AdbMissing and the like."""
    found = sorted(devices.listed(server, Deadline(LIST_S, "listing the devices")), key=lambda each: not each.usable)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        versions = list(pool.map(lambda device: android(server, device), found))
    return [
        DeviceRow(
            serial=device.serial,
            state=device.state,
            model=device.model,
            android=version,
            connected=device.transport,
            also=device.also,
            advice=device.advice,
        )
        for device, version in zip(found, versions, strict=True)
    ]


def chosen(server: AdbServer, wanted: Wanted) -> str:
    """The serial of the phone that the configuration names, or of the only one. Raises DeviceError: nothing has to be
    begun to know that there is none."""
    deadline = Deadline(LIST_S, "choosing a device")
    return devices.choose(server, deadline, wanted.serial, wanted.mode).serial


def android(server: AdbServer, device: Device) -> str:
    """Its version, empty where it does not say."""
    if not device.usable:
        return ""
    try:
        link = Link(server, device.serial)
        return link.shell("getprop ro.build.version.release", Deadline(ASK_S, "asking for the version")).text.strip()
    except DeviceError:
        return ""


def table(found: Sequence[DeviceRow]) -> list[list[str]]:
    return [
        [
            row.serial + "".join(f" = {each}" for each in row.also),
            "ready" if row.state == devices.ONLINE else row.state,
            row.model,
            row.android,
            row.connected,
            row.advice,
        ]
        for row in found
    ]


@contextmanager
def simulated(server: AdbServer, wanted: bool) -> Iterator[str | None]:
    """The serial of a simulated phone that is connected meanwhile; None where none is wanted. Raises EchelonError."""
    if not wanted:
        yield None
        return
    with TemporaryDirectory(prefix="simphone-") as folder, own_phone(server, Path(folder)) as phone:
        yield phone.serial


@contextmanager
def own_phone(server: AdbServer, folder: Path) -> Iterator[PhoneThread]:
    """A simulated phone that keeps its things in the folder, connected meanwhile. Raises EchelonError."""
    from simphone.background import PhoneThread
    from simphone.phone import PhoneOptions
    from simphone.screen.browser import BrowserMissing

    with ExitStack() as running:
        try:
            phone = running.enter_context(PhoneThread(PhoneOptions(folder=folder)))
        except BrowserMissing as error:
            raise EchelonError(str(error), hint="apt-get install chromium") from None
        running.callback(lambda: server.disconnect(phone.serial, Deadline(ASK_S, "disconnecting the simulated phone")))
        devices.connect(server, phone.serial, Deadline(LIST_S, "connecting the simulated phone"))
        yield phone
