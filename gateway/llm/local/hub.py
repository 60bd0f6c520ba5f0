"""The Hugging Face hub as a source: one file over HTTP, resumed by range requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.llm.local.catalog import LocalModel
from gateway.llm.local.source import SourceFailed

if TYPE_CHECKING:
    import httpx

CHUNK = 1 << 20  # bytes
TRIES = 4  # in a row without a new byte


@dataclass(frozen=True)
class Hub:
    """Where it cannot be connected to, it fails at once; a connection that breaks later is taken up again."""

    base_url: str = "https://huggingface.co"
    connect_timeout_s: float = 4.0
    read_timeout_s: float = 30.0
    pause_s: float = 1.0
    name: str = "Hugging Face"

    def fetch(self, model: LocalModel, partial: Path, on_bytes: Callable[[int], None]) -> Path:
        import httpx

        file = partial / "hub.gguf"
        url = f"{self.base_url}/{model.hub_repo}/resolve/main/{model.hub_file}"
        failures = 0
        with httpx.Client(
            timeout=httpx.Timeout(self.read_timeout_s, connect=self.connect_timeout_s), follow_redirects=True
        ) as client:
            while (before := _size(file)) < model.size:
                try:
                    _take_up(client, url, file, model.size, on_bytes)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    raise SourceFailed(f"cannot connect: {error}") from error
                except httpx.HTTPError as error:
                    failures = 0 if _size(file) > before else failures + 1
                    if failures == TRIES:
                        raise SourceFailed(str(error)) from error
                    time.sleep(self.pause_s * failures)
        return file


def _take_up(client: httpx.Client, url: str, file: Path, size: int, on_bytes: Callable[[int], None]) -> None:
    """Add to `file` what one request gives; httpx.HTTPError where another request may go on."""
    have = _size(file)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == 429 or response.status_code >= 500:
            response.raise_for_status()
        if response.status_code not in (200, 206):
            raise SourceFailed(f"HTTP {response.status_code}")
        have = have if response.status_code == 206 else 0  # 200: the server sends all of it again
        if have + int(response.headers.get("Content-Length", size - have)) != size:
            raise SourceFailed("another file is there under this name")
        with file.open("ab" if have else "wb") as out:
            for chunk in response.iter_bytes(CHUNK):
                have += len(chunk)
                if have > size:
                    raise SourceFailed("the file is longer than it should be")
                out.write(chunk)
                out.flush()
                on_bytes(have)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
