"""The frames of an animated picture: a screenshot with what was done drawn in, and a caption below."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.phone.trajectory import saved
from gateway.phone.trajectory.lettering import Lettering
from gateway.phone.trajectory.marks import DONE, FAILED, UNCLEAR, WHITE, Colour, colour, mark
from gateway.phone.trajectory.saved import SavedStep, Trajectory
from gateway.phone.trajectory.words import in_words

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_HEIGHT = 800  # pixels of the screen
PORTRAIT = (1080, 2400)
MARGIN, LETTERS, LINES = 8, 14, 4  # of the caption: pixels, pixels, lines
GROUND, BLANK = (33, 33, 33), (97, 97, 97)
NOTES: dict[bool | None, Colour] = {True: WHITE, False: (255, 138, 128), None: (255, 183, 77)}
SAMPLES, SWATCH = 8, 40  # frames that the palette is made of; pixels of each colour that must be in it


@dataclass(frozen=True)
class Frame:
    """What stands in it; `step` is what was done there, if anything."""

    screenshot: str | None
    caption: str
    note: str
    ok: bool | None
    step: SavedStep | None = None


def frames(trajectory: Trajectory) -> list[Frame]:
    """One for each step, and one for how it ended, which is a FINISH's, too."""
    steps, end = trajectory.steps, trajectory.final_screenshot
    found = []
    for step in steps:
        result = step.result
        caption = f"{step.step}/{len(steps)} · {in_words(step.action, step.target)}"
        note = "" if result.ok else result.note or result.cause
        found.append(Frame(step.screenshot, caption, note, result.ok, step))
    if end is None:
        return found
    if steps and steps[-1].action.get("action") == "FINISH":
        found.pop()
    return [*found, _last(trajectory, end)]


def _last(trajectory: Trajectory, screenshot: str) -> Frame:
    finished = trajectory.finished
    complete = trajectory.status == "complete"
    done = complete and (finished is None or finished.success)
    ended = f"{trajectory.status}: {trajectory.stop_reason}" if trajectory.stop_reason else trajectory.status
    caption = "done" if done else "not done" if complete else ended
    reason = finished.reason if finished is not None else ""
    return Frame(screenshot, caption, trajectory.answer or reason or trajectory.error or "", done)


class Film:
    """Makes pictures of one size from frames, `across` pixels wide; screenshots that are named lie in the folder."""

    def __init__(self, folder: Path, shown: Sequence[Frame], across: int) -> None:
        self._folder, self._frames, self._across = folder, shown, across
        sizes = (each.step.size for each in shown if each.step is not None and all(each.step.size))
        width, height = self._size = next(sizes, PORTRAIT)
        self._height = max(round(height * min(across / width, MOST_HEIGHT / height, 1)), 1)
        self._letters = Lettering(LETTERS)

    def palette(self) -> Image:
        """256 colours that all frames share: what stays the same from one to the next takes no room then."""
        from PIL import Image

        count = len(self._frames)
        chosen = sorted({round(each * (count - 1) / (SAMPLES - 1)) for each in range(SAMPLES)})
        samples = [self.picture(self._frames[each]).reduce(2) for each in chosen]
        width, height = samples[0].size
        sheet = Image.new("RGB", (width * len(samples), height + SWATCH), GROUND)
        for number, sample in enumerate(samples):
            sheet.paste(sample, (number * width, 0))
        for number, ink in enumerate((*NOTES.values(), DONE, FAILED, UNCLEAR)):
            sheet.paste(ink, (number * SWATCH, height, (number + 1) * SWATCH, height + SWATCH))
        return sheet.quantize(256, Image.Quantize.MEDIANCUT)

    def picture(self, frame: Frame) -> Image:
        """RGB; the screen above, four lines below it."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (self._across, self._height + LINES * self._letters.line + 2 * MARGIN), GROUND)
        screen = self._screen(frame)
        screen.thumbnail((self._across, self._height), Image.Resampling.BOX, reducing_gap=1.0)
        picture.paste(screen, ((self._across - screen.width) // 2, (self._height - screen.height) // 2))
        canvas = ImageDraw.Draw(picture)
        if frame.ok is not True:
            canvas.rectangle((0, 0, self._across - 1, self._height - 1), outline=colour(frame.ok), width=3)
        room, letters = self._across - 2 * MARGIN, self._letters
        lines = [(line, WHITE) for line in letters.wrapped(frame.caption, room, LINES // 2)]
        lines += [(line, NOTES[frame.ok]) for line in letters.wrapped(frame.note, room, LINES - len(lines))]
        for number, (line, each) in enumerate(lines):
            letters.draw(canvas, (MARGIN, self._height + MARGIN + (number + 0.5) * letters.line), line, each)
        return picture

    def _screen(self, frame: Frame) -> Image:
        """The screenshot with what was done; a grey one where there is none, or none that can be read."""
        from PIL import Image

        screen = Image.new("RGB", self._size, BLANK)
        data = saved.png(self._folder, frame.screenshot) if frame.screenshot else None
        if data is not None:
            bad = suppress(OSError, SyntaxError, Image.DecompressionBombError)  # as Pillow says it
            with bad, Image.open(io.BytesIO(data), formats=["PNG"]) as image:
                screen = image.convert("RGB")
        if frame.step is not None:
            mark(screen, frame.step)
        return screen
