"""Dialogs, pickers, toasts, the recents and the home screen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import pytest
import pytest_asyncio
from screen_lab import PACKAGE, Lab, lab_in

from simphone.screen.display import LauncherEntry

pytestmark = pytest.mark.asyncio(loop_scope="module")
HEARD = """<script>window.heard = []; for (const type of ["input", "change"])
  document.addEventListener(type, (event) => heard.push(`${type} ${event.target.value}`))</script>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("sheets")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    running.calls.clear()
    yield running
    await running.display.dismiss()
    assert list(running.display.page_errors) == []


async def dialog(lab: Lab) -> str | None:
    found = (await lab.display.state())["dialog"]
    return None if found is None else str(found)


async def test_a_select_opens_a_list_and_what_is_chosen_is_the_pages(lab: Lab) -> None:
    await lab.show(
        '<label>Size <select id="size"><option>Small<option>Medium<option disabled>Huge</select></label>' + HEARD
    )
    size = await lab.node("size")
    assert (size.kind, size.text, size.description) == ("Spinner", "Small", "Size")
    await lab.tap("size")
    options = [each for each in await lab.nodes() if each.kind == "CheckedTextView"]
    assert [(each.text, each.is_("checked"), each.is_("enabled")) for each in options] == [
        ("Small", True, True), ("Medium", False, True), ("Huge", False, False),
    ]  # fmt: skip
    await lab.tap("Medium")
    assert await dialog(lab) is None
    assert (await lab.node("size")).text == "Medium"
    assert await lab.value("heard") == ["input Medium", "change Medium"]


async def test_a_picker_that_is_left_changes_nothing(lab: Lab) -> None:
    await lab.show('<select id="size"><option>Small<option>Medium</select>' + HEARD)
    await lab.tap("size")
    await lab.tap("Cancel")
    await lab.tap("size")
    assert await lab.display.back() is True
    await lab.tap("size")
    await lab.display.tap(540, 300)  # beside it
    assert await dialog(lab) is None
    assert await lab.value("heard") == []


async def test_several_options_are_chosen_with_ok(lab: Lab) -> None:
    await lab.show(
        '<select id="s" multiple><option selected>A<option>B<optgroup label="More"><option>C</optgroup></select>'
        + HEARD
    )
    await lab.tap("s")
    for each in ("A", "B", "C", "OK"):
        await lab.tap(each)
    assert await lab.value("[...s.selectedOptions].map((each) => each.text)") == ["B", "C"]
    assert await lab.value("heard.length") == 2


async def test_a_long_list_scrolls_and_begins_at_what_is_chosen(lab: Lab) -> None:
    options = "".join(f"<option{' selected' if n == 60 else ''}>Option {n}" for n in range(100))
    await lab.show(f'<select id="s">{options}</select>')
    await lab.tap("s")
    seen = await lab.texts()
    assert "Option 60" in seen and "Option 0" not in seen
    top = await lab.node("Option 60")
    await lab.display.swipe(540, 1000, 540, 1150, 60)
    assert (await lab.node("Option 60")).bounds[1] == pytest.approx(top.bounds[1] + 150, abs=2)


async def test_a_date_is_chosen_in_a_calendar(lab: Lab) -> None:
    await lab.show('<input id="d" type="date" value="2026-02-27">' + HEARD)
    await lab.tap("d")
    assert (await lab.node("27 February 2026")).is_("selected")
    await lab.tap("Next month")
    await lab.tap("31 March 2026")
    await lab.tap("March 2026")
    await lab.tap("2024")
    await lab.tap("Previous month")
    await lab.tap("29 February 2024")
    await lab.tap("OK")
    assert await lab.value("heard") == ["input 2024-02-29", "change 2024-02-29"]


async def test_a_date_that_is_empty_begins_today_by_the_phones_clock(lab: Lab) -> None:
    await lab.display.set_time(datetime(2031, 12, 24, 23, 59))
    await lab.show('<input id="d" type="date">')
    await lab.tap("d")
    assert (await lab.node("24 December 2031")).is_("selected")


