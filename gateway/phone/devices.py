"""Which devices there are, choosing one of them, and getting back one that was lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gateway.errors import DeviceError, DeviceLost, DeviceOffline, DeviceUnauthorized, NoDevice, SeveralDevices
from gateway.phone import trouble
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from gateway.phone.reading.adb_connect import Answer, answer_of
from gateway.phone.reading.adb_devices import devices_of

Mode = Literal["auto", "usb", "wifi"]
Transport = Literal["usb", "wifi", "emulator"]

ONLINE = "device"
RECONNECT_S = 30.0
BACKOFF_S, LONGEST_BACKOFF_S = 0.25, 4.0
AUTHORISING_S = 5.0  # a device that is allowed already needs a moment to say so
STATES = {  # adb's word: what to do about it
    "unauthorized": trouble.ALLOW,
    "authorizing": trouble.ALLOW,
    "offline": trouble.REPLUG,
    "connecting": "wait a moment, and look again",
    "no permissions": trouble.UDEV,
    "bootloader": "restart the phone: it is in its boot loader",
    "recovery": "restart the phone: it is in recovery mode",
    "sideload": "restart the phone: it waits for an update",
}
CHECK = "check the address, and that wireless debugging is on"
PAIR = "Android 11 and later has to be paired once, at a port that it shows for that: adb pair HOST:PAIRING-PORT"
HERE = ("localhost", "127.0.0.1", "[::1]")
_ADDRESS = re.compile(r"[\w.-]+:\d+|\[[\da-fA-F:.]+\]:\d+")


@dataclass(frozen=True)
class Device:
    """One phone as adb sees it; `also` are other serials under which it is listed, too."""

    serial: str
    state: str
    transport: Transport
    model: str = ""
    also: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        return self.state == ONLINE

    @property
    def advice(self) -> str:
        """What to do before it can be used; empty where it can."""
        return "" if self.usable else STATES.get(self.state, f"its state is {self.state!r}: restart the phone")


def is_address(serial: str) -> bool:
    """Whether it is host:port, which can be connected to."""
    return _ADDRESS.fullmatch(serial) is not None


def parse(listing: str) -> list[Device]:
    """Devices from what `adb devices -l` prints, each once."""
    return _once(
        [
            Device(each.serial, each.state, _transport(each.serial), each.details.get("model", "").replace("_", " "))
            for each in devices_of(listing)
        ]
    )


def listed(server: AdbServer, deadline: Deadline) -> list[Device]:
    """All of them, usable or not, each once."""
    return parse(server.devices(deadline))


def choose(server: AdbServer, deadline: Deadline, serial: str | None = None, mode: Mode = "auto") -> Device:
    """The device of that serial, which is connected where it is host:port; else the only one. `auto` takes one on a
    cable before others. Raises NoDevice, SeveralDevices, or what keeps it from being used."""
    if serial is not None and is_address(serial):
        return connect(server, serial, deadline)
    found = listed(server, deadline)
    if serial is not None:
        return _usable(_of(found, serial), found, serial)
    here = [each for each in found if mode == "auto" or each.transport == mode]
    usable = [each for each in here if each.usable]
    chosen = [each for each in usable if each.transport == "usb"] or usable
    if len(chosen) > 1:
        names = ", ".join(f"{each.serial} ({each.model or each.transport})" for each in chosen)
        hint = "choose one: --device, or device.serial in the configuration"
        raise SeveralDevices(
            f"{len(chosen)} devices are connected: {names}", serials=tuple(each.serial for each in chosen), hint=hint
        )
    if chosen:
        return chosen[0]
    if here:
        return _usable(here[0], here, here[0].serial)
    where = {"usb": " by USB", "wifi": " over WiFi"}.get(mode, "")
    others = ", ".join(f"{each.serial} ({each.transport})" for each in found)
    raise NoDevice(
        f"no device is connected{where}{f'; there is {others}' if others else ''}",
        hint="set device.mode to auto" if others else trouble.PLUG,
    )


def connect(server: AdbServer, address: str, deadline: Deadline) -> Device:
    """Connect to host:port, and wait until it can be used. adb's own answer says little: "already connected" may be one
    that is offline, and one that "failed to authenticate" may be allowed a moment later; so the device's state
    decides."""
    again = _connected(server, address, deadline).outcome == "already"
    authorising = deadline.within(AUTHORISING_S)
    while True:
        try:
            state = server.state(address, deadline)
            if state == ONLINE:
                break
            problem = unusable(address, state)
        except DeviceError as error:
            problem = error
        if authorising.passed:
            raise problem
        if again or isinstance(problem, NoDevice):  # which was cut off as soon as it was connected
            again = False
            server.disconnect(address, deadline)
            _connected(server, address, deadline)
        deadline.pause(BACKOFF_S)
    found = listed(server, deadline)
    return _usable(_of(found, address), found, address)


def reconnect(server: AdbServer, serial: str, deadline: Deadline, limit_s: float = RECONNECT_S) -> None:
    """Get a lost device back: look and try ever less often, for so many seconds in all. Raises the last error, as
    DeviceLost with `performed` False."""
    until = deadline.within(limit_s)
    backoff = BACKOFF_S
    while True:
        try:
            if server.state(serial, until) == ONLINE:
                return
            error: DeviceError = DeviceLost(f"{serial} is not ready yet")
        except DeviceError as said:
            error = said
        if isinstance(error, DeviceUnauthorized):
            raise error
        if is_address(serial):
            try:
                server.disconnect(serial, until)
                connect(server, serial, until)
                return
            except DeviceUnauthorized:
                raise
            except DeviceError as said:
                error = said
        if until.remaining <= backoff:
            raise DeviceLost(
                f"{serial} was lost and is not back after {until.seconds:.0f} s: {error}",
                performed=False,
                hint=error.hint or trouble.REPLUG,
            ) from error
        until.pause(backoff)
        backoff = min(2 * backoff, LONGEST_BACKOFF_S)


def _transport(serial: str) -> Transport:
    if serial.startswith("emulator-"):
        return "emulator"
    return "wifi" if is_address(serial) or "._adb" in serial else "usb"


def _once(found: Sequence[Device]) -> list[Device]:
    """adb looks for emulators at the odd ports from 5555 on, and lists what it finds there as emulator-PORT, of the
    port below: a device that somebody connected to at that port stands there twice. So does one that was connected to
    by several names of this computer."""
    first: dict[int, str] = {}
    twins: dict[str, str] = {}
    for each in found:
        host, _, port = each.serial.rpartition(":")
        if is_address(each.serial) and host in HERE and first.setdefault(int(port), each.serial) != each.serial:
            twins[each.serial] = first[int(port)]
    for each in found:
        number = each.serial.removeprefix("emulator-")
        if number != each.serial and number.isdigit() and int(number) + 1 in first:
            twins[each.serial] = first[int(number) + 1]
    kept = []
    for each in found:
        if each.serial not in twins:
            same = [each, *(other for other in found if twins.get(other.serial) == each.serial)]
            best = next((other for other in same if other.usable), each)
            model = best.model or next((other.model for other in same if other.model), "")
            kept.append(replace(best, model=model, also=tuple(other.serial for other in same if other is not best)))
    return kept


def _of(found: Sequence[Device], serial: str) -> Device | None:
    return next((each for each in found if serial in (each.serial, *each.also)), None)


def _usable(device: Device | None, found: Sequence[Device], serial: str) -> Device:
    if device is None:
        others = ", ".join(each.serial for each in found)
        hint = f"there is {others}" if others else trouble.PLUG
        raise NoDevice(f"no device {serial}", hint=hint)
    if device.usable:
        return device
    raise unusable(device.serial, device.state)


def unusable(serial: str, state: str) -> DeviceError:
    """What keeps a device in that state from being used."""
    if state in ("unauthorized", "authorizing", "offline", "connecting", "no permissions"):
        return trouble.from_server(f"device {state}", serial)
    return DeviceOffline(f"{serial} is in state {state!r}", hint=Device(serial, state, _transport(serial)).advice)


def _connected(server: AdbServer, address: str, deadline: Deadline) -> Answer:
    """adb's answer to host:connect, where it is not that it failed."""
    answer = answer_of(server.connect(address, deadline))
    if not answer.ok and answer.outcome != "unauthorized":  # which it may yet be: the state tells
        raise NoDevice(f"{address} cannot be connected to: {answer.said}", hint=f"{answer.hint or CHECK}; {PAIR}")
    return answer
