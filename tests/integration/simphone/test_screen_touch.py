"""Touches reach pages as a phone's browser hands them on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from screen_lab import Lab, lab_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEARD = """
<script>
  window.heard = [];
  const on = (element, ...types) => types.forEach((type) =>
    element.addEventListener(type, (event) => heard.push(`${event.type} ${event.currentTarget.id ?? ""}`.trim())));
</script>
"""
BOX = '<div id="box" style="position:absolute;left:100px;top:200px;width:120px;height:90px;background:#cde"></div>'
ROWS = "".join(f'<div id="row{n}" style="height:50px">Row {n}</div>' for n in range(60))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("touch")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    running.calls.clear()
    yield running
    await running.display.dismiss()
    assert list(running.display.page_errors) == []


async def test_a_tap_is_touch_pointer_and_mouse_in_a_phones_order(lab: Lab) -> None:
    types = "touchstart touchend pointerdown pointerup mousedown mouseup click"
    await lab.show(HEARD + BOX + f"<script>on(box, ...'{types}'.split(' '))</script>")
    await lab.display.tap(400, 800)
    assert (await lab.value("heard.join(', ')")).replace(" box", "") == (
        "pointerdown, touchstart, pointerup, touchend, mousedown, mouseup, click"
    )


async def test_a_tap_hits_the_pixel_it_names(lab: Lab) -> None:
    await lab.show(BOX + "<script>window.hits = []; box.onclick = (e) => hits.push([e.clientX, e.clientY])</script>")
    for x, y in [
        (297, 700),
        (660, 700),
        (400, 669),
        (400, 942),
    ]:  # beside the box; the page is below a bar of 72 pixels
        await lab.display.tap(x, y)
    assert await lab.value("hits") == []
    await lab.display.tap(300, 672)
    await lab.display.tap(659, 941)
    assert await lab.value("hits.map((at) => at.map(Math.floor))") == [[100, 200], [219, 289]]


async def test_a_page_for_the_mouse_alone_can_be_used(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'mousedown', 'mouseup')</script>")
    await lab.display.tap(400, 800)
    assert await lab.value("heard") == ["mousedown box", "mouseup box"]


async def test_two_taps_are_a_double_click(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'dblclick')</script>")
    await lab.display.tap(400, 800)
    await lab.display.tap(400, 800)
    assert await lab.value("heard") == ["dblclick box"]


async def test_touches_reach_frames_in_frames_and_scaled_windows(lab: Lab) -> None:
    inner = lab.write('<body style="margin:0"><button id="b" style="width:80px;height:40px">In</button>')
    outer = lab.write(f'<body style="margin:0"><iframe src="{inner}" style="border:5px solid;margin:20px"></iframe>')
    await lab.display.open("zoomed", outer, "org.example.page", zoom=2)
    await lab.value("frames[0].document.body.onclick = (event) => { window.hit = event.target.id }; 0")
    left, top, right, bottom = (await lab.node("b")).bounds
    assert (right - left, bottom - top) == (80 * 2 * 3, 40 * 2 * 3)
    await lab.display.tap(left + 3, top + 3)
    assert await lab.value("window.hit") == "b"
    await lab.value("window.hit = ''")
    await lab.display.tap(left - 4, top + 3)
    assert await lab.value("window.hit") == ""


@pytest.mark.parametrize("distance", [30, 300, 1299])
async def test_the_content_follows_the_finger_exactly_and_stops_with_it(lab: Lab, distance: int) -> None:
    await lab.show(f"<style>body {{ margin: 0; overflow-y: auto }}</style>{ROWS}")
    (_, before, _, _) = (await lab.node("row8")).bounds
    await lab.display.swipe(500, 1700, 500, 1700 - distance, 100)
    if distance <= before - 72:
        assert (await lab.node("row8")).bounds[1] == before - distance
    assert await lab.value("document.scrollingElement.scrollTop") == pytest.approx(distance / 3, abs=0.34)
    await lab.display.swipe(500, 400, 500, 400 + distance, 100)
    assert await lab.value("document.scrollingElement.scrollTop") == pytest.approx(0, abs=0.34)


async def test_a_list_in_a_page_scrolls_within_its_bounds_and_then_the_page_does(lab: Lab) -> None:
    await lab.show(
        "<style>body { margin: 0 } #list { height: 300px; overflow-y: auto }</style>"
        f'<div id="list">{ROWS}</div><div style="height:2000px"></div>'
    )
    most = await lab.value("list.scrollHeight - list.clientHeight")
    for _ in range(20):
        if await lab.value("list.scrollTop") >= most - 1:
            break
        await lab.display.swipe(500, 900, 500, 200, 60)
    assert await lab.value("[list.scrollTop, document.scrollingElement.scrollTop]") == [most, 0]
    await lab.display.swipe(500, 900, 500, 600, 60)
    assert await lab.value("Math.round(document.scrollingElement.scrollTop)") == 100


async def test_a_frame_that_cannot_scroll_scrolls_the_page_around_it(lab: Lab) -> None:
    inner = lab.write('<body style="margin:0"><p>Inside')
    frame = f'<iframe src="{inner}" style="width:180px;height:100px;transform:scale(2);transform-origin:0 0"></iframe>'
    await lab.show(f'<body style="margin:0">{frame}{ROWS}')
    await lab.display.swipe(300, 500, 300, 200, 60)
    assert await lab.value("document.scrollingElement.scrollTop") == pytest.approx(100, abs=0.34)


async def test_a_swipe_sideways_scrolls_sideways(lab: Lab) -> None:
    await lab.show('<div id="strip" style="overflow-x:auto"><div style="width:2000px;height:100px">x</div></div>')
    await lab.display.swipe(900, 200, 300, 220, 60)
    assert await lab.value("strip.scrollLeft") == pytest.approx(200, abs=0.34)


async def test_a_swipe_is_no_click(lab: Lab) -> None:
    await lab.show(HEARD + f"<div id=all>{ROWS}</div><script>on(all, 'click')</script>")
    await lab.display.swipe(500, 1500, 500, 1300, 60)
    assert await lab.value("heard") == []


async def test_a_page_that_takes_the_touch_for_itself_does_not_scroll(lab: Lab) -> None:
    await lab.show(
        f'<div id="own" style="touch-action:none;height:300px">own</div>'
        f'<div id="other" style="height:300px">other</div>{ROWS}'
        "<script>window.moves = []; own.onpointermove = (event) => moves.push(Math.round(event.clientY));"
        "other.addEventListener('touchmove', (event) => event.preventDefault(), { passive: false })</script>"
    )
    await lab.display.swipe(500, 900, 500, 300, 60)
    await lab.display.swipe(500, 1800, 500, 1200, 60)
    assert await lab.value("document.scrollingElement.scrollTop") == 0
    assert (await lab.value("moves"))[-1] == (300 - 72) / 3


async def test_a_long_press_opens_the_pages_menu_and_is_no_click(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'contextmenu', 'click')</script>")
    assert (await lab.node("box")).is_("long-clickable")
    await lab.display.swipe(400, 800, 400, 800, 700)
    assert await lab.value("heard") == ["contextmenu box"]
    await lab.display.tap(400, 800)
    assert await lab.value("heard") == ["contextmenu box", "click box"]


async def test_a_short_swipe_in_place_is_a_tap(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'contextmenu', 'click')</script>")
    await lab.display.swipe(400, 800, 402, 801, 100)
    assert await lab.value("heard") == ["click box"]


DRAG = """
<div id="box" style="position:absolute;left:20px;top:20px;width:80px;height:80px;background:#cde"></div>
<script>
  let from = null;
  box.addEventListener("%s", (event) => { from = at(event); });
  addEventListener("%s", (event) => {
    if (from) {
      box.style.left = `${20 + at(event)[0] - from[0]}px`;
      box.style.top = `${20 + at(event)[1] - from[1]}px`;
    }
    if (event.cancelable) event.preventDefault();
  }, { passive: false });
  addEventListener("%s", () => { from = null; });
  const at = (event) => { const on = event.touches ? event.touches[0] : event; return [on.clientX, on.clientY]; };
