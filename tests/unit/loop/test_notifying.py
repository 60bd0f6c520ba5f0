"""Notices reach a program and an address; whatever these do, the session goes on, and the address is told nobody."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from gateway.loop.notifying import Notice, notify

SECRET = "T024-hush-hush"  # in the path of the address
NOTICE = Notice(
    id="01/2#1",
    kind="warning",
    session="01",
    agent="basket",
    text="40 of 50 iterations used – 10 remain",
    iteration=40,
    at=1.5,
    data={"limit": "iterations", "remaining": 10},
)
Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def site(handle: Handle) -> AsyncIterator[str]:
    """A server on loopback, which answers everything with `handle`; its address, with a secret."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/{SECRET}"
    finally:
        await runner.cleanup()


def program(tmp_path: Path, code: str) -> list[str]:
    path = tmp_path / "tell.py"
    path.write_text(code)
    return [sys.executable, "-S", str(path)]


async def test_a_program_gets_the_notice_on_its_standard_input(tmp_path: Path) -> None:
    code = f"import sys; open({str(tmp_path / 'told')!r}, 'w').write(sys.stdin.read())"
    assert await notify(NOTICE, command=program(tmp_path, code), webhook="") == ()
    assert Notice.model_validate_json((tmp_path / "told").read_text()) == NOTICE


async def test_an_address_gets_the_notice_once_by_post(tmp_path: Path) -> None:
    told: list[tuple[str, str, str]] = []

    async def handle(request: web.Request) -> web.Response:
        told.append((request.method, request.headers["Idempotency-Key"], await request.text()))
        return web.Response(status=204)

    async with site(handle) as address:
        assert await notify(NOTICE, command=(), webhook=address) == ()
    [(method, key, body)] = told
    assert (method, key, json.loads(body)) == ("POST", NOTICE.id, NOTICE.model_dump(mode="json"))


async def test_nobody_is_told_where_nobody_wants_to_know() -> None:
    assert await notify(NOTICE, command=(), webhook="") == ()


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; print('no bell here'); sys.exit(3)", "ended with code 3: no bell here"),
        ("import time; time.sleep(600)", "did not end within 0.5 s"),
        ("import os; os.kill(os.getpid(), 9)", "ended with code -9"),
    ],
)
async def test_a_program_that_goes_wrong_is_a_problem_in_words(tmp_path: Path, code: str, problem: str) -> None:
    patience = 0.5 if "sleep" in code else 20
    [said] = await notify(NOTICE, command=program(tmp_path, code), webhook="", patience_s=patience)
    assert said.startswith("the program for notices (python") and said.endswith(problem)


async def test_a_program_that_is_missing_is_a_problem_in_words() -> None:
    [said] = await notify(NOTICE, command=["no-such-bell"], webhook="")
    assert "no-such-bell cannot be started: No such file or directory" in said


async def test_an_address_that_goes_wrong_is_a_problem_in_words_that_do_not_have_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    hanging = asyncio.Event()
    elsewhere: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        match request.path.rpartition("/")[2]:
            case "error":
                return web.Response(status=500, text=f"sorry, {request.path}")
            case "hang":
                await hanging.wait()
            case "moved":
                raise web.HTTPTemporaryRedirect("/elsewhere")
            case "elsewhere":
                elsewhere.append(request.path)
            case "cut":
                assert request.transport is not None
                request.transport.abort()
        return web.Response()

    async with site(handle) as address:

        async def problem(path: str, patience_s: float = 30) -> str:
            [said] = await notify(NOTICE, command=(), webhook=f"{address}/{path}", patience_s=patience_s)
            return said

        assert await problem("error") == "the webhook for notices answered 500"
        assert await problem("hang", 0.5) == "the webhook for notices did not answer within 0.5 s"
        assert await problem("moved") == "the webhook for notices answered 307"
        assert "cannot be reached" in await problem("cut")
        hanging.set()
    assert not elsewhere
    for wrong in (address, f"http://[{SECRET}", f"ftp://{SECRET}", SECRET):
        [said] = await notify(NOTICE, command=(), webhook=wrong)
        assert "cannot be reached" in said and SECRET not in said
    ours = [
        each.getMessage() for each in caplog.records if not each.name.startswith(("aiohttp.access", "aiohttp.server"))
    ]
    assert not any(SECRET in each for each in ours)


async def test_one_that_fails_does_not_keep_the_other_from_being_told(tmp_path: Path) -> None:
    told: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        told.append(await request.text())
        return web.Response()

    async with site(handle) as address:
        [said] = await notify(NOTICE, command=["no-such-bell"], webhook=address)
    assert "no-such-bell" in said and len(told) == 1


async def test_a_program_for_notices_gets_no_secrets_of_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("DISPLAY", ":7")
    code = f"import os; open({str(tmp_path / 'env')!r}, 'w').write(repr(sorted(os.environ)))"
    assert await notify(NOTICE, command=program(tmp_path, code), webhook="") == ()
    names = (tmp_path / "env").read_text()
    assert "OPENAI_API_KEY" not in names and "'DISPLAY'" in names
