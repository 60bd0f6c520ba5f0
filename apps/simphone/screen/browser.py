"""Chromium without a window, over a pipe (no port), as one page that comes back after a crash."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from simphone.screen import supervisor
from simphone.screen.devtools import BrowserGone, CallFailed, DevTools

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANSWER_S = 20.0  # a page that does not answer for so long is ended: an endless loop in an app
_START_S = 60.0
_ENDING_S = 10.0
# Frames of every origin lie in one process and are open to the system's page: the hierarchy and the touches reach them.
_ONE_PROCESS = ("--disable-web-security", "--disable-site-isolation-trials")
_OFF = (
    "IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,PaintHolding,AutofillServerCommunication"
)
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    *_ONE_PROCESS,
    f"--disable-features={_OFF}",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-lcd-text",
    "--disable-partial-raster",  # pictures of the same state are equal
    "--disable-pinch",
    "--disable-smooth-scrolling",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--lang=en-US",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--overscroll-history-navigation=0",
    "--password-store=basic",
    "--touch-events=enabled",
    "--use-mock-keychain",
)
_PREFERENCES = {
    "autofill": {"enabled": False, "profile_enabled": False, "credit_card_enabled": False},
    "credentials_enable_service": False,
    "profile": {"password_manager_enabled": False, "default_content_setting_values": {"popups": 2, "notifications": 2}},
}
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


class BrowserMissing(RuntimeError):
    """There is no Chromium on this machine, or it does not start; the message says what to do."""


def program() -> str:
    """Where Chromium is; raises BrowserMissing."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise BrowserMissing("Chromium is not installed: install the package `chromium`")


