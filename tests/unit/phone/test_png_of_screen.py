from __future__ import annotations

import io
import zlib

import pytest
from android_recordings import all_recorded, recorded
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gateway.errors import ScreenshotFailed
from gateway.phone.screenshot import is_black, png_of, png_size


def drawn(
    colour: str = "white", size: tuple[int, int] = (108, 240), box: tuple[int, int, int, int] | None = None
) -> bytes:
    image = Image.new("RGBA", size, colour)
    if box:
        ImageDraw.Draw(image).rectangle(box, fill="white")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


PNG = drawn("teal", (40, 60))
WARNING = (
    b"[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found.\n"
    b'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n'
)


@pytest.mark.parametrize(
    "raw",
    [
        PNG,
        WARNING + PNG,
        b"\r\n" + PNG + b"\r\nmore",
        PNG.replace(b"\n", b"\r\n"),
        WARNING.replace(b"\n", b"\r\n") + PNG.replace(b"\n", b"\r\n"),
        PNG.replace(b"\n", b"\r\r\n"),
    ],
)
def test_the_picture_is_found_and_whole(raw: bytes) -> None:
    assert png_of(raw) == PNG


@pytest.mark.parametrize("name", all_recorded("quoted-screencap-warning*") or ["quoted-screencap-warning"])
def test_recorded_warnings_before_the_picture_are_cut_off(name: str) -> None:
    assert png_of(recorded(name) + PNG) == PNG
    with pytest.raises(ScreenshotFailed, match="Multiple displays"):
        png_of(recorded(name))


def test_a_recorded_usage_text_is_no_picture() -> None:
    with pytest.raises(ScreenshotFailed, match="usage: screencap"):
        png_of(recorded("quoted-screencap-usage--pixel-fold.txt"))


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (b"", "no picture"),
        (b"Error: no display", "Error: no display"),
        (b"\x00\xff" * 99, "198 bytes that are no PNG"),
        (PNG[:-1], "cut off"),
        (PNG[:-12], "cut off"),
        (PNG[:40], "cut off"),
        (PNG[:8], "cut off"),
        (PNG[:60] + bytes([PNG[60] ^ 1]) + PNG[61:], "damaged"),
    ],
)
def test_what_is_no_whole_picture_is_an_error(raw: bytes, cause: str) -> None:
    with pytest.raises(ScreenshotFailed, match=cause) as caught:
        png_of(raw)
    assert caught.value.hint
    assert caught.value.retryable


@given(st.binary(max_size=60), st.integers(0, len(PNG)))
def test_a_cut_picture_never_passes_for_a_whole_one(before: bytes, length: int) -> None:
    if length == len(PNG):
        assert png_of(before + PNG) == PNG
    else:
        with pytest.raises(ScreenshotFailed):
            png_of(before + PNG[:length])


@given(st.binary(max_size=400), st.sampled_from([b"\r\n", b"\r\r\n"]))
def test_what_shells_do_to_line_feeds_is_undone(data: bytes, ending: bytes) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    png = PNG[:33] + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    assert png_of(png.replace(b"\n", ending)) == png


def test_the_size_is_read_from_the_header() -> None:
    assert png_size(PNG[:24]) == (40, 60)
    with pytest.raises(ScreenshotFailed):
        png_size(PNG[:20])


@pytest.mark.parametrize(
    ("png", "black"),
    [
        (drawn("black"), True),
        (drawn("#050505"), True),
        (drawn("#202020"), False),
        (drawn("white"), False),
        (drawn("black", box=(0, 0, 107, 10)), True),  # the status bar
        (drawn("black", box=(0, 230, 107, 239)), True),  # the navigation bar
        (drawn("black", box=(50, 120, 51, 121)), False),
        (drawn("black", (1, 1)), True),
    ],
)
def test_a_picture_is_black_when_nothing_is_to_be_seen_between_the_bars(png: bytes, black: bool) -> None:
    assert is_black(png) == black


def test_a_picture_full_of_detail_is_not_even_decoded() -> None:
    assert not is_black(PNG[:33] + b"\x00" * 60_000)  # no picture at all behind its header