</script>
"""


@pytest.mark.parametrize(
    "events", [("mousedown", "mousemove", "mouseup"), ("touchstart", "touchmove", "touchend")], ids=["mouse", "touch"]
)
async def test_a_drag_moves_things_in_pages_for_the_mouse_and_for_touches(lab: Lab, events: tuple[str, ...]) -> None:
    await lab.show(DRAG % events)
    await lab.display.drag(150, 250, 750, 1150)
    assert await lab.value("[box.style.left, box.style.top]") == ["220px", "320px"]


async def test_a_drag_is_htmls_drag_and_drop(lab: Lab) -> None:
    await lab.show(
        '<div id="from" draggable="true" style="width:100px;height:100px;background:#cde">A</div>'
        '<div id="to" style="width:100px;height:100px;background:#edc">B</div><script>'
        "from.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'A');"
        "to.ondragover = (event) => event.preventDefault();"
        "to.ondrop = (event) => { window.dropped = event.dataTransfer.getData('text/plain'); }</script>"
    )
    await lab.display.drag(150, 200, 150, 540)
    assert await lab.value("window.dropped") == "A"


async def test_a_slider_of_the_page_follows_the_finger(lab: Lab) -> None:
    await lab.show('<input id="level" type="range" min="0" max="100" value="0" style="width:300px;margin:20px">')
    left, top, right, bottom = (await lab.node("level")).bounds
    middle = (top + bottom) // 2
    await lab.display.swipe(left + 24, middle, (left + right) // 2, middle, 100)
    assert await lab.value("Math.abs(level.value - 50) < 6")


async def test_nothing_is_touched_while_the_screen_is_off(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'click', 'touchstart')</script>")
    await lab.display.power(False)
    await lab.display.tap(400, 800)
    await lab.display.drag(400, 800, 500, 900)
    await lab.display.power(True)
    assert await lab.value("heard") == []
    await lab.display.tap(400, 800)
    assert await lab.value("heard") == ["touchstart box", "click box"]


async def test_a_picture_taken_meanwhile_does_not_lead_a_touch_astray(lab: Lab) -> None:
    await lab.show(BOX + "<script>window.hits = 0; box.onclick = () => hits++</script>")
    for _ in range(5):
        await asyncio.gather(lab.display.screenshot(), lab.display.tap(400, 800), lab.display.screenshot())
    assert await lab.value("hits") == 5


async def test_a_swipe_that_nobody_waits_for_any_more_ends_all_the_same(lab: Lab) -> None:
    await lab.show(HEARD + BOX + "<script>on(box, 'touchstart', 'touchend', 'click')</script>")
    swipe = asyncio.ensure_future(lab.display.swipe(400, 800, 400, 700, 200))
    while not await lab.value("heard.length"):
        pass
    swipe.cancel()
    await lab.display.tap(400, 800)
    assert (await lab.value("heard.join(' ')")).replace(" box", "") == "touchstart touchend touchstart touchend click"


async def test_a_drag_that_does_not_move_is_no_error(lab: Lab) -> None:
    await lab.show(DRAG % ("touchstart", "touchmove", "touchend"))
    await lab.display.drag(150, 250, 150, 250)
    assert await lab.value("[box.style.left, box.style.top]") == ["20px", "20px"]


async def test_what_a_tap_asks_of_the_system_has_happened_when_it_returns(lab: Lab) -> None:
    lab.answer = lambda method, args: {"value": "on"}
    await lab.show(
        '<button id="b" onclick="ask()">Ask</button><p id="p">-</p>'
        "<script>async function ask() { p.textContent = (await phone.settings.get('global', 'wifi')).value }"
        "</script>",
        app=True,
    )
    await lab.tap("b")
    assert await lab.texts() == ["Ask", "on"]
    assert [(call[2], call[3]) for call in lab.calls] == [("settings_get", {"namespace": "global", "key": "wifi"})]


async def test_a_finger_leaves_no_ring_around_what_has_the_focus_and_a_key_does(lab: Lab) -> None:
    await lab.show(
        "<button id=b onclick='d.showModal()'>Open</button>"
        "<dialog id=d><button>One</button><button>Two</button></dialog>"
    )
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    await lab.tap("b")
    assert await lab.value(f"[document.activeElement.textContent, {ring}]") == ["One", "none"]
    await lab.display.key(61)  # TAB
    assert await lab.value(f"[document.activeElement.textContent, {ring}]") == ["Two", "auto"]
