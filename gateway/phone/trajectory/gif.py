"""An animated picture of a task on a phone, made from its `trajectory.json` alone: any time after it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from gateway.engine.files import write_atomically
from gateway.errors import UsageError
from gateway.phone.trajectory.film import Film, Frame, frames
from gateway.phone.trajectory.saved import read

STEP_MS, LAST_MS = 1200, 3000
WIDTHS = (360, 240, 160)  # pixels: the next where the file would have more bytes, as with many photographs
MOST_BYTES = 10_000_000


def animate(trajectory: Path, target: Path) -> None:
    """Write the GIF. `trajectory` is a task's folder, or the `trajectory.json` in it. Every step is shown for 1.2 s,
    how it ended for 3 s, for ever again; what failed is red.

    Raises UsageError where there is no trajectory, or nothing in it, and where the target cannot be written.
    """
    shown = frames(read(trajectory))
    if not shown:
        raise UsageError("the trajectory has no steps: there is nothing to show")
    folder = trajectory if trajectory.is_dir() else trajectory.parent
    for width in WIDTHS:
        written = _gif(Film(folder, shown, width), shown)
        if len(written) <= MOST_BYTES:
            break
    try:
        write_atomically(target, written)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", hint="name another file") from error


def _gif(film: Film, shown: Sequence[Frame]) -> bytes:
    from PIL import Image

    palette = film.palette()
    pictures = (film.picture(each).quantize(palette=palette, dither=Image.Dither.NONE) for each in shown)
    durations = [STEP_MS] * (len(shown) - 1) + [LAST_MS]
    written = io.BytesIO()
    next(pictures).save(written, "GIF", save_all=True, append_images=pictures, duration=durations, loop=0)
    return written.getvalue()
