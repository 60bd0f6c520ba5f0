"""The commands by name, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simphone.commands import (
    CommandIO,
    am,
    cmd,
    date,
    dumpsys,
    getprop,
    identity,
    ime,
    logcat,
    monkey,
    pidof,
    pm,
    screencap,
    settings,
    svc,
    uiautomator,
    wm,
)
from simphone.commands.call import Call, Command, CommandFailed
from simphone.commands.input import Input
from simphone.system.system import System

_NOT_FOUND = 127


class CommandTable:
    """What `simphone.commands.Commands` asks for."""

    names: frozenset[str]

    def __init__(self, system: System) -> None:
        self._system = system
        binder: dict[str, Command] = {
            "activity": am.run,
            "package": pm.run,
            "input": Input().run,
            "window": wm.run,
            "settings": settings.run,
            "input_method": ime.run,
            **cmd.OWN,
        }
        self._commands: Mapping[str, Command] = {
            "am": am.run,
            "date": date.run,
            "getprop": getprop.run,
            "id": identity.id,
            "logcat": logcat.run,
            "pidof": pidof.run,
            "setprop": getprop.put,
            "whoami": identity.whoami,
            "cmd": cmd.command(binder),
            "dumpsys": dumpsys.run,
            "ime": ime.run,
            "input": binder["input"],
            "monkey": monkey.run,
            "pm": pm.run,
            "screencap": screencap.run,
            "settings": settings.run,
            "svc": svc.run,
            "uiautomator": uiautomator.run,
            "wm": wm.run,
        }
        self.names = frozenset(self._commands)

    async def run(self, argv: Sequence[str], io: CommandIO) -> int:
        """The exit code. Raises nothing but what the streams raise, and cancellation."""
        call = Call(self._system, tuple(argv), io)
        command = self._commands.get(argv[0]) if argv else None
        if command is None:
            await call.complain(f"/system/bin/sh: {argv[0] if argv else ''}: inaccessible or not found")
            return _NOT_FOUND
        try:
            await self._before(call)
            code = await command(call)
            await self._system.settled()
            await self._after(call)
            return code
        except CommandFailed as failed:
            await (call.say if failed.to_output else call.complain)(failed.text)
            return failed.code
        except ConnectionError:
            raise
        except Exception as error:
            await call.complain(f"{argv[0]}: the simulation failed: {type(error).__name__}: {error}")
            return 1

    async def _before(self, call: Call) -> None:
        """What happens to the phone while nobody looks."""
        if call.fault("screen_off"):
            await self._system.display.power(False)
        if fault := call.fault("popup"):
            await self._system.popup(fault.text or "The battery is low.")

    async def _after(self, call: Call) -> None:
        """What a command's effect brings about."""
        if fault := call.fault("app_crash"):
            await self._system.crash(fault.text or self._system.activities.front.component.package)
        if fault := call.fault("app_anr"):
            await self._system.hang(fault.text or self._system.activities.front.component.package)
