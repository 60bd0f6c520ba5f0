"""What each service prints of itself; forms as of Android 14."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from simphone.commands.dumps import activity, battery, display, input, input_method, packages, power, surface, window
from simphone.commands.dumps.snapshot import Snapshot

Dump = Callable[[Snapshot, Sequence[str]], str]

SERVICES: Mapping[str, Dump] = {
    "SurfaceFlinger": surface.dump,
    "activity": activity.dump,
    "battery": battery.dump,
    "display": display.dump,
    "input": input.dump,
    "input_method": input_method.dump,
    "package": packages.service,
    "power": power.dump,
    "window": window.dump,
}
