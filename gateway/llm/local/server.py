"""The process that serves a model: llama.cpp's HTTP server, which ends when nobody has used it for a while.

`python -m gateway.llm.local.server MODEL HOME IDLE_SECONDS`, MODEL being a `LocalModel` as JSON.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateway.errors import EchelonError, ModelUnavailable
from gateway.llm.local import files, probe
from gateway.llm.local.catalog import PREFIX, LocalModel
from gateway.llm.local.registration import Registration, ServerAddress

POLL_S = 5.0
ALIVE_TIMEOUT_S = 2.0  # others hold the lock for a moment, to see whether a server does
CACHE_RAM_MIB = 2048  # prompts that were pushed out of their slot: 28 kB a token for the largest model
GUESSED_AFTER, GUESSED = 4, 8  # tokens that have to be the same, and tokens guessed then
LOG_WARNINGS = 2  # llama.cpp's scale; prompts are not logged


def serve(
    model: LocalModel,
    home: Path,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    idle_s: float | None = None,
    on_ready: Callable[[ServerAddress], None] = lambda _: None,
) -> None:
    """Serve in this process until it is interrupted, or has been idle for `idle_s` seconds.

    Registers itself, so that `local/NAME` uses it. ModelUnavailable if the model cannot be loaded or the port be had,
    or if a server of this model runs already.
    """
    from filelock import Timeout

    file = files.verify(model, home)
    registration = Registration(model, home)
    try:
        with registration.living(ALIVE_TIMEOUT_S):
            address = ServerAddress(pid=os.getpid(), host=host, port=0, api_key=secrets.token_urlsafe(32))
            registration.write(address)
            try:
                server = _start(model, file, address, port)
                address = address.model_copy(update={"port": urlsplit(server.listening_address).port})
                registration.write(address)
                on_ready(address)
                _stay(registration, address, idle_s)
            except KeyboardInterrupt:
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # requests in work are waited for: a second one ends it
                raise
            finally:
                registration.withdraw(address.pid)
    except Timeout:
        other = registration.read()
        raise ModelUnavailable(
            f"a server of {model.name} is running already",
            hint=f"use the one at http://{other.host}:{other.port}/v1, or end it: process {other.pid}" if other else "",
        ) from None


def _start(model: LocalModel, file: Path, address: ServerAddress, port: int) -> Any:
    """A running `xllamacpp.Server`; it ends when it is no longer referenced."""
    os.environ["OMP_WAIT_POLICY"] = "passive"  # read when the library is loaded; spinning starves other processes
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError as error:
        raise ModelUnavailable(
            "local models need the package xllamacpp", hint="pip install 'echelon-gateway[local]'"
        ) from error

    threads = os.cpu_count() or 1
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {f"{PREFIX}{model.name}"}
    params.hostnames = [address.host]
    params.port = port
    params.api_keys = [address.api_key]
    params.n_parallel = model.n_slots
    params.n_ctx = model.n_ctx * model.n_slots
    params.cache_ram_mib = CACHE_RAM_MIB
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # Text that stands in the prompt already, such as code to be rewritten, is guessed ahead, and checked in one go.
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    params.speculative.ngram_simple.size_n, params.speculative.ngram_simple.size_m = GUESSED_AFTER, GUESSED
    params.endpoint_metrics = True
    params.ui = False
    params.verbosity = LOG_WARNINGS
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelUnavailable(f"{model.name} cannot be served: {error}") from error


def _stay(registration: Registration, address: ServerAddress, idle_s: float | None) -> None:
    """Return when the server has been idle for long enough, or nobody can find it any more."""
    from filelock import Timeout

    before = probe.activity(address)
    while True:
        time.sleep(POLL_S if idle_s is None else min(POLL_S, idle_s / 4))
        now = probe.activity(address)
        if now is None or now.requests or now != before:
            registration.touch()
        elif registration.read() != address:
            return
        elif idle_s is not None and registration.idle_s() > idle_s:
            try:
                with registration.exclusive(timeout_s=0):
                    if registration.idle_s() > idle_s and probe.activity(address) == now:
                        registration.withdraw(address.pid)
                        return
            except Timeout:
                pass  # somebody is about to use it
        before = now


def main() -> None:
    model, home, idle_s = sys.argv[1:]
    try:
        serve(LocalModel.model_validate_json(model), Path(home), idle_s=float(idle_s))
    except EchelonError as error:
        sys.exit(f"{error}\n{error.hint}")


if __name__ == "__main__":
    main()
