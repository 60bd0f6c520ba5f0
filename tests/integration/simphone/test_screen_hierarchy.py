"""The hierarchy of a page, as `uiautomator dump` would write it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from screen_lab import PACKAGE, Lab, Node, lab_in

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("hierarchy")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    yield running
    await running.display.dismiss()
    assert list(running.display.page_errors) == []


async def said(lab: Lab) -> list[tuple[str, str, str]]:
    """Class, text, description of what is below the window's frame."""
    return [(each.kind, each.text, each.description) for each in (await lab.nodes())[2:]]


async def test_it_is_written_as_android_writes_it(lab: Lab) -> None:
    await lab.show('<button id="save">Save &amp; "quit" &lt;now&gt;</button>')
    xml = await lab.display.hierarchy()
    frame = (
        '<node index="0" text="" resource-id="{id}" class="android.widget.FrameLayout" package="org.example.page" '
        'content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" '
        'focused="false" scrollable="false" long-clickable="false" password="false" selected="false" '
        'bounds="[0,{top}][1080,{bottom}]" drawing-order="1" hint="">'
    )
    assert xml.startswith(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
        + frame.format(id="", top=0, bottom=2400)
        + frame.format(id="android:id/content", top=72, bottom=2256)
        + '<node index="0" text="Save &amp; &quot;quit&quot; &lt;now&gt;" resource-id="org.example.page:id/save" '
        'class="android.widget.Button"'
    )
    assert xml.endswith('drawing-order="1" hint="" /></node></node></hierarchy>')


async def test_what_each_element_is_on_android(lab: Lab) -> None:
    await lab.show("""
      <h1>Title</h1><p>Text with <b>bold</b> in it</p>
      <button>Button</button><button aria-label="Close"><svg width="24" height="24"></svg></button>
      <input placeholder="Name"><textarea>Many</textarea>
      <label>Agree <input type="checkbox" checked></label><label><input type="radio"> One</label>
      <label>Wi-Fi <input type="checkbox" class="switch"></label><input type="range" value="30" aria-label="Volume">
      <select aria-label="Size"><option>Small</select><input type="submit"><input type="time" value="07:30">
      <img alt="A cat" width="20" height="20" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
      <canvas width="20" height="20"></canvas>
      <a href="#x">Link</a><span role="tab" aria-selected="true" tabindex="0">Tab</span>
      <progress aria-label="Loading"></progress>
    """)
    assert await said(lab) == [
        ("TextView", "Title", ""),
        ("TextView", "Text with bold in it", ""),
        ("Button", "Button", ""),
        ("ImageButton", "", "Close"),
        ("EditText", "Name", ""),
        ("EditText", "Many", ""),
        ("TextView", "Agree", ""),
        ("CheckBox", "", "Agree"),
        ("RadioButton", "", "One"),
        ("TextView", "One", ""),
        ("TextView", "Wi-Fi", ""),
        ("Switch", "", "Wi-Fi"),
        ("SeekBar", "30", "Volume"),
        ("Spinner", "Small", "Size"),
        ("Button", "Submit", ""),
        ("Spinner", "07:30", ""),
        ("ImageView", "", "A cat"),
        ("View", "", ""),
        ("TextView", "Link", ""),
        ("ActionBar$Tab", "Tab", ""),
        ("ProgressBar", "", "Loading"),
    ]
    by_kind = {each.kind: each for each in await lab.nodes()}
    assert by_kind["CheckBox"].is_("checked") and by_kind["CheckBox"].is_("checkable")
    assert by_kind["RadioButton"].is_("checkable") and not by_kind["RadioButton"].is_("checked")
    assert by_kind["ActionBar$Tab"].is_("selected")


async def test_a_row_that_can_be_clicked_holds_its_texts(lab: Lab) -> None:
    await lab.show(
        '<ul class="list"><li><button class="row" data-id="row"><span class="title">Ada</span>'
        '<span class="summary">Lovelace</span></button></li><li><div class="row" data-id="row" onclick="1">'
        '<span class="title">Alan</span><input type="checkbox" aria-label="Favourite"></div></li></ul>',
        app=True,
    )
    rows = [each for each in await lab.nodes() if each.id == "row"]
    assert [(each.kind, each.text, each.is_("clickable")) for each in rows] == [("ViewGroup", "", True)] * 2
    assert [[(each.kind, each.text) for each in row.children] for row in rows] == [
        [("TextView", "Ada"), ("TextView", "Lovelace")],
        [("TextView", "Alan"), ("CheckBox", "")],
    ]