async def test_a_time_is_set_by_keys_or_by_steps(lab: Lab) -> None:
    await lab.show('<input id="t" type="time" value="09:59">' + HEARD)
    await lab.tap("t")
    await lab.tap("Increase minute")
    await lab.tap("Decrease hour")
    await lab.tap("Hour")
    await lab.display.insert_text("23", keys=True)
    await lab.tap("OK")
    assert await lab.value("t.value") == "23:00"
    await lab.tap("t")
    await lab.tap("Hour")
    await lab.display.insert_text("24", keys=True)
    await lab.tap("OK")
    assert await dialog(lab) == "Select time"
    assert "Enter a valid time" in (await lab.display.state())["toasts"]


async def test_date_and_time_in_one_field(lab: Lab) -> None:
    await lab.show('<input id="t" type="datetime-local" value="2026-05-01T08:30">')
    await lab.tap("t")
    await lab.tap("2 May 2026")
    await lab.tap("OK")
    await lab.tap("Increase hour")
    await lab.tap("OK")
    assert await lab.value("t.value") == "2026-05-02T09:30"


async def test_alert_is_a_dialog_and_nothing_hangs(lab: Lab) -> None:
    await lab.show(
        '<button id="b" onclick="alert(`Saved!`); window.answers = [confirm(`Sure?`), '
        'prompt(`Name?`, `x`)]">Go</button>'
    )
    await lab.tap("b")
    assert await lab.texts() == ["Saved!", "OK"]
    assert await lab.value("answers") == [True, "x"]
    assert (await lab.display.state())["toasts"][-2:] == ["Sure?", "Name?"]
    await lab.tap("OK")
    assert await lab.texts() == ["Go"]


async def test_a_dialog_of_the_system_covers_the_app_and_its_choice_reaches_the_system(lab: Lab) -> None:
    await lab.show('<button id="b" onclick="window.hit = 1">App</button>')
    at = (await lab.node("b")).centre
    await lab.display.dialog("Notes keeps stopping", "", ["App info", "Close app"])
    nodes = await lab.nodes()
    assert [each.text for each in nodes if each.text] == ["Notes keeps stopping", "App info", "Close app"]
    assert {each.element.get("package") for each in nodes} == {"android"}
    assert nodes[0].bounds[0] > 0
    assert [each.id for each in nodes if each.kind == "Button"] == ["button2", "button1"]
    await lab.tap("Close app")
    assert lab.calls == [
        ("android", "system", "dialog_choice", {"title": "Notes keeps stopping", "index": 1, "button": "Close app"})
    ]
    await lab.display.dialog("Hello", "", ["OK"])
    await lab.display.tap(*at)
    assert await lab.value("window.hit") is None
    assert lab.calls[-1][3] == {"title": "Hello", "index": -1, "button": None}


async def test_the_dialogs_of_phone_js(lab: Lab) -> None:
    await lab.show(
        '<button id="b" onclick="go()">Go</button><p id="p"></p><script>'
        "async function go() { p.textContent = JSON.stringify(["
        "await phone.dialog({ title: 'Delete?', text: 'For ever', buttons: ['No', 'Yes'] }),"
        "await phone.pick({ title: 'Colour', options: ['Red', 'Green'], selected: 0 }),"
        "await phone.pickTime({ hours: 7, minutes: 5 }), await phone.pickDate({ date: '2026-01-31' }),"
        "await phone.dialog({ text: 'Bye' })]) }</script>",
        app=True,
    )
    await lab.tap("b")
    assert {each.element.get("package") for each in await lab.nodes()} == {PACKAGE}
    for each in ("Yes", "Green", "OK", "OK"):
        await lab.tap(each)
    assert await lab.display.back() is True
    assert (await lab.node("p")).text == '[1,1,{"hours":7,"minutes":5},"2026-01-31",-1]'


