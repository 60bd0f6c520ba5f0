"""Whether an app was started: what `am start` and `monkey` answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.phone.harmless import harmless

LENGTH = 200  # characters of what is quoted

REASONS = (
    ("denied", re.compile(r"Permission Denial|SecurityException|Security exception", re.IGNORECASE)),
    (
        "missing",
        re.compile(
            r"Activity class \{[^}\n]*\} does not exist|unable to resolve Intent|No activities found to run"
            r"|No intents found|Bad component name"
        ),
    ),
    ("missing", re.compile(r"^Error type [23]\b", re.MULTILINE)),
    ("keys", re.compile(r"SYS_KEYS has no physical keys")),
    ("failed", re.compile(r"^Error\b|^[\w.$]+\.\w*(?:Exception|Error)\b|monkey aborted", re.MULTILINE)),
    ("failed", re.compile(r"^ *bash arg: ", re.MULTILINE)),  # `monkey` began, and did not come to its event
)
STARTED = re.compile(r"^Events injected: [1-9]|^Status: ok", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StartFailure:
    """`reason`: missing (no such app or activity), denied (not meant for others to start), keys (`monkey` cannot run on
    a device without physical keys: take `am start`), failed (anything else). `said`: the device's words."""

    reason: str
    said: str


def start_failure_of(said: str) -> StartFailure | None:
    """Of all that `am start` or `monkey` printed; None if the app is in front now. Warnings that it was there before
    are no failure, and neither is an exit code of its own: `monkey` ends with 251 for want of keys."""
    if STARTED.search(said):
        return None
    for reason, pattern in REASONS:
        if found := pattern.search(said):
            start = said.rfind("\n", 0, found.start()) + 1
            return StartFailure(reason, harmless(said[start:].partition("\n")[0], LENGTH))
    return None
