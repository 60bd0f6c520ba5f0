"""The list of devices that the adb server gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

STATES = "device|offline|unauthorized|authorizing|connecting|recovery|rescue|sideload|bootloader|host|no permissions"
SEEN = r"[^\s\x00-\x1f\x7f-\x9f]"  # what a device says of itself may be meant for the terminal
# A serial that mDNS made may have ` (2)` in it. Messages of the server that land in the list begin otherwise.
LINE = re.compile(
    rf"^(?P<serial>{SEEN}*(?!:){SEEN}(?: \(\d+\){SEEN}*)?)[ \t]+"
    rf"(?P<state>{STATES})(?: *[(;].*?)?(?P<details>(?: +\w+:\S*)*)[ \t]*$",
    re.MULTILINE,
)
DETAIL = re.compile(rf"(\w+):({SEEN}*)")


@dataclass(frozen=True, slots=True)
class Listed:
    """`state` is adb's word: device (ready), offline, unauthorized, no permissions, …; `details` are of the long list:
    usb, product, model, device, transport_id."""

    serial: str
    state: str
    details: Mapping[str, str] = field(default_factory=dict)


def devices_of(listed: str) -> tuple[Listed, ...]:
    """`adb devices`, with or without `-l`, or the server's answer to `host:devices-l`: messages in between are passed
    over."""
    return tuple(
        Listed(found["serial"], found["state"], dict(DETAIL.findall(found["details"] or "")))
        for found in LINE.finditer(listed.replace("\r", ""))
    )