async def test_only_what_can_be_seen(lab: Lab) -> None:
    await lab.show("""
      <p style="display:none">No display</p>
      <p style="visibility:hidden">Hidden <span style="visibility:visible">but this</span></p>
      <p style="opacity:0">Clear</p><p aria-hidden="true">Decoration</p>
      <p style="position:absolute;left:-500px">Beside</p>
      <div style="height:0;overflow:hidden"><p>Folded</p></div><p style="position:fixed;top:3000px">Below</p>
      <div style="width:100px;height:60px;overflow:hidden">
        <p style="margin:0;width:300px;height:90px" id="cut">Cut</p></div>
      <input type="hidden" value="secret"><p>Seen</p>""")
    assert await lab.texts() == ["but this", "Cut", "Seen"]
    left, top, right, bottom = (await lab.node("cut")).bounds
    assert (right - left, bottom - top) == (300, 180)


async def test_a_list_shows_the_rows_within_it_cut_at_its_edge(lab: Lab) -> None:
    rows = "".join(f'<li style="height:60px" id="row{n}" onclick="1">Row {n}</li>' for n in range(100))
    await lab.show(f'<main id="list" style="height:400px;overflow-y:auto"><ul style="margin:0">{rows}</ul></main>')
    holder = await lab.node("list")
    assert (holder.kind, holder.is_("scrollable")) == ("RecyclerView", True)
    seen = [each for each in holder.children if each.id.startswith("row")]
    assert [each.text for each in seen] == [f"Row {n}" for n in range(7)]
    assert seen[-1].bounds[3] == holder.bounds[3] and seen[-1].bounds[3] - seen[-1].bounds[1] == 40 * 3
    await lab.value("document.querySelector('main').scrollTop = 3000")
    assert (await lab.texts())[0] == "Row 50"


async def test_a_page_that_is_longer_than_the_screen_scrolls_as_a_whole(lab: Lab) -> None:
    await lab.show("".join(f"<p>Row {n}</p>" for n in range(100)))
    page = (await lab.nodes())[2]
    assert (page.kind, page.is_("scrollable"), page.bounds) == ("ScrollView", True, (0, 72, 1080, 2256))


async def test_what_is_covered_is_not_there(lab: Lab) -> None:
    await lab.show("""
      <p>Below</p><button>Below too</button>
      <div style="position:fixed;inset:0;background:#0008"><div style="margin:200px 20px">
        <p>Over</p><button>OK</button></div></div>""")
    assert [text for _, text, _ in await said(lab) if text] == ["Over", "OK"]


async def test_what_is_covered_in_part_is_the_part_that_can_be_touched(lab: Lab) -> None:
    await lab.show("""
      <style>#b { position: absolute; left: 0; top: 100px; width: 300px; height: 100px }
      #bar { position: fixed; left: 0; top: 0; width: 360px; height: 180px; background: #ccc }</style>
      <button id="b" onclick="window.hit = 'b'">Under</button><div onclick="window.hit = 'bar'" id="bar">Bar</div>""")
    left, top, right, bottom = (await lab.node("b")).bounds
    assert (left, right, bottom) == (0, 900, 672) and top == 612
    await lab.tap("b")
    assert await lab.value("window.hit") == "b"


async def test_text_between_elements_is_text_of_its_own(lab: Lab) -> None:
    await lab.show('<p>Read the <a href="#t">terms</a> and <b>then</b> agree.</p>')
    assert await said(lab) == [
        ("TextView", "Read the", ""),
        ("TextView", "terms", ""),
        ("TextView", "and then agree.", ""),
    ]
    first, link, last = (await lab.nodes())[2:]
    assert first.bounds[2] <= link.bounds[0] + 3 and link.bounds[2] <= last.bounds[0] + 3
    assert [each.is_("clickable") for each in (first, link, last)] == [False, True, False]


async def test_listeners_make_things_clickable_wherever_they_were_added(lab: Lab) -> None:
    await lab.show("""
      <div id="a">Added</div><div id="p" onclick="1">Property</div>
      <div id="c" style="cursor:pointer">Cursor <span>inside</span></div><div id="n">None</div>
      <div id="m">Mouse</div><svg id="s" width="50" height="50"><circle id="round" cx="25" cy="25" r="20"/></svg>
      <script>a.addEventListener("click", () => 1); m.addEventListener("mousedown", () => 1);
      round.addEventListener("click", () => 1); document.addEventListener("click", () => 1)</script>""")
    assert {each.id for each in await lab.nodes() if each.is_("clickable")} == {"a", "p", "c", "m", "round"}


async def test_what_is_disabled_says_so(lab: Lab) -> None:
    await lab.show(
        '<button id="a" disabled>A</button><fieldset disabled><input id="b"></fieldset>'
        '<div id="c" role="button" aria-disabled="true">C</div><button id="d">D</button>'
    )
    assert [(await lab.node(each)).is_("enabled") for each in "abcd"] == [False, False, False, True]


