"""Which server runs a model: one per model and home, known to every process through files in `<home>/models/run/`.

`NAME.json` says where the server is, and its change time is when it was last used. `NAME.alive` is locked by the server
as long as it lives, so that a stale registration is never taken for a server, nor its pid for the server's pid.
`NAME.lock` is held by whoever starts, stops or retires a server.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.llm.local import files
from gateway.llm.local.catalog import LocalModel

if TYPE_CHECKING:
    from filelock import BaseFileLock


class ServerAddress(BaseModel):
    """A server and how to talk to it. `port` is 0 while the model is being loaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pid: int
    host: str
    port: int
    api_key: str


class Registration:
    """The files of one model's server."""

    def __init__(self, model: LocalModel, home: Path) -> None:
        folder = files.folder(home) / "run"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = files.folder(home) / "log" / f"{model.name}.log"
        self.log.parent.mkdir(exist_ok=True)
        self._address = folder / f"{model.name}.json"
        self._alive = folder / f"{model.name}.alive"
        self._lock = folder / f"{model.name}.lock"

    def exclusive(self, timeout_s: float = -1) -> BaseFileLock:
        """The lock for starting, stopping and retiring; a context manager, which raises filelock.Timeout."""
        from filelock import FileLock

        return FileLock(self._lock, timeout=timeout_s)

    @contextlib.contextmanager
    def living(self, timeout_s: float = 0) -> Iterator[None]:
        """Held by the server while it lives; raises filelock.Timeout if another one does."""
        from filelock import FileLock

        with FileLock(self._alive, timeout=timeout_s):
            yield

    def is_alive(self) -> bool:
        from filelock import Timeout

        try:
            with self.living():
                return False
        except Timeout:
            return True

    def read(self) -> ServerAddress | None:
        try:
            return ServerAddress.model_validate_json(self._address.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, address: ServerAddress) -> None:
        """Readable by its owner only, since the key is in it."""
        fresh = self._address.with_name(f"{self._address.name}.{address.pid}")
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(address.model_dump_json())
        fresh.replace(self._address)

    def withdraw(self, pid: int) -> None:
        """Remove the registration, if it is that process's."""
        address = self.read()
        if address is not None and address.pid == pid:
            self._address.unlink(missing_ok=True)

    def touch(self) -> None:
        """Say that the server is being used."""
        with contextlib.suppress(FileNotFoundError):
            os.utime(self._address)

    def idle_s(self) -> float:
        """Seconds since the last use; infinite if nothing is registered."""
        try:
            return max(time.time() - self._address.stat().st_mtime, 0.0)
        except FileNotFoundError:
            return float("inf")
