"""Text: the on-screen keyboard, an input method's text, keys."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from screen_lab import Lab, lab_in

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("text")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    yield running
    await running.display.allow_keyboard(True)
    await running.display.dismiss()
    assert list(running.display.page_errors) == []


async def keyboard(lab: Lab) -> bool:
    return bool((await lab.display.state())["keyboard"])


async def test_a_field_brings_the_keyboard_and_the_window_shrinks_until_back(lab: Lab) -> None:
    await lab.show('<p>Top</p><input id="name" style="position:fixed;bottom:10px">')
    whole = (await lab.nodes())[1].bounds
    assert whole == (0, 72, 1080, 2256)
    await lab.tap("name")
    assert await keyboard(lab)
    shrunk = (await lab.nodes())[1].bounds
    assert shrunk[3] < whole[3] - 500
    assert (await lab.node("name")).bounds[3] <= shrunk[3]
    assert (await lab.node("name")).is_("focused")
    assert await lab.display.back() is True
    assert not await keyboard(lab)
    assert (await lab.nodes())[1].bounds == whole
    assert await lab.display.back() is False
    assert (await lab.node("name")).is_("focused")
    await lab.tap("name")
    assert await keyboard(lab)


async def test_taps_on_keys_type_into_the_field_which_keeps_the_focus(lab: Lab) -> None:
    await lab.show(
        '<input id="name"><script>window.blurs = 0; document.querySelector("#name").onblur = () => blurs++</script>'
    )
    await lab.tap("name")
    for key in ["Shift", "H", "i", "Symbols", "!", "More symbols", "{", "Letters", "Space", "x", "Delete", "z"]:
        await lab.key(key)
    assert (await lab.node("name")).text == "Hi!{ z"
    assert await lab.value("blurs") == 0


async def test_the_keyboards_enter_submits_a_form_and_begins_a_line_in_a_text(lab: Lab) -> None:
    await lab.show(
        '<form id="f"><input id="one"></form><textarea id="many"></textarea>'
        "<script>f.onsubmit = (event) => { event.preventDefault(); window.sent = one.value }</script>"
    )
    await lab.tap("one")
    await lab.key("a")
    await lab.key("Enter")
    assert await lab.value("window.sent") == "a"
    assert not await keyboard(lab)
    await lab.tap("many")
    await lab.key("b")
    await lab.key("Enter")
    await lab.key("c")
    assert await lab.value("many.value") == "b\nc"
    assert await keyboard(lab)


async def test_numbers_get_a_keyboard_of_digits(lab: Lab) -> None:
    await lab.show('<input id="n" type="number"><input id="t">')
    await lab.tap("n")
    for key in "42":
        await lab.key(key)
    assert (await lab.node("n")).text == "42"
    await lab.tap("t")
    await lab.key("q")
    assert (await lab.node("t")).text == "q"


async def test_the_keyboard_goes_with_its_field(lab: Lab) -> None:
    await lab.show(
        '<input id="name"><button id="gone" onclick="document.getElementById(`name`).remove()">Remove</button>'
        '<p id="p" style="height:100px">Text</p>'
    )
    await lab.tap("name")
    await lab.tap("p")
    assert not await keyboard(lab)
    await lab.tap("name")
    await lab.tap("gone")
    assert not await keyboard(lab)


async def test_no_keyboard_for_an_input_method_that_has_none_nor_for_a_field_that_cannot_be_written(lab: Lab) -> None:
    await lab.show('<input id="fixed" readonly value="x"><input id="name"><input id="check" type="checkbox">')
    await lab.tap("fixed")
    await lab.tap("check")
    assert not await keyboard(lab)
    await lab.display.allow_keyboard(False)
    await lab.tap("name")
    assert not await keyboard(lab)
    await lab.display.insert_text("typed all the same")
    assert (await lab.node("name")).text == "typed all the same"


async def test_text_of_an_input_method_comes_at_once_with_an_input_event(lab: Lab) -> None:
    await lab.show(
        '<textarea id="t"></textarea><script>window.heard = [];'
        "for (const type of ['beforeinput', 'input', 'keydown'])"
        "  t.addEventListener(type, (e) => heard.push([type, e.data]))</script>"
    )
    await lab.tap("t")
    await lab.display.insert_text("Grüße, 世界 🌍\n2")
    assert await lab.value("t.value") == "Grüße, 世界 🌍\n2"
    heard = await lab.value("heard")
    assert ["keydown", None] not in heard and [kind for kind, _ in heard].count("input") >= 1


async def test_text_by_keys_is_typed_key_by_key(lab: Lab) -> None:
    await lab.show(
        '<input id="t"><script>window.heard = [];'
        "for (const type of ['keydown', 'keypress', 'input', 'keyup'])"
        "  t.addEventListener(type, (e) => heard.push(`${type} ${e.key ?? e.data} ${e.keyCode ?? ''}`.trim()))</script>"
    )
    await lab.tap("t")
    await lab.display.insert_text("aB", keys=True)
    assert await lab.value("heard") == [
        "keydown a 65", "keypress a 97", "input a", "keyup a 65",
        "keydown B 66", "keypress B 66", "input B", "keyup B 66",
    ]  # fmt: skip


async def test_every_character_of_a_keyboard_arrives(lab: Lab) -> None:
    await lab.show('<input id="t" style="width:300px">')
    await lab.tap("t")
    text = "".join(chr(each) for each in range(32, 127))
    await lab.display.insert_text(text, keys=True)
    assert await lab.value("t.value") == text


async def test_keys_edit_what_has_the_focus(lab: Lab) -> None:
    await lab.show('<input id="t">')
    await lab.tap("t")
    await lab.display.insert_text("abcd")
    for code in (67, 21, 21, 112, 122):  # delete, left, left, forward delete, to the beginning
        await lab.display.key(code)
    await lab.display.insert_text(">")
    assert await lab.value("t.value") == ">ac"
    await lab.display.clear_text()
    assert await lab.value("t.value") == ""
    await lab.display.key(24)  # volume: nothing to a page
    await lab.display.key(29)
    assert await lab.value("t.value") == "a"


async def test_a_cleared_text_tells_the_page(lab: Lab) -> None:
    await lab.show(
        '<div id="t" contenteditable="true">Some <b>rich</b> text</div>'
        "<script>window.inputs = 0; t.addEventListener('input', () => inputs++)</script>"
    )
    await lab.tap("t")
    assert await keyboard(lab)
    assert (await lab.node("t")).kind == "EditText"
    await lab.display.clear_text()
    assert await lab.value("[t.textContent, inputs > 0]") == ["", True]


async def test_typing_without_a_field_changes_nothing_but_the_page_hears_the_keys(lab: Lab) -> None:
    await lab.show(
        "<p>Page</p><script>window.heard = ''; document.onkeydown = (event) => { heard += event.key }</script>"
    )
    await lab.display.insert_text("lost")
    await lab.display.insert_text("ok", keys=True)
    await lab.display.clear_text()
    assert await lab.value("heard") == "ok"


async def test_a_password_is_bullets_and_an_empty_field_shows_its_hint_as_android_does(lab: Lab) -> None:
    await lab.show('<label>PIN <input id="pin" type="password"></label><input id="q" placeholder="Search">')
    await lab.tap("pin")
    await lab.display.insert_text("1234")
    pin, search = await lab.node("pin"), await lab.node("q")
    assert (pin.text, pin.is_("password"), pin.description) == ("••••", True, "PIN")
    assert (search.text, search.element.get("hint"), search.is_("password")) == ("Search", "Search", False)
    assert "1234" not in await lab.display.hierarchy()


async def test_the_state_says_which_field_has_the_focus(lab: Lab) -> None:
    await lab.show('<input id="q" value="tea">', token="shop")
    assert (await lab.display.state())["focused"] is None
    await lab.tap("q")
    focused = (await lab.display.state())["focused"]
    assert (focused["id"], focused["text"], focused["token"], focused["package"]) == (
        "q",
        "tea",
        "shop",
        "org.example.page",
    )


async def test_the_selected_text_is_for_the_clipboard(lab: Lab) -> None:
    await lab.show('<input id="q" value="green tea">')
    await lab.tap("q")
    await lab.value("q.setSelectionRange(0, 5)")
    assert await lab.display.selection() == "green"


async def test_a_field_for_numbers_has_no_arrows_that_a_finger_could_hit(lab: Lab) -> None:
    await lab.show('<input type="number" id="age" value="36">')
    _, top, right, bottom = (await lab.node("age")).bounds
    for x in range(right - 6, right - 80, -12):
        await lab.display.tap(x, top + (bottom - top) // 4)
        assert await lab.value("document.querySelector('#age').value") == "36"
