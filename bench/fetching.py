"""A hundred pages of one site that answers after 20 ms: our fetching against bare aiohttp at the same concurrency, in
turns; and what reading the pages costs, which no comparison with fetching alone should count.

`python -m bench.fetching` prints the table.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from bench.table import Line, show

PAGES, DELAY_S, AT_ONCE = 100, 0.02, 10
PARAGRAPH = "<p>The harbour was built in the year of the great storm, and has been rebuilt many times since then.</p>\n"
PAGE = f"<html><head><title>Harbours</title></head><body><main><h1>Harbours</h1>{PARAGRAPH * 250}</main></body></html>"


@contextmanager
def slow_site() -> Iterator[str]:
    """Its host and port, while it runs in a process of its own."""
    command = [sys.executable, "-m", "bench.fetching", "serve"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


async def serve() -> None:
    from aiohttp import web

    async def page(request: web.Request) -> web.Response:
        if request.path != "/robots.txt":
            await asyncio.sleep(DELAY_S)
        return web.Response(text=PAGE, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path}", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def bare(urls: list[str]) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

        async def one(url: str) -> bytes:
            async with session.get(url) as response:
                return await response.read()

        assert {len(each) for each in await asyncio.gather(*map(one, urls))} == {len(PAGE)}


async def ours(urls: list[str], host: str) -> None:
    from gateway.tools.research.fetcher import Fetcher

    async with Fetcher([host], per_host=AT_ONCE) as fetcher:
        assert {len(each.body) for each in await asyncio.gather(*map(fetcher.fetch, urls))} == {len(PAGE)}


async def reading(pages: int) -> None:
    from gateway.tools.research.fetcher import Fetched
    from gateway.tools.research.readers import Readers

    async with Readers() as readers:
        page = Fetched("http://harbours.example/", "text/html", "utf-8", PAGE.encode())
        await asyncio.gather(*(readers.read(page) for _ in range(pages)))


def timed(host: str, number: int) -> tuple[float, float]:
    """Seconds of ours and of bare aiohttp for the same pages."""
    urls = [f"http://{host}/{number}-{each}" for each in range(PAGES)]
    began = time.perf_counter()
    asyncio.run(ours(urls, host))
    between = time.perf_counter()
    asyncio.run(bare(urls))
    return between - began, time.perf_counter() - between


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(rounds: int = 9) -> list[Line]:
    with slow_site() as host:
        timed(host, 0)
        times = [timed(host, number + 1) for number in range(rounds)]
    ratio = median(mine / theirs for mine, theirs in times)
    before = children_s()
    asyncio.run(reading(PAGES))
    each_ms = (children_s() - before) / PAGES * 1000
    return [
        Line(f"bare aiohttp, {PAGES} pages, {AT_ONCE} at once", f"{median(each for _, each in times) * 1000:.0f} ms"),
        Line("our fetching, robots.txt and checks included", f"{median(each for each, _ in times) * 1000:.0f} ms"),
        Line("… against the former", f"{ratio:.2f} ×", "≤ 2 ×", ratio <= 2),
        Line(f"reading a page of {len(PAGE) / 1000:.0f} kB, CPU in the readers' processes", f"{each_ms:.0f} ms"),
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        show(f"{PAGES} pages that take {DELAY_S * 1000:.0f} ms each", measure())
