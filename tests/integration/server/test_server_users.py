"""Who may ask, and that users do not see each other."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from service import complete, served

from gateway.errors import ConfigError, UsageError

TOKENS = {"ada": "token-of-ada", "bob": "token-of-bob"}


async def test_a_token_is_needed_where_there_are_some(tmp_path: Path) -> None:
    async with served(tmp_path, complete(), serve={"tokens": TOKENS}) as service:
        for header in ({}, {"Authorization": "Bearer nope"}, {"Authorization": "Basic token-of-ada"}):
            for got in (await service.ask("Hi", headers=header), await service.send("GET", "/models", header)):
                assert (got.status, got.body["error"]["code"]) == (401, "invalid_api_key")
        assert (await service.send("GET", "/../healthz")).status == 200
        bearer = {"Authorization": "Bearer token-of-ada", "Host": "chat.example"}
        assert (await service.ask("Hi", headers=bearer)).status == 200
        assert "token-of-ada" not in "".join(service.said)


async def test_each_user_has_a_home(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Hello!"), serve={"tokens": TOKENS}) as service:
        bearers = [{"Authorization": f"Bearer {token}"} for token in TOKENS.values()]
        first = await service.ask("Hi", headers=bearers[0])
        said = ("Hi", ("assistant", "Hello!"), "Two")
        assert (await service.ask(*said, headers=bearers[1])).place[0] != first.place[0]
        assert (await service.ask(*said, headers=bearers[0])).place == (first.place[0], "2")
    homes = [tmp_path / "home/users" / name for name in TOKENS]
    assert all((home / "turns").is_dir() and (home / "chats.db").is_file() for home in homes)
    assert all((home / "models").resolve() == tmp_path / "home/models" for home in homes)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:8700"}, 403),
        ({"Host": "["}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]:8700"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_web_pages_from_elsewhere_are_refused(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async with served(tmp_path, complete()) as service:
        got = await service.ask("Hi", headers=headers)
        assert got.status == status
        assert not any(name.lower().startswith("access-control") for name in got.headers)


@pytest.mark.parametrize(
    ("serve", "error"),
    [
        ({"host": "0.0.0.0"}, UsageError),
        ({"host": ""}, UsageError),
        ({"tokens": {"../ada": "a-token"}}, ConfigError),
        ({"tokens": {"ada": " "}}, ConfigError),
        ({"tokens": {"ada": "same", "bob": "same"}}, ConfigError),
    ],
)
async def test_what_it_refuses_to_serve(tmp_path: Path, serve: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        async with served(tmp_path, serve=serve):
            pass


async def test_a_port_in_use_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port} is in use"):
            async with served(tmp_path, serve={"port": port}):
                pass
