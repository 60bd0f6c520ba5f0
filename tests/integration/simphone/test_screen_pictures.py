"""Screenshots."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from datetime import datetime

import pytest
import pytest_asyncio
from PIL import Image
from screen_lab import Lab, lab_in

from simphone.screen.display import TIME, LauncherEntry, StatusBar

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("pictures")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    yield running
    await running.display.rotate(0)
    await running.display.theme(False)
    await running.display.set_time(TIME)
    await running.display.dismiss()


def picture(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


async def test_a_screenshot_has_the_phones_pixels(lab: Lab) -> None:
    await lab.show(
        '<body style="margin:0;background:#336699"><div style="width:1px;height:1px;background:#ff0000"></div>'
    )
    seen = picture(await lab.display.screenshot())
    assert seen.size == (1080, 2400) == lab.display.size
    assert seen.getpixel((540, 1200)) == (0x33, 0x66, 0x99)
    assert [seen.getpixel((x, 73)) for x in (0, 2, 3)] == [(255, 0, 0), (255, 0, 0), (0x33, 0x66, 0x99)]


async def test_bounds_are_the_pixels_of_the_picture(lab: Lab) -> None:
    await lab.show(
        '<button id="b" style="position:absolute;left:33px;top:47px;width:101px;height:53px;border:0;'
        'background:#ff0000" aria-label="red"></button>'
    )
    left, top, right, bottom = (await lab.node("b")).bounds
    seen = picture(await lab.display.screenshot())
    red = (255, 0, 0)
    inside = [(left, top), (right - 1, top), (left, bottom - 1), (right - 1, bottom - 1)]
    outside = [(left - 1, top), (right, top), (left, bottom), (right - 1, top - 1)]
    assert [seen.getpixel(at) for at in inside] == [red] * 4
    assert red not in [seen.getpixel(at) for at in outside]


async def test_a_picture_with_fewer_pixels_shows_the_same(lab: Lab) -> None:
    await lab.show(
        '<body style="margin:0;background:#336699">'
        '<div style="position:absolute;left:40px;top:60px;width:100px;height:50px;background:#ff0000"></div>'
    )
    places = [(20, 400), (200, 300), (418, 400), (422, 400), (300, 600), (1000, 700)]
    for turned in (0, 1):
        await lab.display.rotate(turned)
        whole = picture(await lab.display.screenshot())
        half = picture(await lab.display.screenshot(0.5))
        assert half.size == (whole.width // 2, whole.height // 2)
        assert [half.getpixel((x // 2, y // 2)) for x, y in places] == [whole.getpixel(place) for place in places]
        assert picture(await lab.display.screenshot()).tobytes() == whole.tobytes()


async def test_turned_by_a_quarter_everything_is_wide(lab: Lab) -> None:
    await lab.show('<button id="b" onclick="window.hit = innerWidth">Wide</button>')
    await lab.display.rotate(1)
    assert lab.display.size == (2400, 1080)
    assert picture(await lab.display.screenshot()).size == (2400, 1080)
    assert 'rotation="1"' in await lab.display.hierarchy()
    assert (await lab.nodes())[0].bounds == (0, 0, 2400, 1080)
    await lab.tap("b")
    assert await lab.value("window.hit") == 800
    await lab.display.rotate(2)
    assert picture(await lab.display.screenshot()).size == (1080, 2400)


async def test_the_same_state_is_the_same_picture_to_the_byte(lab: Lab) -> None:
    await lab.show('<input id="q" value="text"><button>Go</button>')
    await lab.tap("q")
    first = await lab.display.screenshot()
    await lab.value("new Promise((done) => setTimeout(done, 1200))")  # a caret would have blinked
    assert await lab.display.screenshot() == first
    await lab.display.front(None)
    assert await lab.display.screenshot() != first
    await lab.display.front("w")
    await lab.tap("q")
    assert await lab.display.screenshot() == first


async def test_the_clock_shows_the_time_that_is_set_and_pages_have_it_too(lab: Lab) -> None:
    await lab.show("<p>Page</p>", app=True)
    before = await lab.display.screenshot()
    await lab.display.set_time(datetime(2027, 1, 2, 3, 4))
    assert await lab.display.screenshot() != before
    assert await lab.value("[phone.now().getFullYear(), phone.now().getHours(), phone.now().getMinutes()]") == [
        2027,
        3,
        4,
    ]
    await lab.display.set_time(None)
    assert abs(await lab.value("phone.now() - new Date()")) < 1000


async def test_the_icons_of_the_status_bar(lab: Lab) -> None:
    await lab.display.status(StatusBar())
    usual = await lab.display.screenshot()
    pictures = {usual}
    for shown in (StatusBar(wifi=False), StatusBar(airplane=True), StatusBar(bluetooth=True), StatusBar(battery=7)):
        await lab.display.status(shown)
        pictures.add(await lab.display.screenshot())
    assert len(pictures) == 5
    await lab.display.status(StatusBar())
    assert await lab.display.screenshot() == usual


async def test_off_is_black(lab: Lab) -> None:
    await lab.display.power(False)
    off = picture(await lab.display.screenshot())
    assert (off.size, off.getextrema()) == ((1080, 2400), ((0, 0), (0, 0), (0, 0)))
    await lab.display.power(True)
    assert picture(await lab.display.screenshot()).getextrema() != off.getextrema()


async def test_dark_reaches_every_document_also_those_that_come_later(lab: Lab) -> None:
    inner = lab.write("<p>Inner")
    await lab.show(f'<iframe src="{inner}"></iframe>', app=True)
    theme = "[document, frames[0].document].map((each) => each.documentElement.dataset.theme ?? '')"
    light = picture(await lab.display.screenshot()).getpixel((540, 2000))
    await lab.display.theme(True)
    assert await lab.value(theme) == ["dark", "dark"]
    assert await lab.value("matchMedia('(prefers-color-scheme: dark)').matches") is True
    dark = picture(await lab.display.screenshot()).getpixel((540, 2000))
    assert isinstance(light, tuple) and isinstance(dark, tuple) and sum(dark) < 150 < 600 < sum(light)
    await lab.show(f'<iframe src="{inner}"></iframe>', app=True)
    assert await lab.value(theme) == ["dark", "dark"]
    await lab.display.theme(False)
    assert await lab.value(theme) == ["", ""]


async def test_an_animation_never_comes_to_rest(lab: Lab) -> None:
    await lab.show("<p>Page</p>")
    await lab.display.animate(True)
    pictures = set()
    for _ in range(4):
        pictures.add(await lab.display.screenshot())
        await lab.value("new Promise((done) => setTimeout(done, 50))")
    assert len(pictures) > 2
    assert await lab.texts() == ["Page"]
    await lab.display.animate(False)
    assert await lab.display.screenshot() == await lab.display.screenshot()


async def test_icons_are_shown_where_they_load(lab: Lab) -> None:
    (lab.pages / "icon.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4" fill="#00ff00"/></svg>'
    )
    await lab.display.launcher([LauncherEntry("org.a", "A", "/app/org.example.page/icon.svg")])
    await lab.display.front(None)
    await lab.display._browser.evaluate("document.querySelector('.face img').decode()")
    left, top, right, _ = (await lab.node("A")).bounds
    assert picture(await lab.display.screenshot()).getpixel(((left + right) // 2, top + 90)) == (0, 255, 0)
    assert json.dumps(await lab.texts()) == '["A"]'
