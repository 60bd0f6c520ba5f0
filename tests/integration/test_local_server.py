"""The shared server of a local model: llama.cpp's own, on a model of a few thousand random weights."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny_gguf
from freezing import freeze

from gateway.errors import ModelUnavailable
from gateway.llm.local import files, launcher, probe
from gateway.llm.local.catalog import CATALOG, LocalModel, Packages
from gateway.llm.local.launcher import LocalServer, ensure_server, running, stop_server
from gateway.llm.local.registration import Registration, ServerAddress
from gateway.llm.local.server import serve

pytest.importorskip("xllamacpp")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalModel]:
    """An installed model, whose server is ended after the test."""
    tiny_gguf.write(tmp_path / "models" / "tiny.gguf")
    tiny = installed(tmp_path, monkeypatch)
    yield tiny
    stop_server(tiny.name, tmp_path)


def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    """The file `tiny.gguf` as a model of the catalogue, whatever is in it."""
    file = home / "models" / "tiny.gguf"
    tiny = LocalModel(
        name="tiny",
        description="",
        licence="Apache-2.0",
        size=file.stat().st_size,
        sha256=files.sha256_of(file),
        hub_repo="",
        hub_file="",
        packages=Packages(names=(), version=""),
        n_ctx=tiny_gguf.TRAINED_CTX,
        n_slots=2,
    )
    monkeypatch.setitem(CATALOG, tiny.name, tiny)
    return tiny


def chat(server: LocalServer, tokens: int, **more: Any) -> Any:
    """A chat completion of exactly so many tokens, unless a schema ends it."""
    body = {"model": server.model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": tokens} | more
    request = urllib.request.Request(
        f"{server.api_base}/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def pid_of(model: LocalModel, home: Path) -> int:
    address = Registration(model, home).read()
    assert address is not None
    return address.pid


def eventually(condition: Callable[[], bool], within_s: float = 20) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


async def test_a_server_is_started_once_and_answers_in_the_schema(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("local/tiny", tmp_path)
    again = await ensure_server("tiny", tmp_path)
    assert (again.api_base, again.api_key) == (server.api_base, server.api_key)
    assert server.api_base.startswith("http://127.0.0.1:") and server.api_base.endswith("/v1")
    assert server.model == "local/tiny"

    schema = {"type": "object", "properties": {"move": {"enum": ["left", "right"]}}, "required": ["move"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "MOVE", "strict": True, "schema": schema}}
    answer = chat(server, 100, response_format=wanted)
    assert json.loads(answer["choices"][0]["message"]["content"])["move"] in ("left", "right")


def test_it_is_for_those_with_the_key_only(model: LocalModel, tmp_path: Path) -> None:
    server = asyncio.run(ensure_server("tiny", tmp_path))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        chat(LocalServer(server.api_base, "guess", server.model, server.registration), 1)
    state = tmp_path / "models" / "run" / "tiny.json"
    assert state.stat().st_mode & 0o777 == 0o600 and server.api_key in state.read_text()
    assert server.api_key not in Path(f"/proc/{pid_of(model, tmp_path)}/cmdline").read_text()


def test_many_that_need_it_at_once_get_one_server(model: LocalModel, tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from gateway.llm.local.catalog import CATALOG, LocalModel
        from gateway.llm.local.launcher import ensure_server
        model = LocalModel.model_validate_json(sys.argv[1])
        CATALOG[model.name] = model
        print(asyncio.run(ensure_server(model.name, Path(sys.argv[2]))).api_base)
    """)
    command = [sys.executable, "-c", script, model.model_dump_json(), str(tmp_path)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    async def three() -> list[LocalServer]:
        return await asyncio.gather(*(ensure_server("tiny", tmp_path) for _ in range(3)))

    here = asyncio.run(three())
    there = [each.communicate()[0].strip() for each in others]
    assert len({each.api_base for each in here} | set(there)) == 1


async def test_it_outlives_the_process_that_started_it(model: LocalModel, tmp_path: Path) -> None:
    await ensure_server("tiny", tmp_path)
    assert os.getsid(pid_of(model, tmp_path)) != os.getsid(0)


@pytest.mark.parametrize("fate", ["dead", "hanging"])
async def test_a_server_that_does_not_answer_is_replaced(
    model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    monkeypatch.setattr(probe, "HEALTH_TIMEOUT_S", 0.1)
    monkeypatch.setattr(launcher, "STOP_TIMEOUT_S", 0.1)
    await ensure_server("tiny", tmp_path)
    first = pid_of(model, tmp_path)
    if fate == "hanging":
        freeze(first)
    else:
        os.kill(first, signal.SIGKILL)
    server = await ensure_server("tiny", tmp_path)
    assert pid_of(model, tmp_path) != first
    assert chat(server, 1)["usage"]["completion_tokens"] == 1
    eventually(lambda: not Path(f"/proc/{first}").exists())


def test_a_stale_registration_is_never_taken_for_a_server(model: LocalModel, tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        stale = ServerAddress(pid=bystander.pid, host="127.0.0.1", port=9, api_key="old")
        Registration(model, tmp_path).write(stale)
        assert running("tiny", tmp_path) is None
        asyncio.run(ensure_server("tiny", tmp_path))
        assert bystander.poll() is None, "the pid belongs to somebody else by now"
    finally:
        bystander.kill()
        bystander.wait()


async def test_it_ends_when_idle_and_takes_its_registration_with_it(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("tiny", tmp_path, idle_s=0.3)
    pid = pid_of(model, tmp_path)
    eventually(lambda: not server.registration.is_alive())
    assert server.registration.read() is None
    await ensure_server("tiny", tmp_path)
    assert pid_of(model, tmp_path) != pid


async def test_being_used_keeps_it(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("tiny", tmp_path, idle_s=2.0)
    until = time.monotonic() + 2.6
    while time.monotonic() < until:
        server.touch()
        await asyncio.sleep(0.05)
    assert running("tiny", tmp_path) is not None


async def test_it_never_ends_in_the_middle_of_a_request(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("tiny", tmp_path, idle_s=0.2)
    began = time.monotonic()
    answer = await asyncio.to_thread(chat, server, 4000, ignore_eos=True)
    assert answer["usage"]["completion_tokens"] == 4000
    assert time.monotonic() - began > 0.4, "too short to show anything"


async def test_one_whose_registration_is_gone_ends(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("tiny", tmp_path, idle_s=1.0)
    server.registration.withdraw(pid_of(model, tmp_path))
    eventually(lambda: not server.registration.is_alive())


async def test_stop_ends_it_also_while_it_works(model: LocalModel, tmp_path: Path) -> None:
    server = await ensure_server("tiny", tmp_path)
    failed = threading.Event()

    def work() -> None:
        try:
            chat(server, 8000, ignore_eos=True)
        except OSError:
            failed.set()

    working = threading.Thread(target=work, daemon=True)
    working.start()
    address = running("tiny", tmp_path)
    assert address is not None
    eventually(lambda: bool((now := probe.activity(address)) and now.requests))
    assert stop_server("tiny", tmp_path) is True
    working.join(10)
    assert failed.is_set()
    assert running("tiny", tmp_path) is None
    assert stop_server("tiny", tmp_path) is False


async def test_a_start_that_fails_shows_the_end_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(b"this is no model")
    installed(tmp_path, monkeypatch)
    with pytest.raises(ModelUnavailable, match=r"ended with 1 at its start:\n(.|\n)*tiny cannot be served") as caught:
        await ensure_server("tiny", tmp_path)
    assert str(tmp_path / "models" / "log" / "tiny.log") in caught.value.hint
    assert running("tiny", tmp_path) is None


def test_without_the_server_package_it_says_what_to_install(
    model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match="xllamacpp") as caught:
        serve(model, tmp_path)
    assert "[local]" in caught.value.hint
    assert running("tiny", tmp_path) is None


async def test_a_start_that_takes_too_long_is_given_up(model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"took longer than 0\.01 s"):
        await ensure_server("tiny", tmp_path, start_timeout_s=0.01)
    assert not Registration(model, tmp_path).is_alive()


def test_one_served_in_the_foreground_is_used_by_all(model: LocalModel, tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from gateway.llm.local.catalog import LocalModel
        from gateway.llm.local.server import serve
        model = LocalModel.model_validate_json(sys.argv[1])
        serve(model, Path(sys.argv[2]), on_ready=lambda address: print(address.port, flush=True))
    """)
    command = [sys.executable, "-c", script, model.model_dump_json(), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert asyncio.run(ensure_server("tiny", tmp_path)).api_base == f"http://127.0.0.1:{port}/v1"
        process.send_signal(signal.SIGINT)
        process.wait(10)
    assert Registration(model, tmp_path).read() is None
