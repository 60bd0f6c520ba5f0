"""What the hierarchy promises: a tap on the centre of what can be clicked hits it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from screen_lab import Lab, lab_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZES = st.integers(8, 320)
PLACES = st.sampled_from(["static", "relative", "absolute", "fixed", "sticky"])
LEAVES = st.sampled_from([
    "<button {at}>Go</button>",
    '<input {at} value="text">',
    '<input {at} type="checkbox">',
    '<a {at} href="#x">A link that is long enough to be broken into several lines of text</a>',
    '<div {at} onclick="1">Tap</div>',
    "<p {plain}>Some text</p>",
    "<label {plain}>Label <input {at}></label>",
    '<svg {at} onclick="1"><circle cx="20" cy="20" r="10"/></svg>',
])  # fmt: skip
BOXES = st.sampled_from([
    "<div {plain}>{inside}</div>",
    '<div {at} onclick="1">{inside}</div>',
    '<div {plain} class="scroll">{inside}</div>',
    '<div {plain} class="turned">{inside}</div>',
    "<ul {plain}><li>{inside}</li></ul>",
])  # fmt: skip


@st.composite
def styles(draw: st.DrawFn) -> str:
    place = draw(PLACES)
    parts = [f"position:{place}", f"width:{draw(SIZES)}px", f"height:{draw(SIZES)}px", "background:#def"]
    if place != "static":
        parts += [f"left:{draw(st.integers(-60, 340))}px", f"top:{draw(st.integers(-60, 700))}px"]
        parts += [f"z-index:{draw(st.integers(-1, 3))}"]
    if draw(st.booleans()):
        parts.append(f"margin:{draw(st.integers(-20, 40))}px")
    if draw(st.integers(0, 9)) == 0:
        parts.append("overflow:hidden")
    return ";".join(parts)


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    if depth == 3 or draw(st.booleans()):
        return {"html": draw(LEAVES), "style": draw(styles()), "inside": []}
    inside = draw(st.lists(trees(depth + 1), min_size=1, max_size=4))
    return {"html": draw(BOXES), "style": draw(styles()), "inside": inside}


def html(tree: dict[str, Any], numbers: list[int]) -> str:
    numbers.append(len(numbers))
    style = f'style="{tree["style"]}"'
    return str(tree["html"]).format(
        at=f'id="n{numbers[-1]}" {style}', plain=style, inside="".join(html(each, numbers) for each in tree["inside"])
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("centres")) as lab:
        await lab.show("""
          <style>body { margin: 0; min-height: 900px; overflow-wrap: anywhere }
          .scroll { overflow: auto } .turned { transform: rotate(9deg) scale(0.8) }</style><main></main>
          <script>window.hits = []; addEventListener("mousedown", (event) => {
            hits = event.composedPath().map((each) => each.id ?? ""); event.preventDefault(); }, true);
          addEventListener("click", (event) => {
            const label = event.target.closest("label"); if (label) hits.push(label.control?.id);
            event.preventDefault() }, true)</script>""")
        yield lab


async def test_a_tap_on_the_centre_of_what_can_be_clicked_hits_it(lab: Lab) -> None:
    loop = asyncio.get_running_loop()

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(st.lists(trees(), min_size=1, max_size=5))
    def pages(forest: list[dict[str, Any]]) -> None:
        asyncio.run_coroutine_threadsafe(check(lab, forest), loop).result()

    await asyncio.to_thread(pages)


async def check(lab: Lab, forest: list[dict[str, Any]]) -> None:
    numbers: list[int] = []
    body = "".join(html(each, numbers) for each in forest)
    await lab.value(f"document.querySelector('main').innerHTML = {body!r}; scrollTo(0, 0); 0")
    for node in await lab.nodes():
        left, top, right, bottom = node.bounds
        assert 0 <= left < right <= 1080 and 0 <= top < bottom <= 2400, node.bounds
        if node.is_("clickable") and node.id:
            await lab.value("hits = []")
            await lab.display.tap(*node.centre)
            hits = await lab.value("hits")
            assert node.id in hits, f"{node.id} {node.bounds}: {hits}"
    await lab.display.dismiss()
