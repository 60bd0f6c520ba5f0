"""`logcat`: this phone keeps no log, so that there is nothing to wait for either."""

from __future__ import annotations

from simphone.commands.call import Call


async def run(call: Call) -> int:
    if "-g" in call.words:
        ring = "ring buffer is 256 KiB (0 B consumed, 0 B readable), max entry is 5120 B, max payload is 4068 B"
        await call.say(f"main: {ring}")
    return 0
