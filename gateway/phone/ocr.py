"""Elements read from a picture, where the hierarchy tells nothing."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from gateway.errors import DeviceError
from gateway.phone.element import Bounds, Element
from gateway.phone.harmless import harmless
from gateway.phone.reading_order import in_reading_order

REDUCED = 2  # a half-size picture has all that can be read, and takes a third of the time
HALF = 0.5  # of a line's area, on an element: it belongs to it
GROUND = ("canvas", "list")  # what lines stand on without being its name
SURE = 0.5  # of 1: what is read with less confidence is mostly no text

INSTALL = "pip install 'echelon-gateway[ocr]'"

_one_at_a_time = Lock()  # the engine keeps state while it reads, and uses every core by itself


def elements(png: bytes) -> tuple[Element, ...]:
    """The lines of text in a screenshot, in reading order, numbered from 1, with bounds in its pixels.

    Nobody knows which of them can be tapped: `clickable` is None. Raises DeviceError where the `ocr` extra is not
    installed. Takes one to two seconds; the first call loads the models, which takes a second more.
    """
    if find_spec("rapidocr_onnxruntime") is None:
        raise DeviceError("the text in pictures cannot be read: the ocr extra is not installed", hint=INSTALL)
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        pixels = numpy.asarray(image.convert("RGB").reduce(REDUCED))[:, :, ::-1]  # blue first, as OpenCV has it
    with _one_at_a_time:
        found, _ = _engine()(pixels, use_cls=False)  # a screen's lines do not stand on their heads
    lines = [(_bounds(corners), harmless(text)) for corners, text, sure in found or [] if float(sure) >= SURE]
    ordered = in_reading_order([(bounds, (bounds, text)) for bounds, text in lines if text])
    return tuple(
        Element(number, "text", text, bounds, clickable=None) for number, (bounds, text) in enumerate(ordered, 1)
    )


def with_picture(told: Sequence[Element], png: bytes) -> tuple[Element, ...]:
    """What a hierarchy told that tells nothing of the content (`is_blank`), completed by what can be read in the
    screenshot: one list in reading order, numbered anew. Lines that an element says already are left out; a control
    without a name takes the lines on it. Raises as `elements` does."""
    lines = list(elements(png))
    placed: list[Element] = []
    for element in told:
        ground = element.role in GROUND
        on_it = [each for each in lines if not ground and each.bounds.covered_by(element.bounds) > HALF]
        lines = [each for each in lines if each not in on_it]
        named = element.text or element.hint
        placed.append(element if named else replace(element, text=harmless(" · ".join(each.text for each in on_it))))
    ordered = in_reading_order([(each.bounds, each) for each in (*placed, *lines)])
    return tuple(replace(each, number=number) for number, each in enumerate(ordered, 1))


def _bounds(corners: list[list[float]]) -> Bounds:
    """The rectangle around four corners of the reduced picture."""
    xs, ys = zip(*corners, strict=True)
    return Bounds(*(int(REDUCED * edge) for edge in (min(xs), min(ys), max(xs), max(ys))))


@lru_cache(maxsize=1)
def _engine() -> Callable[..., tuple[list[Any] | None, Any]]:
    from rapidocr_onnxruntime import RapidOCR  # type: ignore[import-untyped]

    engine: Callable[..., tuple[list[Any] | None, Any]] = RapidOCR()
    return engine
