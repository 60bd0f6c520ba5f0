"""Input methods: which there are, which are enabled, which one is chosen. The settings say it, as on Android."""

from __future__ import annotations

from simphone.system.component import Component
from simphone.system.packages import Packages
from simphone.system.platform import ADB_KEYBOARD, LATIN
from simphone.system.settings import DEFAULTS, Settings

LATIN_IME = f"{LATIN}/.LatinIME"
ADB_IME = f"{ADB_KEYBOARD}/.AdbIME"
_ALL = (LATIN_IME, ADB_IME)
_CHOSEN, _ENABLED = "default_input_method", "enabled_input_methods"


class InputMethods:
    def __init__(self, packages: Packages, settings: Settings) -> None:
        self._packages = packages
        self._settings = settings

    @property
    def installed(self) -> list[str]:
        """Their ids."""
        return [each for each in _ALL if self._packages.get(each.partition("/")[0])]

    @property
    def enabled(self) -> list[str]:
        said = (self._settings.get("secure", _ENABLED) or "").split(":")
        return [each for each in self.installed if each in said]

    @property
    def chosen(self) -> str:
        """Falls back to the on-screen keyboard where the chosen one is gone."""
        said = self._settings.get("secure", _CHOSEN) or ""
        return said if said in self.installed else LATIN_IME

    @property
    def has_keyboard(self) -> bool:
        return self.chosen != ADB_IME

    def find(self, id: str) -> str | None:
        """The id as it is listed, for one in either form."""
        asked = Component.parse(id)
        return next((each for each in self.installed if Component.parse(each) == asked), None)

    def enable(self, id: str) -> None:
        self._settings.put("secure", _ENABLED, ":".join(dict.fromkeys([*self.enabled, id])))

    def disable(self, id: str) -> None:
        self._settings.put("secure", _ENABLED, ":".join(each for each in self.enabled if each != id))
        if self.chosen == id:
            self.choose(LATIN_IME)

    def choose(self, id: str) -> None:
        self._settings.put("secure", _CHOSEN, id)

    def reset(self) -> None:
        for key in (_ENABLED, _CHOSEN):
            self._settings.put("secure", key, DEFAULTS["secure"][key])