async def test_an_apps_dialog_stays_with_its_window(lab: Lab) -> None:
    await lab.show("<p>First</p>", token="one", app=True)
    await lab.value("void phone.dialog({ title: 'Mine' })")
    await lab.show("<p>Second</p>", token="two", app=True)
    assert await lab.texts() == ["Second"]
    await lab.display.front("one")
    assert await lab.texts() == ["Mine", "OK"]
    await lab.display.close("one")
    await lab.display.front("two")
    assert await lab.texts() == ["Second"]


async def test_toasts_are_seen_and_remembered_but_are_no_part_of_the_hierarchy(lab: Lab) -> None:
    await lab.show("<p>Page</p>", app=True)
    await lab.display.forget_toasts()
    quiet = await lab.display.screenshot()
    await lab.value("phone.toast('Saved')")
    await lab.display.toast("From the system")
    assert await lab.display.screenshot() != quiet
    assert await lab.texts() == ["Page"]
    assert (await lab.display.state())["toasts"] == ["Saved", "From the system"]
    await lab.display.forget_toasts()
    assert (await lab.display.state())["toasts"] == []
    assert await lab.display.screenshot() == quiet


async def test_back_goes_from_the_top_down(lab: Lab) -> None:
    await lab.show(
        '<input id="q"><script>'
        "phone.onBack = () => { window.backs = (window.backs ?? 0) + 1; return backs < 2 }</script>",
        app=True,
    )
    await lab.tap("q")
    await lab.value("void phone.dialog({ title: 'Over' })")
    assert await dialog(lab) == "Over"
    assert await lab.display.back() is True
    assert await dialog(lab) is None
    assert await lab.display.back() is True
    assert await lab.value("window.backs") == 1
    assert await lab.display.back() is False


async def test_the_home_screen_starts_apps(lab: Lab) -> None:
    entries = [LauncherEntry(f"org.example.a{n}", f"App {n}") for n in range(40)] + [
        LauncherEntry("org.b", "Shop", "🛒")
    ]
    await lab.display.launcher(entries)
    await lab.display.front(None)
    nodes = await lab.nodes()
    icons = [each for each in nodes if each.is_("clickable")]
    assert {each.element.get("package") for each in nodes} == {"com.android.launcher3"}
    assert len(icons) > 15 and {each.kind for each in icons} == {"TextView"}
    await lab.tap("App 5")
    assert lab.calls == [("com.android.launcher3", "home", "launch", {"package": "org.example.a5"})]
    for _ in range(5):
        await lab.display.swipe(540, 1900, 540, 400, 60)
    await lab.tap("Shop")
    assert lab.calls[-1][3] == {"package": "org.b"}


async def test_the_recents_choose_an_app(lab: Lab) -> None:
    await lab.show("<p>Page</p>")
    await lab.display.recents([LauncherEntry("org.a", "Notes"), LauncherEntry("org.b", "Shop")])
    assert await lab.texts() == ["Notes", "Shop"]
    assert (await lab.display.state())["recents"] is True
    await lab.tap("Shop")
    assert lab.calls == [("com.android.launcher3", "recents", "recents_choose", {"package": "org.b"})]
    assert await lab.display.back() is True
    assert await lab.texts() == ["Page"]
    await lab.display.recents([])
    assert await lab.texts() == ["No recent items"]


async def test_the_navigation_bar_asks_the_system_even_over_a_dialog(lab: Lab) -> None:
    await lab.show('<input id="q">')
    await lab.tap("q")
    for x in (180, 540, 900):
        await lab.display.tap(x, 2328)
    assert [call[:3] for call in lab.calls] == [
        ("com.android.systemui", "navigation", each) for each in ("back", "home", "recents")
    ]
    assert (await lab.display.state())["keyboard"] is True
    await lab.display.dialog("Over", "", ["OK"])
    await lab.display.tap(180, 2328)
    assert lab.calls[-1][2] == "back"
    assert await dialog(lab) == "Over"
