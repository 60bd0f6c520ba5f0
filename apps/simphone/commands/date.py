"""`date [+FORMAT]`: what the phone's clock says."""

from __future__ import annotations

from simphone.commands.call import Call, CommandFailed


async def run(call: Call) -> int:
    now = call.system.now()
    formats = [each[1:] for each in call.words if each.startswith("+")]
    if any(not each.startswith("+") and each != "-u" for each in call.words):
        raise CommandFailed("date: cannot set date: Operation not permitted")
    if formats:
        form = formats[-1].replace("%s", str(int(now.timestamp()))).replace("%N", f"{now.microsecond:06d}000")
        await call.say(now.strftime(form))
    else:
        await call.say(now.strftime("%a %b %e %H:%M:%S UTC %Y"))
    return 0
