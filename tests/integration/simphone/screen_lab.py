"""A screen to test on: the web server and the display without the rest of the phone, pages from strings, what pages
asked of the system, and the hierarchy as a tree."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from simphone.faults import Faults
from simphone.screen.display import Display
from simphone.screen.store import AppStore
from simphone.screen.web import Web

PACKAGE = "org.example.page"


class Node:
    """One node of a hierarchy."""

    def __init__(self, element: ElementTree.Element) -> None:
        self.element = element
        self.text = element.get("text", "")
        self.id = element.get("resource-id", "").partition(":id/")[2]
        self.kind = element.get("class", "").rpartition(".")[2]
        self.description = element.get("content-desc", "")
        left, top, right, bottom = map(int, re.findall(r"-?\d+", element.get("bounds", "")))
        self.bounds = (left, top, right, bottom)
        self.centre = ((left + right) // 2, (top + bottom) // 2)

    def is_(self, attribute: str) -> bool:
        return self.element.get(attribute) == "true"

    @property
    def children(self) -> list[Node]:
        return [Node(each) for each in self.element]


class Lab:
    """What a phone would put around the display; `calls` are what pages asked: (package, token, method, arguments)."""

    def __init__(self, folder: Path) -> None:
        self.pages = folder / "pages"
        self.pages.mkdir(parents=True)
        self.store = AppStore(folder / "apps")
        self.web = Web(self.store)
        self.web.folders[PACKAGE] = self.pages
        self.web.on_call = self._called
        self.web.control = self
        self.display = Display(self.web, folder)
        self.faults = Faults()
        self.calls: list[tuple[str, str, str, dict[str, Any]]] = []
        self.answer: Callable[[str, dict[str, Any]], Any] = lambda method, args: None
        self._numbers = itertools.count()

    async def state(self) -> dict[str, Any]:
        return await self.display.state()

    async def reset(self) -> None:
        self.store.clear(PACKAGE)
        self.faults.clear()
        await self.display.front(None)

    async def show(self, body: str, *, token: str = "w", app: bool = False, **more: Any) -> None:
        """A window of a page with this body; with `app` it includes phone.js and phone.css."""
        head = '<link rel="stylesheet" href="/common/phone.css"><script src="/common/phone.js"></script>' if app else ""
        await self.display.open(token, self.write(f"{head}<body>{body}"), PACKAGE, **more)

    def write(self, html: str) -> str:
        """The path of a page on the phone's server."""
        name = f"page{next(self._numbers)}.html"
        start = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        (self.pages / name).write_text(start + html, encoding="utf-8")
        return f"/app/{PACKAGE}/{name}"

    async def nodes(self) -> list[Node]:
        root = ElementTree.fromstring((await self.display.hierarchy()).encode())
        return [Node(each) for each in root.iter("node")]

    async def node(self, wanted: str) -> Node:
        """The one with this id, text or description."""
        found = [each for each in await self.nodes() if wanted in (each.id, each.text, each.description)]
        assert len(found) == 1, (
            f"{len(found)} nodes {wanted!r} among {[(n.kind, n.text, n.id) for n in await self.nodes()]}"
        )
        return found[0]

    async def texts(self) -> list[str]:
        return [each.text for each in await self.nodes() if each.text]

    async def tap(self, wanted: str) -> None:
        await self.display.tap(*(await self.node(wanted)).centre)

    async def value(self, expression: str) -> Any:
        """JavaScript in the page in front."""
        return await self.display.evaluate(expression)

    async def key(self, label: str) -> None:
        """A key of the on-screen keyboard, found as an eye would: by its place in the picture."""
        place = await self.display._browser.evaluate(
            "(() => { const key = [...document.querySelectorAll('#keyboard button')].find((each) =>"
            f" each.ariaLabel === {label!r}); const at = key.getBoundingClientRect();"
            " return [at.left + at.width / 2, at.top + at.height / 2]; })()"
        )
        await self.display.tap(place[0] * 3, place[1] * 3)

    async def _called(self, package: str, token: str, method: str, args: dict[str, Any]) -> Any:
        self.calls.append((package, token, method, args))
        return self.answer(method, args)


@asynccontextmanager
async def lab_in(folder: Path) -> AsyncIterator[Lab]:
    lab = Lab(folder)
    await lab.web.start()
    try:
        await lab.display.start()
        yield lab
    finally:
        await lab.display.stop()
        await lab.web.stop()


async def until(happened: Callable[[], bool]) -> None:
    """For what no event tells of: other processes, a browser that ends by itself."""

    def poll() -> None:
        while not happened():
            time.sleep(0.01)

    await asyncio.to_thread(poll)
