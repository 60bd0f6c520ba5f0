"""What pages ask of the system."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from simphone.screen.web import CallRefused
from simphone.system.component import Component
from simphone.system.intent import Intent
from simphone.system.system import System

Arguments = Mapping[str, Any]


class Calls:
    """`answer` is what the web server calls; it raises CallRefused with words for the page."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._methods: Mapping[str, Callable[[str, str, Arguments], Awaitable[Any]]] = {
            "start": self._start,
            "finish": self._finish,
            "home": self._home,
            "back": self._back,
            "recents": self._recents,
            "launch": self._launch,
            "settings_get": self._settings_get,
            "settings_put": self._settings_put,
            "property": self._property,
            "recents_choose": self._recents_choose,
            "dialog_choice": self._dialog_choice,
        }

    async def answer(self, package: str, token: str, method: str, args: dict[str, Any]) -> Any:
        found = self._methods.get(method)
        if found is None:
            raise CallRefused(f"there is no call {method}")
        try:
            return await found(package, token, args)
        except KeyError as error:
            raise CallRefused(f"{method}: there is no {error.args[0] if error.args else ''}") from None

    async def _start(self, package: str, token: str, args: Arguments) -> bool:
        asked = str(args.get("component") or args.get("activity") or "")
        extras = args.get("extras")
        intent = Intent(extras=dict(extras) if isinstance(extras, Mapping) else {})
        if "/" in asked or asked.startswith("."):
            intent.component = Component.parse(asked if "/" in asked else f"{package}/{asked}")
        else:
            intent.action = asked
        if not await self._system.start(intent, token):
            raise CallRefused(f"there is no activity {asked}")
        return True

    async def _finish(self, package: str, token: str, args: Arguments) -> None:
        await self._system.activities.finish(token, args.get("result"))

    async def _home(self, package: str, token: str, args: Arguments) -> None:
        await self._system.activities.home()

    async def _back(self, package: str, token: str, args: Arguments) -> None:
        await self._system.activities.back()

    async def _recents(self, package: str, token: str, args: Arguments) -> None:
        await self._system.recents()

    async def _launch(self, package: str, token: str, args: Arguments) -> None:
        found = self._system.packages.get(str(args.get("package")))
        if found is None:
            raise KeyError(args.get("package"))
        await self._system.launch(found)

    async def _settings_get(self, package: str, token: str, args: Arguments) -> str | None:
        return self._system.settings.get(str(args["namespace"]), str(args["key"]))

    async def _settings_put(self, package: str, token: str, args: Arguments) -> None:
        self._system.settings.put(str(args["namespace"]), str(args["key"]), str(args["value"]))
        await self._system.settled()

    async def _property(self, package: str, token: str, args: Arguments) -> str:
        return self._system.properties.get(str(args["name"]), "")

    async def _recents_choose(self, package: str, token: str, args: Arguments) -> None:
        await self._system.activities.choose(str(args["package"]))

    async def _dialog_choice(self, package: str, token: str, args: Arguments) -> None:
        await self._system.dialog_choice(str(args.get("title", "")), str(args.get("button") or ""))
