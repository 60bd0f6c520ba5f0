"""Finding the server of a model, or starting it: one for all processes of this home."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ModelUnavailable
from gateway.llm.local import files, probe
from gateway.llm.local.catalog import PREFIX, LocalModel, find
from gateway.llm.local.registration import Registration, ServerAddress

IDLE_S = 600.0
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 5.0
HEALTH_TRIES = 3
POLL_S = 0.05
LOG_LINES = 12


@dataclass(frozen=True)
class LocalServer:
    """A running OpenAI-compatible server. `api_base` ends in `/v1`; `model` is the name to ask it for."""

    api_base: str
    api_key: str
    model: str
    registration: Registration

    def touch(self) -> None:
        """Call at each use, so that the server does not end between two calls."""
        self.registration.touch()


async def ensure_server(
    name: str, home: Path, *, idle_s: float = IDLE_S, start_timeout_s: float = START_TIMEOUT_S
) -> LocalServer:
    """The model's server, started if there is none that answers.

    It outlives this process, and ends when it has been idle for `idle_s` seconds (as its starter said). Cancelled, it
    lets the server start all the same. ModelUnavailable if the model is not installed or the server does not start.
    """
    return await asyncio.to_thread(_ensure, find(name), home, idle_s, start_timeout_s)


def stop_server(name: str, home: Path) -> bool:
    """End the model's server, also in the middle of a request; False if there was none."""
    registration = Registration(find(name), home)
    with registration.exclusive():
        if not registration.is_alive():
            return False
        _end(registration)
        return True


def running(name: str, home: Path) -> ServerAddress | None:
    """Where the model's server is, if there is one and it answers."""
    registration = Registration(find(name), home)
    address = registration.read()
    return address if address and registration.is_alive() and address.port and probe.is_healthy(address) else None


def _ensure(model: LocalModel, home: Path, idle_s: float, start_timeout_s: float) -> LocalServer:
    files.verify(model, home)
    registration = Registration(model, home)
    with registration.exclusive():
        address = _find(registration, start_timeout_s) or _start(model, registration, home, idle_s, start_timeout_s)
        registration.touch()
    return LocalServer(
        f"http://{address.host}:{address.port}/v1", address.api_key, f"{PREFIX}{model.name}", registration
    )


def _find(registration: Registration, start_timeout_s: float) -> ServerAddress | None:
    """The living server's address. One that does not answer is ended, and None is returned."""
    if not registration.is_alive():
        return None
    address = _await(registration, lambda: not registration.is_alive(), start_timeout_s)
    if address is not None and any(probe.is_healthy(address) for _ in range(HEALTH_TRIES)):
        return address
    _end(registration)
    return None


def _start(
    model: LocalModel, registration: Registration, home: Path, idle_s: float, start_timeout_s: float
) -> ServerAddress:
    command = [sys.executable, "-P", "-m", "gateway.llm.local.server"]
    path = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    stale = registration.read()
    if stale is not None:
        registration.withdraw(stale.pid)
    with registration.log.open("wb") as log:
        process = subprocess.Popen(
            [*command, model.model_dump_json(), str(home.resolve()), str(idle_s)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=files.folder(home),
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            start_new_session=True,  # Ctrl-C in the terminal that started it is not for it
        )
    address = _await(registration, lambda: process.poll() is not None, start_timeout_s, process.pid)
    if address is None:
        code = process.returncode
        process.kill()
        process.wait()
        how = f"took longer than {start_timeout_s:g} s to start" if code is None else f"ended with {code} at its start"
        said = registration.log.read_text(errors="replace").strip().splitlines()[-LOG_LINES:]
        raise ModelUnavailable(
            "\n".join([f"the server of {model.name} {how}:", *said]),
            hint=f"its log is {registration.log}",
        )
    threading.Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie when it ends
    return address


def _await(
    registration: Registration, ended: Callable[[], bool], timeout_s: float, pid: int | None = None
) -> ServerAddress | None:
    """The address, once the model (of process `pid`) is loaded; None if that does not come about."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and not ended():
        address = registration.read()
        if address is not None and address.port and pid in (None, address.pid):
            return address
        time.sleep(POLL_S)
    return None


def _end(registration: Registration) -> None:
    """Terminate the living server; kill it if it does not end."""
    address = registration.read()
    if address is None:
        return  # it lost its registration, and ends by itself
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(address.pid, sign)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while registration.is_alive() and time.monotonic() < deadline:
            time.sleep(POLL_S)
        if not registration.is_alive():
            break
    registration.withdraw(address.pid)
