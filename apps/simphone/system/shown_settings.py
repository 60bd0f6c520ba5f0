"""Settings that can be seen: rotation, theme, keyboard, status bar. The display follows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from simphone.system.input_methods import InputMethods
from simphone.system.settings import Settings

if TYPE_CHECKING:
    from simphone.screen.display import Display


class ShownSettings:
    """`settled` waits until what was changed is shown; a change from another thread is waited for at once."""

    def __init__(self, display: Display, settings: Settings, input_methods: InputMethods) -> None:
        self._display = display
        self._settings = settings
        self._input_methods = input_methods
        self._loop: asyncio.AbstractEventLoop | None = None
        self._following: set[asyncio.Task[None]] = set()
        settings.changed = self._changed

    async def show(self) -> None:
        """All of them."""
        self._loop = asyncio.get_running_loop()
        for show in (self._rotate, self._theme, self._keyboard, self._status):
            await show()

    async def settled(self) -> None:
        while self._following:
            await asyncio.gather(*self._following, return_exceptions=True)

    def _changed(self, namespace: str, key: str, value: str | None) -> None:
        if key in ("user_rotation", "accelerometer_rotation"):
            self._follow(self._rotate)
        elif key == "ui_night_mode":
            self._follow(self._theme)
        elif key == "default_input_method":
            self._follow(self._keyboard)
        elif namespace == "global":
            self._follow(self._status)

    def _follow(self, show: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            if self._loop is not None:  # else the phone does not run yet
                asyncio.run_coroutine_threadsafe(show(), self._loop).result()
            return
        task = loop.create_task(show())
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _rotate(self) -> None:
        """The phone is held upright: it turns only when that is asked for."""
        said = self._settings.get("system", "user_rotation") or "0"
        held = self._settings.get("system", "accelerometer_rotation") == "1"
        wanted = int(said) if said in ("1", "2", "3") and not held else 0
        if wanted != self._display.rotation:
            await self._display.rotate(wanted)

    async def _theme(self) -> None:
        await self._display.theme(self._settings.get("secure", "ui_night_mode") == "2")

    async def _keyboard(self) -> None:
        await self._display.allow_keyboard(self._input_methods.has_keyboard)

    async def _status(self) -> None:
        from simphone.screen.display import StatusBar

        def on(key: str) -> bool:
            return self._settings.get("global", key) == "1"

        airplane = on("airplane_mode_on")
        await self._display.status(
            StatusBar(
                wifi=on("wifi_on"),
                mobile=on("mobile_data") and not airplane,
                airplane=airplane,
                bluetooth=on("bluetooth_on"),
            )
        )
