"""The simulated Android as a whole: its state, and what happens to several parts of it at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simphone.system.activities import Activities
from simphone.system.input_methods import InputMethods
from simphone.system.intent import Intent, launch
from simphone.system.packages import Package, Packages
from simphone.system.platform import ADB_KEYBOARD, CLIPPER
from simphone.system.properties import properties
from simphone.system.settings import Settings
from simphone.system.shown_settings import ShownSettings
from simphone.system.viewport import Viewport

if TYPE_CHECKING:
    from simphone.faults import Faults
    from simphone.files import DeviceFiles
    from simphone.screen.display import Display, LauncherEntry
    from simphone.screen.store import AppStore

_PICTURES = (".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")
CLOSE_APP = "Close app"
_OPEN_AGAIN = "Open app again"
_WAIT = "Wait"


class System:
    """`folder` keeps packages and settings; `apps` are sources of more apps. `url` gives the address of the phone's web
    server once it runs. Raises AppUnusable."""

    def __init__(
        self,
        folder: Path,
        display: Display,
        store: AppStore,
        faults: Faults,
        files: DeviceFiles,
        *,
        serial_number: str,
        model: str,
        apps: Sequence[str] = (),
        adb_keyboard: bool = True,
        clipper: bool = False,
        url: Callable[[], str] = str,
        folders: dict[str, Path] | None = None,
    ) -> None:
        helpers = [name for name, wanted in ((ADB_KEYBOARD, adb_keyboard), (CLIPPER, clipper)) if wanted]
        self.display = display
        self.store = store
        self.faults = faults
        self.files = files
        self.packages = Packages(folder, apps, helpers)
        self.settings = Settings(folder / "settings.json")
        self.properties = properties(serial_number, model, display.density)
        self.input_methods = InputMethods(self.packages, self.settings)
        self.viewport = Viewport(display, self.settings)
        self._shown = ShownSettings(display, self.settings, self.input_methods)
        self.activities = Activities(display, self.packages, self._address)
        self.clipboard = ""
        self._dialogs: dict[str, str] = {}  # by title, the window's name: "Application Error: org.example"
        self._time: datetime | None = None
        self._url = url
        self._folders = {} if folders is None else folders
        self._crashes: Counter[str] = Counter()
        self._animated = False
        self._publish()

    async def boot(self) -> None:
        """The display shows what the settings say, and the home screen its apps."""
        from simphone.screen.display import TIME

        await self.set_time(TIME)
        await self._show_launcher()
        await self._shown.show()

    async def reset(self) -> None:
        """A phone as it was: the home screen, settings, and every app's first state. What is installed stays."""
        from simphone.screen.display import TIME

        self.faults.clear()
        self.faults.acted.clear()
        await self.animate(False)
        await self.display.power(True)
        await self.activities.stop_all()
        await self.display.dismiss()
        await self.display.forget_toasts()
        await self.set_time(TIME)
        self.clipboard = ""
        self._dialogs.clear()
        self._crashes.clear()
        for package in self.packages:
            self.store.clear(package.name)
        self.settings.reset()
        await self._shown.show()

    @property
    def dialog(self) -> str | None:
        """The name of the window of the system's dialog that lies over everything."""
        return next(reversed(self._dialogs.values()), None)

    def now(self) -> datetime:
        """What the phone's clock says."""
        return self._time or datetime.now()

    async def set_time(self, when: datetime | None) -> None:
        """It stands still there; None goes with the clock of this machine."""
        self._time = when
        await self.display.set_time(when)

    async def settled(self) -> None:
        """Once the display shows the settings that were changed."""
        await self._shown.settled()

    # apps

    async def launch(self, package: Package) -> None:
        """As a touch of its icon does. Raises KeyError where it has none."""
        if package.launcher is None:
            raise KeyError(package.name)
        await self.activities.start(package.launcher, launch(package.launcher))

    async def install(self, data: bytes, *, replace: bool, downgrade: bool) -> Package:
        """Raises InstallFailed."""
        package = self.packages.install(data, replace=replace, downgrade=downgrade)
        await self.activities.stop(package.name)
        self._publish()
        await self._show_launcher()
        return package

    async def uninstall(self, name: str) -> None:
        """Raises KeyError."""
        self.packages.uninstall(name)
        await self.activities.stop(name)
        self.store.clear(name)
        self._publish()
        await self._show_launcher()

    async def clear(self, name: str) -> None:
        """As freshly installed."""
        await self.activities.stop(name)
        self.store.clear(name)

    async def crash(self, name: str) -> None:
        """The process is gone; a dialog says so, and does not offer another start the second time."""
        self._crashes[name] += 1
        await self.activities.stop(name)
        again = self._crashes[name] > 1
        said = "keeps stopping" if again else "has stopped"
        buttons = (CLOSE_APP,) if again else (_OPEN_AGAIN, CLOSE_APP)
        await self._dialog(f"Application Error: {name}", f"{self._label(name)} {said}", "", buttons)

    async def hang(self, name: str) -> None:
        await self._dialog(
            f"Application Not Responding: {name}", f"{self._label(name)} isn't responding", "", (CLOSE_APP, _WAIT)
        )

    async def popup(self, text: str) -> None:
        await self._dialog("android", "Android System", text, ("OK",))

    async def dialog_choice(self, title: str, button: str) -> None:
        """A button of a system dialog was touched, or it was dismissed."""
        kind, _, name = self._dialogs.pop(title, "").partition(": ")
        package = self.packages.get(name)
        if button == CLOSE_APP and kind == "Application Not Responding":
            await self.activities.stop(name)
        elif button == _OPEN_AGAIN and package is not None and package.launcher is not None:
            await self.launch(package)

    async def recents(self) -> None:
        await self.activities.recents(lambda name: self._entry(self.packages.get(name), name))

    async def animate(self, on: bool) -> None:
        if on != self._animated:
            self._animated = on
            await self.display.animate(on)

    async def start(self, intent: Intent, caller: str) -> bool:
        """What a page asks for. Whether there is such an activity."""
        component = self.packages.resolve(intent)
        if component is None:
            return False
        await self.activities.start(component, intent, caller=caller)
        return True

    def state(self) -> dict[str, Any]:
        """For tests: what is in front, what lies below it, the settings, the clipboard."""
        front = self.activities.front.component
        return {
            "package": front.package,
            "activity": front.short.partition("/")[2],
            "tasks": [
                {"package": task.affinity, "activities": [each.component.short for each in task.activities]}
                for task in self.activities.tasks
            ],
            "packages": [each.name for each in self.packages],
            "input_method": self.input_methods.chosen,
            "clipboard": self.clipboard,
            "settings": {each: self.settings.all(each) for each in ("system", "secure", "global")},
            "rotation": self.display.rotation,
            "screen_on": self.display.on,
        }

    # what the display shows of it

    async def _dialog(self, owner: str, title: str, text: str, buttons: Sequence[str]) -> None:
        self._dialogs.pop(title, None)
        self._dialogs[title] = owner
        await self.display.dialog(title, text, buttons)

    def _label(self, name: str) -> str:
        package = self.packages.get(name)
        return package.manifest.label if package else name

    def _entry(self, package: Package | None, name: str = "") -> LauncherEntry:
        from simphone.screen.display import LauncherEntry

        if package is None:
            return LauncherEntry(name, name)
        icon = package.manifest.icon
        if icon.lower().endswith(_PICTURES):
            icon = f"/app/{package.name}/{icon}"
        return LauncherEntry(package.name, package.manifest.label, icon)

    def _publish(self) -> None:
        """The web server finds the pages of every package, and what its state begins with."""
        self._folders.clear()
        for package in self.packages:
            if package.app.pages is not None:
                self._folders[package.name] = package.app.pages
            self.store.initial[package.name] = package.manifest.state

    def _address(self, package: Package, page: str) -> str:
        if page.startswith(("http://", "https://")):
            return page
        return f"{self._url()}/app/{package.name}/{page}"

    async def _show_launcher(self) -> None:
        await self.display.launcher([self._entry(each) for each in self.packages.launchers()])