async def test_a_box_that_is_hidden_behind_its_label_is_the_label(lab: Lab) -> None:
    await lab.show(
        '<label id="l"><input type="checkbox" class="switch" '
        'style="position:absolute;width:0;height:0;appearance:none;margin:0"> <span>Sound</span></label>'
    )
    label = await lab.node("l")
    assert (label.kind, label.is_("checkable"), label.is_("checked"), label.is_("clickable")) == (
        "Switch",
        True,
        False,
        True,
    )
    await lab.tap("l")
    assert (await lab.node("l")).is_("checked")


async def test_frames_and_shadow_trees_are_part_of_the_page(lab: Lab) -> None:
    inner = lab.write('<body style="margin:0"><button id="inner" onclick="top.hit = 1">Inner</button>')
    await lab.show(
        f'<iframe src="{inner}" style="position:absolute;left:40px;top:100px;width:150px;height:80px;border:2px solid;'
        'transform:scale(1.5);transform-origin:0 0"></iframe><div id="host"></div><script>'
        'host.attachShadow({ mode: "open" }).innerHTML = '
        "\"<div style='position:absolute;top:400px'><button id=shadow>Shadow</button>"
        '<slot></slot></div>"; host.innerHTML = "<b>Slotted</b>"</script>'
    )
    assert await lab.texts() == ["Inner", "Shadow", "Slotted"]
    assert (await lab.node("inner")).bounds[:2] == (((40 + 3) * 3), (72 + (100 + 3) * 3))
    await lab.tap("inner")
    assert await lab.value("top.hit") == 1


async def test_other_origins_are_read_and_touched_as_well(lab: Lab) -> None:
    path = lab.write('<button id="b" onclick="b.textContent = `Hit`">Elsewhere</button>')
    await lab.display.open("elsewhere", lab.web.url.replace("127.0.0.1", "localhost") + path, PACKAGE)
    await lab.tap("b")
    assert await lab.texts() == ["Hit"]


async def test_characters_that_xml_cannot_hold_are_left_out(lab: Lab) -> None:
    await lab.show('<p id="p"></p><textarea id="t"></textarea>')
    await lab.value(r"p.textContent = 'a\u0000\u0008b \ud83d c'; t.value = 'one\ntwo\tthree'")
    ElementTree.fromstring((await lab.display.hierarchy()).encode())
    assert (await lab.node("p")).text == "ab \ufffd c"
    assert (await lab.node("t")).text == "one\ntwo\tthree"


async def test_a_page_of_five_thousand_elements_is_one_answer(lab: Lab) -> None:
    rows = "".join(f'<li id="r{n}" onclick="1"><b>{n}</b><i>x</i></li>' for n in range(1700))
    await lab.show(f'<ul style="height:500px;overflow:auto">{rows}</ul>')
    assert await lab.value("document.querySelectorAll('*').length") > 5000
    seen = [each for each in await lab.nodes() if each.id.startswith("r")]
    assert seen and all(isinstance(each, Node) and each.is_("clickable") for each in seen)


BELOW = """<main id="list" style="height:300px;overflow:auto"><p style="height:900px">Below</p></main>
  <button id="below">Below</button>"""


@pytest.mark.parametrize(
    "dialog",
    [
        '<dialog id="d"><h2>Filter</h2><button id="apply">Apply</button></dialog><script>d.showModal()</script>',
        '<div id="d" role="dialog" aria-modal="true" style="position:fixed;left:30px;top:500px;width:300px;'
        'height:100px;background:#fff"><h2>Filter</h2><button id="apply">Apply</button></div>',
    ],
)
async def test_a_modal_dialog_of_a_page_is_the_window(lab: Lab, dialog: str) -> None:
    await lab.show(BELOW + dialog)
    nodes = await lab.nodes()
    box = await lab.value("(({left, top, right, bottom}) => [left, top, right, bottom])(d.getBoundingClientRect())")
    left, top, right, bottom = (round(each * 3) for each in box)
    assert nodes[0].bounds == nodes[1].bounds == (left, 72 + top, right, 72 + bottom)
    assert [each.text for each in nodes if each.text] == ["Filter", "Apply"]
    assert not any(each.is_("scrollable") for each in nodes)


async def test_a_modal_dialog_that_is_closed_or_not_seen_is_none(lab: Lab) -> None:
    await lab.show(
        BELOW + '<dialog id="d">Filter</dialog><div aria-modal="true" style="display:none">No</div>'
        '<div aria-modal="true" style="position:absolute;left:-900px">Beside</div>'
        "<script>d.showModal(); d.close()</script>"
    )
    assert (await lab.nodes())[1].bounds == (0, 72, 1080, 2256)
    assert (await lab.node("list")).is_("scrollable")
