"""`id` and `whoami`: who adb's shell is."""

from __future__ import annotations

from simphone.commands.call import Call

_GROUPS = "1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3003(inet),3009(readproc)"


async def id(call: Call) -> int:
    short = {"-u": "2000", "-g": "2000", "-un": "shell", "-gn": "shell"}.get(" ".join(call.words))
    groups = f"2000(shell),{_GROUPS} context=u:r:shell:s0"
    await call.say(short or f"uid=2000(shell) gid=2000(shell) groups={groups}")
    return 0


async def whoami(call: Call) -> int:
    await call.say("shell")
    return 0
