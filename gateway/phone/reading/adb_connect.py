"""What `adb connect`, `adb pair` and `adb disconnect` answer: strings, and mostly exit code 0."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.phone.harmless import harmless

LENGTH = 200  # characters of what is quoted

ANSWERS = (  # the first that is found counts
    ("already", re.compile(r"^already connected to ", re.MULTILINE)),
    ("unauthorized", re.compile(r"^failed to authenticate to |device unauthorized", re.MULTILINE)),
    ("connected", re.compile(r"^connected to ", re.MULTILINE)),
    ("paired", re.compile(r"^Successfully paired to ", re.MULTILINE)),
    ("disconnected", re.compile(r"^disconnected ", re.MULTILINE)),
    ("code", re.compile(r"^(?:adb: )?[Ff]ailed: (?:Wrong password|.*pairing code)", re.MULTILINE)),
    ("too_old", re.compile(r"unknown command (?:pair|connect)|unknown host service")),
    ("refused", re.compile(r"Connection refused|\(10061\)")),
    ("silent", re.compile(r"timed out|\(10060\)|connection attempt failed")),
    ("unreachable", re.compile(r"No route to host|Network is unreachable|Host is down")),
    ("unknown", re.compile(r"failed to resolve host|no host in |Name or service not known|usage: adb|empty host")),
)
MESSAGE = re.compile(r"^\*|^adb server version", re.MULTILINE)

HINTS = {
    "already": "it may still be offline: disconnect, connect, then ask for its state",
    "unauthorized": "unlock the phone and allow this computer in the dialog that it shows",
    "code": "the code is shown anew at each try: Developer options, Wireless debugging, Pair device with pairing code",
    "too_old": "this adb is older than Android's wireless debugging: version 30 or later pairs",
    "refused": "nothing listens there: the port changes whenever wireless debugging is switched on; look it up on the "
    "phone, or set a fixed one over USB: adb tcpip 5555",
    "silent": "the phone may sleep or be in another network: wake it, and connect both to the same WiFi",
    "unreachable": "the phone may be in another network: connect both to the same WiFi",
    "unknown": "give it as HOST:PORT, as the phone shows it under Wireless debugging",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome`: connected, already (connected before, and perhaps offline), paired, disconnected, or why it failed:
    unauthorized, code (wrong, or run out), too_old, refused, silent, unreachable, unknown (host or form), failed.
    `said`: adb's words; `hint`: what helps."""

    outcome: str
    said: str
    hint: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome in ("connected", "already", "paired", "disconnected")


def answer_of(said: str) -> Answer:
    """Of all that was printed; the server's own messages before it are passed over."""
    lines = [line for line in said.splitlines() if line.strip() and not MESSAGE.match(line)]
    words = harmless(" ".join(lines), LENGTH) or "adb said nothing"
    for outcome, pattern in ANSWERS:
        if pattern.search("\n".join(lines)):
            return Answer(outcome, words, HINTS.get(outcome, ""))
    return Answer("failed", words)
