"""What was done to a screen, drawn into its picture: a ring where it was touched, an arrow for a swipe, typed text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gateway.phone.trajectory.lettering import Lettering
from gateway.phone.trajectory.saved import SavedStep

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
Box = tuple[float, float, float, float]

DONE, FAILED, UNCLEAR = (25, 118, 210), (229, 57, 53), (245, 124, 0)
WHITE = (255, 255, 255)
RING, LINE, LETTERS = 0.06, 0.012, 0.045  # of the screen's shorter side
TYPED_LINES = 3


def colour(ok: bool | None) -> Colour:
    """Of what was done, by what came of it."""
    return DONE if ok else UNCLEAR if ok is None else FAILED


def mark(picture: Image, step: SavedStep) -> None:
    """Draw what the step did into an RGB picture of the screen, of whatever scale."""
    from PIL import ImageDraw

    across = picture.width / (step.size[0] or picture.width)
    down = picture.height / (step.size[1] or picture.height)
    pen = _Pen(ImageDraw.Draw(picture), picture.size, colour(step.result.ok))
    points = [(x * across, y * down) for x, y in step.pixels]
    name = step.action.get("action")
    if len(points) == 2:
        pen.arrow(points[0], points[1])
    elif points:
        pen.ring(points[0], twice=name == "double_tap", filled=name == "long_press")
    if name in ("type", "clear"):
        focused = next((each.bounds for each in step.elements or () if "focused" in each.state), None)
        field = None
        if focused is not None:
            field = (focused.left * across, focused.top * down, focused.right * across, focused.bottom * down)
            pen.frame(field)
        pen.label(field, str(step.action.get("text", "")))


class _Pen:
    """Draws in one colour with a white edge, so that it is seen on every ground."""

    def __init__(self, canvas: ImageDraw, size: tuple[int, int], ink: Colour) -> None:
        self._canvas, self._size, self._ink = canvas, size, ink
        self._radius, self._width = RING * min(size), max(round(LINE * min(size)), 1)

    def ring(self, at: Point, *, twice: bool, filled: bool) -> None:
        for radius in (self._radius, 0.55 * self._radius) if twice else (self._radius,):
            self._canvas.ellipse(_square(at, radius + self._width / 2), outline=WHITE, width=2 * self._width)
            self._canvas.ellipse(_square(at, radius), outline=self._ink, width=self._width)
        if not twice:
            self._dot(at, (0.6 if filled else 0.25) * self._radius)

    def arrow(self, start: Point, end: Point) -> None:
        length = math.dist(start, end) or 1.0
        x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        head = 1.2 * self._radius
        for ink, edge in ((WHITE, self._width), (self._ink, 0)):
            neck = end[0] - x * (head + edge / 2), end[1] - y * (head + edge / 2)
            half = 0.6 * head + edge
            sides = [(neck[0] - side * y * half, neck[1] + side * x * half) for side in (1, -1)]
            self._canvas.line([start, neck], fill=ink, width=2 * self._width + edge)
            self._canvas.polygon([(end[0] + x * edge, end[1] + y * edge), *sides], fill=ink)
        self._dot(start, 0.4 * self._radius)

    def frame(self, box: Box) -> None:
        left, top, right, bottom = box
        if right > left and bottom > top:
            self._canvas.rectangle(box, outline=self._ink, width=self._width)

    def label(self, field: Box | None, text: str) -> None:
        """Below the field, or above where there is no room; in the middle of the screen where none is known."""
        width, height = self._size
        letters = Lettering(max(round(LETTERS * min(self._size)), 8))
        gap = letters.size / 2
        lines = letters.wrapped(text, 0.88 * width, TYPED_LINES)
        if not lines:
            return
        long, high = max(map(letters.width, lines)) + 2 * gap, len(lines) * letters.line + gap
        left, top, _, bottom = field or ((width - long) / 2, height / 2, 0, height / 2)
        left = max(min(left, width - long - gap), 0)
        upper = bottom + gap if bottom + gap + high < height else max(top - gap - high, 0)
        self._canvas.rounded_rectangle(
            (left, upper, left + long, upper + high), gap, self._ink, WHITE, max(self._width // 2, 1)
        )
        for number, line in enumerate(lines):
            letters.draw(self._canvas, (left + gap, upper + gap / 2 + (number + 0.5) * letters.line), line, WHITE)

    def _dot(self, at: Point, radius: float) -> None:
        self._canvas.ellipse(_square(at, radius), fill=self._ink, outline=WHITE, width=max(self._width // 2, 1))


def _square(at: Point, radius: float) -> Box:
    return at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius
