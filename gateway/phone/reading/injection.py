"""How `input` fails: taps, keys and texts that did not arrive."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.phone.harmless import harmless

LENGTH = 200  # characters of what is quoted

# The reason, and the words that tell it; the first that is found counts. What the shell says of a missing program is
# told by its exit code.
REASONS = (
    ("denied", re.compile(r"INJECT_EVENTS|SecurityException")),
    ("characters", re.compile(r"NullPointerException: Attempt to get length of null array")),
    ("killed", re.compile(r"^Killed\s*$", re.MULTILINE)),
    (
        "unknown",
        re.compile(r"^(?:Error: )?(?:Unknown|Invalid) (?:command|arguments)\b|^[Uu]sage: input\b", re.MULTILINE),
    ),
    ("failed", re.compile(r"^(?:[\w.$]+\.\w*(?:Exception|Error)\b|Error:|Exception occurred)", re.MULTILINE)),
)


@dataclass(frozen=True, slots=True)
class InputFailure:
    """`reason`: denied (the vendor forbids it), characters (the keyboard layout has no keys for the text), killed (the
    same on some devices), unknown (too old for the command), failed (anything else). `said`: the device's words."""

    reason: str
    said: str


def input_failure_of(said: str) -> InputFailure | None:
    """Of all that `input` printed, on both streams; None if nothing is wrong: what arrives makes no words."""
    for reason, pattern in REASONS:
        if found := pattern.search(said):
            start = said.rfind("\n", 0, found.start()) + 1
            line = said[start:].partition("\n")[0]
            return InputFailure(reason, harmless(line, LENGTH))
    return None
