"""`echelon phone`, which is `mai-phone`, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from echelon import options, phone_options
from echelon.phone_task import task
from echelon.terminal import harmless, put, put_json, put_table, say

if TYPE_CHECKING:
    from gateway import Settings


@click.group(
    cls=phone_options.TaskGroup,
    task=task,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def phone() -> None:
    """A task on a phone, or a command about phones."""


@phone.command(
    epilog="""\b
Examples:
  mai-phone devices
  mai-phone devices --json

\b
Exit codes: 0 one can be used, 4 none can.
"""
)
@phone_options.simulated
@options.as_json
@phone_options.settings
def devices(settings: Settings, simulated: bool, as_json: bool) -> int:
    """List the phones that adb sees, and what to do about those that cannot be used."""
    from echelon import phone_devices
    from gateway.errors import DeviceError
    from gateway.phone.adb import AdbServer
    from gateway.phone.trouble import PLUG

    server = AdbServer(settings.device.adb_server)
    with phone_devices.simulated(server, simulated):
        found = phone_devices.rows(server)
    if as_json:
        put_json(found)
    elif found:
        put_table(["serial", "state", "model", "android", "connected", "what to do"], phone_devices.table(found))
    else:
        say(f"adb sees no device\n  {PLUG}")
    return 0 if any(not each.advice for each in found) else DeviceError.exit_code


@phone.command(
    epilog="""\b
Examples:
  mai-phone doctor
  mai-phone doctor --device 192.168.1.5:5555
  mai-phone doctor --simulated --json

\b
Exit codes: 0 nothing failed, 4 something did.
"""
)
@click.option("--device", "serial", metavar="S", help="The phone, by its serial or host:port.")
@phone_options.simulated
@options.as_json
@phone_options.settings
def doctor(settings: Settings, serial: str | None, simulated: bool, as_json: bool) -> int:
    """Check adb, the phone, its screen, its pictures and its keyboard; say what to do about each."""
    from echelon import phone_devices
    from echelon.doctor import MARKS
    from echelon.output.check import CheckRow
    from echelon.phone_checks import every_phone_check
    from gateway.phone.adb import AdbServer

    found, code = [], 0
    with phone_devices.simulated(AdbServer(settings.device.adb_server), simulated) as there:
        for check in every_phone_check(settings, there or serial):
            found.append(CheckRow(name=check.name, status=check.status, detail=check.detail, advice=check.advice))
            code = code or (check.exit_code if check.status == "fail" else 0)
            if not as_json:
                put(f"{MARKS[check.status]}  {check.name:<14} {harmless(check.detail)}")
                if check.advice:
                    put(f"{'':<21}→ {check.advice}")
    if as_json:
        put_json(found)
    return code