class Browser:
    """One page. `prepare(browser)` is awaited after every start, the first and those after a crash; calls that are made
    while the browser is being started wait for it."""

    def __init__(self, folder: Path, prepare: Callable[[Browser], Awaitable[None]]) -> None:
        self._folder = folder
        self._prepare = prepare
        self._process: asyncio.subprocess.Process | None = None
        self._tools: DevTools | None = None
        self._page = ""
        self._session = ""
        self._ready = asyncio.Event()
        self._reviving: asyncio.Task[None] | None = None
        self._failure: BrowserMissing | None = None
        self._sandbox = os.geteuid() != 0  # Chromium has none for root
        self._closing = False
        self.starts = 0
        self.on_event: Callable[[str, dict[str, Any]], None] = lambda method, params: None

    @property
    def pid(self) -> int:
        """Of the process that looks after the browser."""
        if self._process is None:
            raise BrowserGone("the browser has not been started")
        return self._process.pid

    async def start(self) -> None:
        """Raises BrowserMissing."""
        for each in self._folder.glob(".browser-*"):  # of one that was killed together with its supervisor
            shutil.rmtree(each, ignore_errors=True)
        try:
            try:
                await self._launch()
            except BrowserGone:
                if not self._sandbox:
                    raise
                await self._end()
                self._sandbox = False  # where the kernel gives none, as in many containers
                await self._launch()
        except BrowserGone as problem:
            await self._end()
            tried = f"`{program()} --headless --no-sandbox --dump-dom about:blank`"
            raise BrowserMissing(f"Chromium does not start ({problem}); {tried} shows why") from None
        except BaseException:
            await self._end()
            raise

    async def stop(self) -> None:
        self._closing = True
        if self._reviving is not None:
            self._reviving.cancel()
            with suppress(asyncio.CancelledError):
                await self._reviving
        await self._end()
        self._failure = BrowserMissing("the browser has been stopped")  # for those who wait for it to come back
        self._ready.set()

    async def call(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A call to the page. Raises CallFailed, or BrowserGone when the browser ended before it answered: it is being
        started anew then."""
        await self.ready()
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self.call_now(method, params)
        except TimeoutError:
            self.revive()
            raise BrowserGone(f"the page has not answered {method} for {ANSWER_S:.0f} s: it is started anew") from None

    async def call_now(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """As `call`, by `prepare` itself."""
        if self._tools is None:
            raise BrowserGone("the browser has ended")
        return await self._tools.call(method, dict(params or {}), session=self._session)

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression (awaited, if it is a promise) in the main frame. Raises CallFailed with the
        exception's text."""
        return _value(await self.call("Runtime.evaluate", _asking(expression)))

    async def evaluate_now(self, expression: str) -> Any:
        """As `evaluate`, by `prepare` itself."""
        return _value(await self.call_now("Runtime.evaluate", _asking(expression)))

    async def ready(self) -> None:
        await self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def revive(self) -> None:
        """Ends this browser and starts another."""
        if self._closing or self._reviving is not None:
            return
        self._ready.clear()
        self._reviving = asyncio.get_running_loop().create_task(self._revive())

    async def _revive(self) -> None:
        try:
            for attempt in range(3):
                await self._end()
                try:
                    await self._launch()
                    return
                except (BrowserGone, BrowserMissing, CallFailed, OSError) as problem:
                    if attempt == 2:
                        self._failure = BrowserMissing(f"Chromium does not start any more: {problem}")
                        self._ready.set()
        finally:
            self._reviving = None

    async def _launch(self) -> None:
        """Raises BrowserGone when the browser ends before it answers, BrowserMissing when there is none."""
        found = program()
        self._folder.mkdir(parents=True, exist_ok=True)
        profile = Path(tempfile.mkdtemp(dir=self._folder, prefix=".browser-"))
        (profile / "Default").mkdir()
        (profile / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES), encoding="utf-8")
        command = [found, *_FLAGS, *(() if self._sandbox else ("--no-sandbox",))]
        command += [f"--user-data-dir={profile}", "--window-size=360,800", "about:blank"]
        theirs_reads, ours_writes = os.pipe()
        ours_reads, theirs_writes = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", supervisor.__file__, str(theirs_reads), str(theirs_writes), str(profile)),
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs_reads, theirs_writes),
                start_new_session=True,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"HOME": str(profile)},
            )
        except BaseException:
            os.close(ours_reads)
            os.close(ours_writes)
            shutil.rmtree(profile, ignore_errors=True)
            raise
        finally:
            os.close(theirs_reads)
            os.close(theirs_writes)
        tools = DevTools(self._event, lambda: self._gone(tools))
        await tools.connect(ours_reads, ours_writes)
        self._tools = tools
        try:
            async with asyncio.timeout(_START_S):
                await self._attach(tools)
                await self._prepare(self)
        except TimeoutError:
            raise BrowserGone(f"the browser did not come up in {_START_S:.0f} s") from None
        self.starts += 1
        self._failure = None
        self._ready.set()

    async def _attach(self, tools: DevTools) -> None:
        await tools.call("Target.setDiscoverTargets", {"discover": True})
        infos = (await tools.call("Target.getTargets"))["targetInfos"]
        pages = [each["targetId"] for each in infos if each["type"] == "page"]
        page = pages[0] if pages else (await tools.call("Target.createTarget", {"url": "about:blank"}))["targetId"]
        self._page = page
        self._session = (await tools.call("Target.attachToTarget", {"targetId": page, "flatten": True}))["sessionId"]

    def _event(self, method: str, params: dict[str, Any], session: str) -> None:
        if method == "Target.targetCreated":
            info = params["targetInfo"]
            if info["type"] == "page" and info.get("openerId") and self._tools is not None:
                self._tools.send("Target.closeTarget", {"targetId": info["targetId"]})  # nobody would see it
        elif method in ("Inspector.targetCrashed", "Inspector.detached") or (
            method == "Target.targetCrashed" and params.get("targetId") == self._page
        ):
            self.revive()
        elif session == self._session:
            self.on_event(method, params)

    def _gone(self, tools: DevTools) -> None:
        if tools is self._tools and self._ready.is_set():
            self.revive()

    async def _end(self) -> None:
        """The supervisor kills the group and removes the profile when its standard input ends."""
        tools, self._tools = self._tools, None
        process, self._process = self._process, None
        self._ready.clear()
        if tools is not None:
            tools.close()
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_ENDING_S):
                await process.wait()
        except TimeoutError:
            process.terminate()
            await process.wait()


def _asking(expression: str) -> dict[str, Any]:
    return {"expression": expression, "returnByValue": True, "awaitPromise": True}


def _value(answer: Mapping[str, Any]) -> Any:
    if problem := answer.get("exceptionDetails"):
        raise CallFailed(problem.get("exception", {}).get("description") or problem.get("text", "?"))
    return answer["result"].get("value")
