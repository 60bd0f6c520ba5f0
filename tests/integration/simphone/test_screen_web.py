"""The phone's web server: pages, state, calls, and the channel for tests. No browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from screen_lab import PACKAGE

from simphone.faults import Fault, Faults
from simphone.screen.store import AppStore
from simphone.screen.web import CallRefused, Web


class Screen:
    """In place of the display."""

    def __init__(self) -> None:
        self.refreshed: list[str] = []

    async def refresh(self, package: str) -> None:
        self.refreshed.append(package)

    async def reward(self) -> dict[str, Any]:
        return {"reward": 0.5, "done": True}


class Phone:
    def __init__(self) -> None:
        self.faults = Faults()
        self.display = Screen()
        self.resets = 0

    async def state(self) -> dict[str, Any]:
        return {"foreground": PACKAGE}

    async def reset(self) -> None:
        self.resets += 1


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Web]:
    server = Web(AppStore(tmp_path / "apps"))
    server.folders[PACKAGE] = tmp_path / "pages"
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.html").write_text("<p>Hello", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def http(web: Web) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(web.url) as session:
        yield session


async def test_pages_of_the_system_of_all_apps_and_of_an_app(http: aiohttp.ClientSession) -> None:
    for path, kind, part in [
        ("/system/index.html", "text/html", "<title>Phone"),
        ("/common/phone.js", "javascript", "window.phone"),
        ("/common/phone.css", "text/css", "--primary"),
        (f"/app/{PACKAGE}/index.html", "text/html", "<p>Hello"),
    ]:
        answer = await http.get(path)
        assert answer.status == 200 and kind in answer.headers["Content-Type"]
        assert part in await answer.text()


@pytest.mark.parametrize(
    "path", ["nothing.html", "%2e%2e/secret.txt", "..%2fsecret.txt", "/etc/passwd", "%2fetc/passwd"]
)
async def test_nothing_but_an_apps_own_pages(http: aiohttp.ClientSession, path: str) -> None:
    from yarl import URL

    base = str(http._base_url).rstrip("/")
    answer = await http.get(URL(f"{base}/app/{PACKAGE}/{path}", encoded=True))
    assert answer.status == 404


async def test_a_link_out_of_the_folder_is_not_followed(web: Web, http: aiohttp.ClientSession, tmp_path: Path) -> None:
    (tmp_path / "pages" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert (await http.get(f"/app/{PACKAGE}/link.txt")).status == 404


async def test_state_and_record_of_an_app(web: Web, http: aiohttp.ClientSession) -> None:
    web.store.initial[PACKAGE] = {"count": 0}
    assert await (await http.get(f"/store/{PACKAGE}")).json() == {"count": 0}
    assert (await http.put(f"/store/{PACKAGE}", json={"count": 1})).status == 200
    assert await (await http.get(f"/store/{PACKAGE}")).json() == {"count": 1}
    await http.post(f"/log/{PACKAGE}", json={"kind": "order", "data": {"item": "tea"}})
    assert web.store.log(PACKAGE) == [{"kind": "order", "data": {"item": "tea"}}]


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff"])
async def test_a_state_is_a_json_object(http: aiohttp.ClientSession, body: bytes) -> None:
    assert (await http.put(f"/store/{PACKAGE}", data=body)).status == 400


async def test_a_name_that_is_no_package_is_refused(http: aiohttp.ClientSession) -> None:
    assert (await http.get("/store/a%20b")).status == 400


async def test_a_call_gets_its_answer_or_the_reason_why_not(web: Web, http: aiohttp.ClientSession) -> None:
    async def answer(package: str, token: str, method: str, args: dict[str, Any]) -> Any:
        if method == "start":
            raise CallRefused("no such activity")
        if method == "broken":
            raise RuntimeError("oh")
        return [package, token, method, args]

    web.on_call = answer
    said = await http.post(f"/call/{PACKAGE}/t1/property", json={"name": "ro.x"})
    assert await said.json() == [PACKAGE, "t1", "property", {"name": "ro.x"}]
    refused = await http.post(f"/call/{PACKAGE}/t1/start", json={})
    assert (refused.status, await refused.json()) == (409, {"error": "no such activity"})
    broken = await http.post(f"/call/{PACKAGE}/t1/broken", json={})
    assert (broken.status, await broken.json()) == (500, {"error": "RuntimeError: oh"})


async def test_there_is_no_test_channel_without_a_phone(http: aiohttp.ClientSession) -> None:
    assert (await http.get("/test/state")).status == 404


async def test_tests_read_and_set_what_apps_keep(web: Web, http: aiohttp.ClientSession) -> None:
    web.control = phone = Phone()
    assert (await http.put(f"/test/apps/{PACKAGE}", json={"count": 7})).status == 200
    assert await (await http.get(f"/test/apps/{PACKAGE}")).json() == {"count": 7}
    assert phone.display.refreshed == [PACKAGE]
    web.store.append(PACKAGE, "sent", "hello")
    assert await (await http.get(f"/test/log/{PACKAGE}")).json() == [{"kind": "sent", "data": "hello"}]
    assert await (await http.get("/test/state")).json() == {"foreground": PACKAGE}
    assert await (await http.get("/test/reward")).json() == {"reward": 0.5, "done": True}
    await http.post("/test/reset")
    assert phone.resets == 1


async def test_tests_set_faults_and_see_which_acted(web: Web, http: aiohttp.ClientSession) -> None:
    web.control = phone = Phone()
    await http.post("/test/faults", json={"fault": "popup:text=Hello,times=2"})
    await http.post("/test/faults", json={"name": "screen_off", "at": "input *"})
    assert phone.faults.active() == [Fault("popup", text="Hello", times=2), Fault("screen_off", at="input *")]
    phone.faults.take("screen_off", "input tap 1 2")
    said = await (await http.get("/test/faults")).json()
    assert [each["name"] for each in said["active"]] == ["popup"]
    assert said["acted"] == ["screen_off input tap 1 2"]
    await http.delete("/test/faults?name=popup")
    assert phone.faults.active() == []


@pytest.mark.parametrize("wanted", [{"fault": "nonsense"}, {"fault": 5}, {"name": "popup", "colour": 1}, {}])
async def test_a_fault_that_does_not_exist_is_refused(
    web: Web, http: aiohttp.ClientSession, wanted: dict[str, Any]
) -> None:
    web.control = phone = Phone()
    assert (await http.post("/test/faults", json=wanted)).status == 400
    assert phone.faults.active() == []


async def test_pages_of_other_sites_get_nothing(web: Web, http: aiohttp.ClientSession) -> None:
    web.control = phone = Phone()
    assert (await http.post("/test/reset", headers={"Origin": "https://example.org"})).status == 403
    assert (await http.get("/test/state", headers={"Host": "example.org"})).status == 403
    assert (await http.post("/test/reset", headers={"Origin": web.url})).status == 200
    assert phone.resets == 1


async def test_pages_of_other_sites_cannot_show_those_of_the_phone(web: Web, http: aiohttp.ClientSession) -> None:
    answer = await http.get(f"/app/{PACKAGE}/index.html")
    local = web.url.replace("127.0.0.1", "localhost")
    assert answer.headers["Content-Security-Policy"] == f"frame-ancestors {web.url} {local}"
