"""`wm`: the size, density and rotation of the display."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed
from simphone.system.viewport import read_size

USAGE = """Window manager (window) commands:
  help
      Print this help text.
  size [reset|WxH|WdpxHdp] [-d DISPLAY_ID]
    Return or override display size.
  density [reset|DENSITY] [-d DISPLAY_ID] [-u UNIQUE_ID]
    Return or override display density.
  user-rotation [-d DISPLAY_ID] [free|lock] [rotation]
    Return or override user rotation.
  dismiss-keyguard
    Dismiss the keyguard, prompting user for auth if necessary."""


async def run(call: Call) -> int:
    words = [each for at, each in enumerate(call.words) if each != "-d" and (at == 0 or call.words[at - 1] != "-d")]
    if not words or words[0] in ("help", "-h"):
        await call.say(USAGE)
        return UNKNOWN
    if words[0] == "size":
        await _size(call, words[1:])
    elif words[0] == "density":
        await _density(call, words[1:])
    elif words[0] in ("user-rotation", "set-user-rotation"):
        await _rotation(call, words[1:])
    elif words[0] == "dismiss-keyguard":
        pass
    elif words[0] in ("fixed-to-user-rotation", "set-fix-to-user-rotation"):
        if len(words) == 1:
            await call.say("default")
    else:
        raise CommandFailed(f"Unknown command: {words[0]}", UNKNOWN, to_output=True)
    return 0


async def _size(call: Call, words: list[str]) -> None:
    viewport = call.system.viewport
    if words:
        size = None if words[0] == "reset" else read_size(words[0])
        if size is None and words[0] != "reset":
            raise CommandFailed(f"Error: bad size {words[0]}", UNKNOWN)
        viewport.forced = size
        return
    lines = ["Physical size: {}x{}".format(*viewport.physical)]
    if viewport.forced is not None:
        lines.append("Override size: {}x{}".format(*viewport.forced))
    await call.say("\n".join(lines))


async def _density(call: Call, words: list[str]) -> None:
    """The physical one can be set and reset, nothing else."""
    physical = str(call.system.display.density)
    if not words:
        await call.say(f"Physical density: {physical}")
    elif words[0] not in ("reset", physical):
        raise CommandFailed("Error: the density of this phone cannot be changed", UNKNOWN)


async def _rotation(call: Call, words: list[str]) -> None:
    settings = call.system.settings
    if not words:
        held = settings.get("system", "accelerometer_rotation") == "1"
        await call.say("free" if held else f"lock {call.system.display.rotation}")
    elif words[0] == "free":
        settings.put("system", "accelerometer_rotation", "1")
    elif words[0] == "lock":
        turned = words[1] if len(words) > 1 else str(call.system.display.rotation)
        if turned not in ("0", "1", "2", "3"):
            raise CommandFailed(f"Error: rotation argument must be 0, 1, 2 or 3: {turned}", UNKNOWN)
        settings.put("system", "user_rotation", turned)
        settings.put("system", "accelerometer_rotation", "0")
    else:
        raise CommandFailed(f"Error: lock mode needs to be either free or lock: {words[0]}", UNKNOWN)
