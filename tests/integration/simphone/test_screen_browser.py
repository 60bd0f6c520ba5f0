"""The browser's processes: all of them end, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from screen_lab import Lab, lab_in, until

from simphone.screen import browser
from simphone.screen.browser import BrowserMissing
from simphone.screen.devtools import BrowserGone

PHONE = """
import asyncio, sys
from pathlib import Path
from screen_lab import lab_in

async def main():
    async with lab_in(Path(sys.argv[1])):
        print("up", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def processes(folder: Path) -> list[int]:
    """Those that name the folder in their arguments, as the browser's do: their profile lies in it."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                named = str(folder).encode() in words(int(each.name))
            except OSError:
                continue
            if named and int(each.name) != os.getpid():
                found.append(int(each.name))
    return found


def left(folder: Path) -> bool:
    return bool(processes(folder)) or any(folder.glob(".browser-*"))


def words(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


async def test_stopping_leaves_no_process_no_profile_and_no_port(tmp_path: Path) -> None:
    async with lab_in(tmp_path) as lab:
        assert len(processes(tmp_path)) > 2
        assert not any(b"remote-debugging-port" in words(each) for each in processes(tmp_path))
        await lab.show("<p>Page</p>")
    assert processes(tmp_path) == []
    assert not left(tmp_path)
    with pytest.raises(BrowserGone):
        _ = lab.display._browser.pid


async def test_a_phone_that_is_killed_takes_its_browser_with_it(tmp_path: Path) -> None:
    phone = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PHONE, str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.path.dirname(__file__)},
        start_new_session=True,
    )
    assert phone.stdout is not None
    assert await phone.stdout.readline() == b"up\n"
    assert len(processes(tmp_path)) > 2
    phone.kill()
    await phone.wait()
    await until(lambda: not left(tmp_path))


async def test_without_chromium_there_is_a_word_on_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "NAMES", ("no-such-browser",))
    with pytest.raises(BrowserMissing, match="install the package `chromium`"):
        async with lab_in(tmp_path):
            pass


async def test_a_browser_that_ends_at_once_is_reported_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "NAMES", ("true",))
    with pytest.raises(BrowserMissing, match="Chromium does not start"):
        async with lab_in(tmp_path):
            pass
    await until(lambda: not left(tmp_path))


async def test_a_browser_that_cannot_be_started_again_fails_every_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lab_in(tmp_path) as lab:
        monkeypatch.setattr(browser, "NAMES", ("true",))
        lab.display._browser.revive()
        for call in (lab.display.screenshot, lab.display.hierarchy, lab.display.state):
            with pytest.raises(BrowserMissing, match="does not start any more"):
                await call()


async def test_what_is_under_way_when_it_stops_fails_and_does_not_hang(tmp_path: Path) -> None:
    async with lab_in(tmp_path) as lab:
        await lab.show('<button id="b">Go</button>')
        press = asyncio.ensure_future(lab.display.long_press(100, 150, 2000))
        await lab.display.state()
    with pytest.raises(BrowserMissing, match="has been stopped"):
        await press


async def test_two_phones_side_by_side_know_nothing_of_each_other(tmp_path: Path) -> None:
    async with lab_in(tmp_path / "a") as first, lab_in(tmp_path / "b") as second:
        await asyncio.gather(first.show("<p>First</p>"), second.show("<p>Second</p>"))
        assert await texts(first, second) == [["First"], ["Second"]]


async def texts(*labs: Lab) -> list[list[str]]:
    return [await each.texts() for each in labs]
