"""`pidof NAME…`: processes of apps."""

from __future__ import annotations

from simphone.commands.call import Call


async def run(call: Call) -> int:
    found = [str(pid) for each in call.words if (pid := call.system.activities.running(each)) is not None]
    if not found:
        return 1
    await call.say(" ".join(found))
    return 0
