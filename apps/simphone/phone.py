"""The whole phone: its parts, put together.

async with Phone(PhoneOptions(folder)) as phone:
    ...  # adb connect {phone.serial}
"""

from __future__ import annotations

import fcntl
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simphone.adbd.auth import NONE, Authentication
from simphone.adbd.daemon import Daemon
from simphone.commands.table import CommandTable
from simphone.faults import Faults
from simphone.files import DeviceFiles
from simphone.screen.display import Display
from simphone.screen.store import AppStore
from simphone.screen.web import Web
from simphone.shell.runner import ShellRunner
from simphone.system.calls import Calls
from simphone.system.system import System


class FolderInUse(Exception):
    """Another phone runs on this folder."""


@dataclass(frozen=True)
class PhoneOptions:
    """`folder` is what the phone keeps: files, apps, settings. `apps` are more than the shipped ones: folders, package
    files (.simapk), pages (.html) and addresses. The ADB keyboard is installed, not chosen; so is Clipper if wanted."""

    folder: Path
    port: int = 0  # any free one; not 5555..5585, where adb sees an emulator besides
    host: str = "127.0.0.1"
    serial_number: str = "SIM0001"
    model: str = "Simphone"
    apps: tuple[str, ...] = ()
    authentication: Authentication = NONE
    adb_keyboard: bool = True
    clipper: bool = False


class Phone:
    """One device, while the context lasts. Making it raises AppUnusable, starting it FolderInUse and OSError."""

    def __init__(self, options: PhoneOptions) -> None:
        self.options = options
        self._folder = options.folder.absolute()
        self.faults = Faults()
        self.store = AppStore(self._folder / "apps")
        self.files = DeviceFiles(self._folder / "files", self.faults)
        self._web = Web(self.store)
        self.display = Display(self._web, self._folder)
        self.system = System(
            self._folder,
            self.display,
            self.store,
            self.faults,
            self.files,
            serial_number=options.serial_number,
            model=options.model,
            apps=options.apps,
            adb_keyboard=options.adb_keyboard,
            clipper=options.clipper,
            url=lambda: self._web.url,
            folders=self._web.folders,
        )
        self._web.on_call = Calls(self.system).answer
        self._web.control = self
        self._runner = ShellRunner(CommandTable(self.system), self.files, self.faults)
        self.daemon = Daemon(
            self._runner,
            self.files,
            self.faults,
            self._banner,
            authentication=options.authentication,
            host=options.host,
            port=options.port,
        )
        self._running = AsyncExitStack()

    @property
    def serial(self) -> str:
        """What `adb connect` takes."""
        return f"{self.options.host}:{self.daemon.port}"

    @property
    def test_url(self) -> str:
        """Where tests look in."""
        return f"{self._web.url}/test"

    async def __aenter__(self) -> Phone:
        async with AsyncExitStack() as starting:
            self._lock(starting)
            await self._web.start()
            starting.push_async_callback(self._web.stop)
            starting.push_async_callback(self.display.stop)
            await self.display.start()
            await self.system.boot()
            starting.push_async_callback(self._runner.stop)
            await self._runner.start()
            await self.daemon.start()
            starting.push_async_callback(self.daemon.stop)
            self._running = starting.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._running.aclose()

    async def app_state(self, package: str) -> dict[str, Any]:
        """What an app keeps."""
        return self.store.load(package)

    async def set_app_state(self, package: str, state: dict[str, Any]) -> None:
        """Its windows show it."""
        self.store.save(package, state)
        await self.display.refresh(package)

    async def app_log(self, package: str) -> list[dict[str, Any]]:
        """The record of what was done in it for good: {"kind", "data"}, the oldest first."""
        return self.store.log(package)

    async def state(self) -> dict[str, Any]:
        """What is in front, the tasks, settings, clipboard, and what the display says of itself."""
        return {**self.system.state(), **await self.display.state()}

    async def reset(self) -> None:
        """Every app as at first, the home screen, no faults. What is installed stays."""
        await self.system.reset()

    def _banner(self) -> dict[str, str]:
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        return {name: self.system.properties[name] for name in names}

    def _lock(self, starting: AsyncExitStack) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        starting.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderInUse(f"another phone runs on {self._folder}") from None
