"""Simulated phones for as long as a command runs, connected to the adb server."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

from echelon.output.simphone import SimphoneRow
from echelon.terminal import put, put_json, say
from gateway import Settings
from gateway.errors import DeviceError, EchelonError, UsageError
from gateway.phone import devices
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from simphone.faults import Fault
from simphone.phone import FolderInUse, Phone, PhoneOptions
from simphone.screen.browser import BrowserMissing
from simphone.system.app import AppUnusable

CONNECT_S = 10.0


async def simulate(
    settings: Settings, wanted: Sequence[PhoneOptions], faults: Sequence[Fault], *, connect: bool, as_json: bool
) -> int:
    """Phones that run until a signal ends them; the exit code for it. Raises EchelonError."""
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 0)):
        asyncio.get_running_loop().add_signal_handler(number, end, code)
    async with AsyncExitStack() as running:
        phones = []
        for each in wanted:
            starting = asyncio.ensure_future(_started(running, each))
            await asyncio.wait((starting, ended), return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                starting.cancel()
                with suppress(asyncio.CancelledError):
                    await starting
                return ended.result()
            phones.append(await starting)
        for phone in phones:
            for fault in faults:
                phone.faults.add(replace(fault))
        connected = [connect and await asyncio.to_thread(_connect, settings, phone.serial) for phone in phones]
        for phone, there in zip(phones, connected, strict=True):
            if there:
                running.push_async_callback(asyncio.to_thread, _disconnect, settings, phone.serial)
        _tell([_row(phone, there) for phone, there in zip(phones, connected, strict=True)], as_json)
        return await ended


async def _started(running: AsyncExitStack, wanted: PhoneOptions) -> Phone:
    try:
        return await running.enter_async_context(Phone(wanted))
    except AppUnusable as error:
        raise UsageError(f"--apps: {error}", hint="echelon simphone start --help") from None
    except FolderInUse as error:
        raise UsageError(str(error), hint="give it another --folder, or --second with the first one") from None
    except BrowserMissing as error:
        raise EchelonError(str(error), hint="apt-get install chromium") from None
    except OSError as error:
        raise UsageError(f"the phone does not start: {error}", hint="--port 0 takes any free port") from None


def _row(phone: Phone, connected: bool) -> SimphoneRow:
    return SimphoneRow(
        serial=phone.serial,
        serial_number=phone.options.serial_number,
        test_channel=phone.test_url,
        folder=str(phone.options.folder),
        connected=connected,
    )


def _tell(rows: Sequence[SimphoneRow], as_json: bool) -> None:
    if as_json:
        put_json(rows)
    else:
        for row in rows:
            put(f"{row.serial_number}  adb connect {row.serial}{'  (done)' if row.connected else ''}")
            put(f"         test channel {row.test_channel}/state")
            put(f"         files and apps in {row.folder}")
    sys.stdout.flush()
    serial = rows[0].serial
    say(f"try: adb -s {serial} shell am start -n org.simphone.notes/.NotesActivity")
    say(f"     adb -s {serial} exec-out screencap -p > screen.png")
    say("Ctrl-C ends it")


def _connect(settings: Settings, serial: str) -> bool:
    """Whether the adb server has it now; says why not."""
    try:
        devices.connect(AdbServer(settings.device.adb_server), serial, Deadline(CONNECT_S, f"adb connect {serial}"))
    except DeviceError as error:
        say(f"warning: adb is not connected: {error}")
        say(f"  {error.hint}")
        return False
    return True


def _disconnect(settings: Settings, serial: str) -> None:
    server = AdbServer(settings.device.adb_server, start=False)
    server.disconnect(serial, Deadline(CONNECT_S, f"adb disconnect {serial}"))
