"""`cmd SERVICE …`: the same commands, asked of the service that carries them out."""

from __future__ import annotations

from collections.abc import Mapping

from simphone.commands.call import UNKNOWN, Call, Command, CommandFailed

_NO_SERVICE = 20
_NIGHT = {"yes": "2", "no": "1", "auto": "0"}


def command(services: Mapping[str, Command]) -> Command:
    async def run(call: Call) -> int:
        words = [each for each in call.words if each != "-w"]
        if not words:
            raise CommandFailed("cmd: No service specified; use -l to list all running services. Use -w to start.", 20)
        if words[0] == "-l":
            await call.say("\n".join(("Currently running services:", *(f"  {each}" for each in sorted(services)))))
            return 0
        found = services.get(words[0])
        if found is None:
            raise CommandFailed(f"cmd: Can't find service: {words[0]}", _NO_SERVICE)
        return await found(call.as_command(words[0], *words[1:]))

    return run


async def _status_bar(call: Call) -> int:
    """There are no notifications to pull down."""
    return 0 if call.words else UNKNOWN


async def _night(call: Call) -> int:
    words = call.words
    if words[:1] != ["night"]:
        raise CommandFailed("UiModeManager service (uimode) commands:\n  night [yes|no|auto]", UNKNOWN, to_output=True)
    settings = call.system.settings
    if len(words) > 1:
        if words[1] not in _NIGHT:
            raise CommandFailed("Error: mode must be 'yes', 'no', or 'auto'", UNKNOWN)
        settings.put("secure", "ui_night_mode", _NIGHT[words[1]])
    mode = settings.get("secure", "ui_night_mode")
    await call.say(f"Night mode: {next((name for name, value in _NIGHT.items() if value == mode), 'unknown')}")
    return 0


OWN: Mapping[str, Command] = {"statusbar": _status_bar, "uimode": _night}
"""Services that have no command of their own."""
