"""`svc wifi|data|bluetooth|power …`: says nothing where it does what is asked."""

from __future__ import annotations

from simphone.commands.call import Call

USAGE = """Available commands:
    help     Show information about the subcommands
    power    Control the power manager
    data     Control mobile data connectivity
    wifi     Control the Wi-Fi manager
    bluetooth Control Bluetooth service"""
_SWITCHES = {"wifi": "wifi_on", "data": "mobile_data", "bluetooth": "bluetooth_on"}


async def run(call: Call) -> int:
    what, does, *rest = (*call.words, "", "")
    settings = call.system.settings
    if what in _SWITCHES and does in ("enable", "disable"):
        settings.put("global", _SWITCHES[what], "1" if does == "enable" else "0")
    elif what == "power" and does == "stayon" and rest and rest[0]:
        value = {"true": "7", "false": "0", "ac": "1", "usb": "2", "wireless": "4"}.get(rest[0])
        if value is not None:
            settings.put("global", "stay_on_while_plugged_in", value)
    else:
        await call.complain(USAGE)
        return 1
    return 0
