from __future__ import annotations

import io
import sys
from importlib.util import find_spec

import pytest
from PIL import Image, ImageDraw, ImageFont

from gateway.errors import DeviceError
from gateway.phone import ocr
from gateway.phone.elements import Bounds, Element


def picture(lines: dict[tuple[int, int], str]) -> bytes:
    """A white screen with lines of dark text at these places."""
    image = Image.new("RGB", (1080, 1200), "white")
    draw = ImageDraw.Draw(image)
    for place, text in lines.items():
        draw.text(place, text, fill="black", font=ImageFont.load_default(size=56))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


needs_ocr = pytest.mark.skipif(find_spec("rapidocr_onnxruntime") is None, reason="the ocr extra is not installed")


@needs_ocr
def test_lines_of_a_picture_are_elements_in_reading_order() -> None:
    elements = ocr.elements(picture({(700, 500): "Cancel", (80, 100): "Delete this note?", (80, 500): "Delete"}))
    assert [each.text for each in elements] == ["Delete this note?", "Delete", "Cancel"]
    assert [each.number for each in elements] == [1, 2, 3]
    assert {(each.role, each.clickable) for each in elements} == {("text", None)}
    x, y = elements[2].bounds.centre
    assert 690 < x < 950 and 490 < y < 590


@needs_ocr
def test_a_picture_without_text_has_no_elements() -> None:
    assert ocr.elements(picture({})) == ()


@needs_ocr
def test_a_blank_screen_is_completed_by_its_picture() -> None:
    png = picture({(60, 30): "example.org", (80, 400): "Opening hours", (80, 800): "Send"})
    told = (
        Element(1, "button", "example.org", Bounds(40, 20, 500, 110), clickable=True),
        Element(2, "canvas", "Web View", Bounds(0, 120, 1080, 1200)),
        Element(3, "button", "", Bounds(60, 780, 400, 900), clickable=True),
    )
    elements = ocr.with_picture(told, png)
    assert [(each.number, each.role, each.text) for each in elements] == [
        (1, "button", "example.org"),
        (2, "canvas", "Web View"),
        (3, "text", "Opening hours"),
        (4, "button", "Send"),
    ]


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    with pytest.raises(DeviceError) as caught:
        ocr.elements(picture({}))
    assert "echelon-gateway[ocr]" in caught.value.hint
