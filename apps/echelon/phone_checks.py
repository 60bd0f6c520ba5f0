"""The phone doctor's checks: each looks at one thing that working with a phone needs."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import closing

from echelon.checks import TIMEOUT_S, Check
from gateway import Settings
from gateway.engine.store import Store
from gateway.errors import AdbMissing, AdbTooOld, DeviceError, EchelonError
from gateway.phone import adb as adbs
from gateway.phone import devices
from gateway.phone.adb import AdbServer
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.lease import lease_name
from gateway.phone.link import Link
from gateway.phone.text_input import INSTALL

CALL_S = 20.0
UNLOCK = "unlock the phone"
CODE = DeviceError.exit_code


def every_phone_check(settings: Settings, serial: str | None) -> Iterator[Check]:
    """From the adb program to the keyboard, of the device that `serial` or the configuration names, or the only one."""
    yield program()
    server = AdbServer(settings.device.adb_server)
    try:
        version = server.version(Deadline(CALL_S, "asking the adb server"))
        yield Check("server", "ok", f"version 1.0.{version} at {server.address}")
        yield listed(server)
        serial = serial or settings.device.serial
        device = devices.choose(server, Deadline(CALL_S, "choosing a device"), serial, settings.device.mode)
        yield Check("device", "ok", f"{device.serial} ({device.model or 'of no name'}, {device.transport}): allowed")
        yield lease(settings, device.serial)
    except EchelonError as error:
        yield fails("server" if isinstance(error, AdbMissing | AdbTooOld) else "device", error)
        return
    with closing(Bridge(Link(server, device.serial))) as bridge:
        for check in (shell, screen, screenshot, hierarchy, touch, typing):
            try:
                yield check(bridge)
            except EchelonError as error:
                yield fails(check.__name__, error)


def program() -> Check:
    """Its version; this asks no server for anything."""
    try:
        found = adbs.program()
        told = subprocess.run([found, "version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
    except EchelonError as error:
        return Check("adb", "warn", str(error), error.hint)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("adb", "warn", f"it does not work: {error}", "install it again: apt-get install adb")
    said = [line.removeprefix("Version ") for line in told.splitlines()[1:2]]
    return Check("adb", "ok", f"{found}, {said[0] if said else 'of unknown version'}")


def fails(name: str, error: EchelonError) -> Check:
    return Check(name, "fail", str(error), error.hint or "try again", CODE)


def listed(server: AdbServer) -> Check:
    found = devices.listed(server, Deadline(CALL_S, "listing the devices"))
    told = ", ".join(f"{each.serial} ({each.state})" for each in found) or "none"
    bad = next((each for each in found if not each.usable), None)
    if bad is not None:
        return Check("devices", "warn", told, f"{bad.serial}: {bad.advice}")
    return Check("devices", "ok", told)


def lease(settings: Settings, serial: str) -> Check:
    """Whether another process works with the device just now."""
    path = settings.home / "echelon.db"
    if path.exists():
        with closing(Store(path)) as store:
            if store.held(lease_name(serial), time.time()):
                return Check("lease", "warn", f"another process works with {serial}", "echelon runs list shows it")
    return Check("lease", "ok", f"no other process works with {serial}")


def shell(bridge: Bridge) -> Check:
    """How long a call takes that does nothing."""
    took = bridge.round_trip_ms()
    return Check("shell", "ok", f"a call takes {took:.0f} ms")


def screen(bridge: Bridge) -> Check:
    power, display = bridge.power(), bridge.display()
    size = f"{display.size[0]} × {display.size[1]}, {display.density} dpi"
    if power.screen_on is False:
        awake = bridge.wake().screen_on
        told = "was off, and was switched on for this" if awake else "off, and cannot be switched on from here"
        return Check("screen", "warn", f"{told}; {size}", "let it stay on while it charges: developer options")
    if power.locked:
        secret = "; take its PIN away, or unlock it before each use" if power.secret else ""
        return Check("screen", "warn", f"on and locked; {size}", UNLOCK + secret)
    return Check("screen", "ok", f"on and unlocked, {size}")


def screenshot(bridge: Bridge) -> Check:
    seen = bridge.observe(hierarchy=False)
    assert seen.png is not None
    told = f"{len(seen.png) / 1000:,.0f} kB in {seen.timings_ms['screenshot']:.0f} ms"
    if seen.screen_on is False:
        return Check("screenshot", "warn", f"black, for the screen is off; {told}", UNLOCK)
    if seen.secure:
        return Check("screenshot", "warn", f"black; {told}", f"{seen.package or 'the app'} forbids pictures: leave it")
    return Check("screenshot", "ok", told)


def hierarchy(bridge: Bridge) -> Check:
    seen = bridge.observe(screenshot=False)
    assert seen.elements is not None
    told = f"{len(seen.elements)} elements of {seen.package or 'no app'} in {seen.timings_ms['hierarchy']:.0f} ms"
    return Check("hierarchy", "ok", told)


def touch(bridge: Bridge) -> Check:
    bridge.press_nothing()
    return Check("touch", "ok", "adb may tap and type")


def typing(bridge: Bridge) -> Check:
    ways = bridge.ways_to_type()
    if len(ways) == 1:
        return Check("typing", "warn", "text of ASCII only", INSTALL)
    return Check("typing", "ok", f"text of any script, by {' or '.join(ways[1:])}")
