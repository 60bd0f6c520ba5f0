"""Windows: what apps find around them, and that nothing they do ends the phone."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from screen_lab import PACKAGE, Lab, lab_in, until

from simphone.screen import browser, display
from simphone.screen.devtools import BrowserGone, CallFailed
from simphone.screen.display import LauncherEntry

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with lab_in(tmp_path_factory.mktemp("windows")) as lab:
        yield lab


@pytest_asyncio.fixture(loop_scope="module")
async def lab(running: Lab) -> AsyncIterator[Lab]:
    running.calls.clear()
    running.store.clear(PACKAGE)
    running.store.initial.clear()
    running.display.page_errors.clear()
    yield running
    await running.display.dismiss()
    for token in list(running.display._windows):
        await running.display.close(token)


async def test_a_window_keeps_its_state_while_another_is_in_front(lab: Lab) -> None:
    rows = "".join(f"<p>Row {n}</p>" for n in range(100))
    await lab.show(f'<div id="list" style="height:300px;overflow:auto">{rows}</div><input id="q">', token="one")
    await lab.value("list.scrollTop = 400; q.value = 'half'; window.kept = 7")
    await lab.show("<p>Two</p>", token="two")
    assert await lab.texts() == ["Two"]
    await lab.display.front(None)
    await lab.display.front("one")
    assert await lab.value("[list.scrollTop, q.value, window.kept]") == [400, "half", 7]
    with pytest.raises(KeyError):
        await lab.display.front("three")


async def test_closing_the_window_in_front_leads_home(lab: Lab) -> None:
    await lab.display.launcher([LauncherEntry("org.a", "Notes")])
    await lab.show("<p>One</p>", token="one")
    await lab.show("<p>Two</p>", token="two")
    await lab.display.close("one")
    assert await lab.texts() == ["Two"]
    await lab.display.close("two")
    assert await lab.texts() == ["Notes"]
    assert (await lab.display.state())["front"] is None


async def test_an_app_finds_its_extras_and_its_state_before_its_scripts_run(lab: Lab) -> None:
    lab.store.initial[PACKAGE] = {"notes": ["Milk"]}
    await lab.show(
        '<p id="p"></p><script>'
        'p.textContent = [phone.package, phone.extras.id, phone.state.notes[0]].join(" ")</script>',
        app=True,
        extras={"id": 3},
    )
    assert await lab.texts() == [f"{PACKAGE} 3 Milk"]


async def test_what_an_app_saves_is_kept_and_read_again_when_it_comes_to_the_front(lab: Lab) -> None:
    page = "<script>phone.onresume = () => { document.body.textContent = phone.state.n }</script>-"
    await lab.show(page, token="one", app=True)
    await lab.show(page, token="two", app=True)
    await lab.value("phone.state.n = 5; phone.save()")
    await lab.value("phone.log('order', { item: 'tea' })")
    assert lab.store.load(PACKAGE) == {"n": 5}
    assert lab.store.log(PACKAGE) == [{"kind": "order", "data": {"item": "tea"}}]
    await lab.display.front("one")
    assert await lab.texts() == ["5"]
    lab.store.save(PACKAGE, {"n": 6})
    await lab.display.refresh(PACKAGE)
    assert await lab.texts() == ["6"]


async def test_a_result_reaches_the_window_below(lab: Lab) -> None:
    await lab.show(
        "<script>phone.onresult = (value) => { document.body.textContent = value.name }</script>", token="one", app=True
    )
    await lab.show("<p>Two</p>", token="two", app=True)
    await lab.value("phone.finish({ name: 'Ada' })")
    assert lab.calls == [(PACKAGE, "two", "finish", {"result": {"name": "Ada"}})]
    await lab.display.close("two")
    await lab.display.front("one", result={"name": "Ada"})
    assert await lab.texts() == ["Ada"]


async def test_a_call_that_is_refused_fails_in_the_page_and_there_alone(lab: Lab) -> None:
    lab.web.on_call, before = _refuse, lab.web.on_call
    try:
        await lab.show("<p>One</p>", app=True)
        with pytest.raises(CallFailed, match=r"there is no \.Nothing"):
            await lab.value("phone.start('.Nothing')")
        assert await lab.texts() == ["One"]
    finally:
        lab.web.on_call = before


async def _refuse(package: str, token: str, method: str, args: dict[str, object]) -> object:
    raise browser_refusal(f"there is no {args['activity']}")


def browser_refusal(text: str) -> Exception:
    from simphone.screen.web import CallRefused

    return CallRefused(text)


async def test_errors_of_a_page_are_recorded_and_the_phone_goes_on(lab: Lab) -> None:
    await lab.show(
        '<button id="b" onclick="nonsense()">Go</button>'
        '<script>null.x</script><script>Promise.reject(new Error("late"))</script>'
    )
    await lab.tap("b")
    errors = "\n".join(lab.display.page_errors)
    assert all(part in errors for part in ("null", "late", "nonsense"))
    assert await lab.texts() == ["Go"]


async def test_an_address_that_cannot_be_reached_is_an_empty_window(lab: Lab) -> None:
    await lab.display.open("gone", "http://127.0.0.1:9/", "org.gone")
    assert (await lab.display.state())["front"] == "gone"
    await lab.nodes()
    assert await lab.display.back() is False


async def test_links_and_pop_ups_stay_in_their_window(lab: Lab) -> None:
    there = lab.write("<p>There")
    for link in (
        f'<a id="b" href="{there}" target="_blank">Go</a>',
        f'<a id="b" href="{there}" target="_top">Go</a>',
        f"""<button id="b" onclick="window.open('{there}')">Go</button>""",
        f"""<form action="{there}" target="_new"><button id="b">Go</button></form>""",
    ):
        await lab.show(link)
        loaded = asyncio.ensure_future(
            lab.display._browser.evaluate(
                "new Promise((done) => system.windows.get('w').addEventListener('load', () => done(), { once: true }))"
            )
        )
        await asyncio.sleep(0)
        await lab.tap("b")
        await loaded
        assert await lab.texts() == ["There"]


async def test_a_page_that_takes_the_place_of_the_whole_phone_is_put_back(lab: Lab) -> None:
    await lab.show("<p>One</p>")
    before = lab.display._browser.starts
    await lab.value(f"setTimeout(() => {{ top.eval(`location = '{lab.write('<p>Mine now')}'`) }}); 0")
    await until(lambda: lab.display._browser.starts > before)
    assert await lab.texts() == ["One"]


async def test_a_page_cannot_lead_the_whole_phone_elsewhere(lab: Lab) -> None:
    before = lab.display._browser.starts
    elsewhere = lab.write("<p>Mine now")
    await lab.show(
        f"<p>One</p><a id=a href='{elsewhere}' target=_top></a><script>top.location = a.href; a.click()</script>"
    )
    assert await lab.texts() in (["One"], ["Mine now"]), "in its own window"
    assert await lab.display._browser.evaluate("location.pathname") == "/system/index.html"
    assert lab.display._browser.starts == before


async def test_a_page_that_takes_the_phones_page_apart_is_not_shown_again(lab: Lab) -> None:
    await lab.show("<p>One</p><script>parent.document.body.remove()</script>")
    assert await lab.texts() == []
    await lab.display.launcher([LauncherEntry("org.a", "Notes")])
    await lab.display.front(None)
    assert await lab.texts() == ["Notes"]


async def test_a_page_that_never_loads_for_a_loop_is_not_shown_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "ANSWER_S", 1.0)
    monkeypatch.setattr(display, "ANSWER_S", 1.0)
    await lab.show("<p>One</p><script>for (;;);</script>")
    monkeypatch.undo()
    assert await lab.texts() == []
    await lab.show("<p>Two</p>")
    assert await lab.texts() == ["Two"]


async def test_what_goes_wrong_when_a_page_comes_to_the_front_is_the_pages(lab: Lab) -> None:
    await lab.show(
        "<p>One</p><script>phone.onresume = () => { throw new Error('mine') }</script>", token="one", app=True
    )
    await lab.show("<p>Two</p>", token="two")
    await lab.display.front("one")
    await lab.display.refresh(PACKAGE)
    assert await lab.texts() == ["One"]
    assert ["mine" in each for each in lab.display.page_errors] == [True, True]


async def test_after_a_crash_of_the_page_the_same_windows_are_there(lab: Lab) -> None:
    await lab.display.launcher([LauncherEntry("org.a", "Notes")])
    await lab.display.theme(True)
    await lab.show("<p>One</p>", token="one", app=True)
    await lab.show("<p>Two</p>", token="two", app=True, extras={"id": 1})
    await lab.display.front("one")
    before = lab.display._browser.starts
    with pytest.raises(BrowserGone):
        await lab.display._browser.call("Page.crash")
    assert await lab.texts() == ["One"]
    assert lab.display._browser.starts == before + 1
    assert await lab.value("document.documentElement.dataset.theme") == "dark"
    await lab.display.front("two")
    assert await lab.value("phone.extras.id") == 1
    await lab.display.theme(False)
    await lab.display.front(None)
    assert await lab.texts() == ["Notes"]


async def test_a_browser_that_was_killed_comes_back(lab: Lab) -> None:
    await lab.show("<button id=b onclick='b.textContent = 1'>One</button>", token="one")
    before = lab.display._browser.starts
    killed = [int(pid) for pid in children(lab.display._browser.pid)]
    os.kill(killed[0], signal.SIGKILL)
    await until(lambda: lab.display._browser.starts > before)
    picture, _ = await asyncio.gather(lab.display.screenshot(), lab.tap("b"))
    assert picture.startswith(b"\x89PNG")
    assert await lab.texts() == ["1"]


async def test_an_endless_loop_in_a_page_ends_with_a_new_browser(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    await lab.show("<p>Stop</p><button id=b onclick='for (;;);'>Loop</button>")
    before = lab.display._browser.starts
    monkeypatch.setattr(browser, "ANSWER_S", 1.0)
    await lab.tap("b")
    monkeypatch.undo()
    assert lab.display._browser.starts == before + 1
    assert await lab.texts() == ["Stop", "Loop"]


async def test_miniwobs_reward_is_read_from_the_page_in_front(lab: Lab) -> None:
    await lab.show(
        '<div id="query">Click on <b>OK</b></div><script>var WOB_REWARD_GLOBAL = 0.5, WOB_DONE_GLOBAL = true</script>'
    )
    assert await lab.display.reward() == {"reward": 0.5, "raw_reward": None, "done": True, "query": "Click on OK"}
    await lab.display.front(None)
    assert set((await lab.display.reward()).values()) == {None}


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
