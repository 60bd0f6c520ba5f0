"""Model files on disk: `<home>/models/NAME.gguf`, and beside each a stamp of what was verified."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.errors import ModelUnavailable
from gateway.llm.local.catalog import CATALOG, LocalModel


class Stamp(BaseModel):
    """Says that a file of this size and change time had this sha256: hashing a gigabyte takes seconds."""

    model_config = ConfigDict(extra="forbid")

    sha256: str
    size: int
    mtime_ns: int


def folder(home: Path) -> Path:
    return home / "models"


def path(model: LocalModel, home: Path) -> Path:
    """Where the model's file is, or would be."""
    return folder(home) / f"{model.name}.gguf"


def stamp_path(model: LocalModel, home: Path) -> Path:
    return path(model, home).with_suffix(".gguf.json")


def partial_folder(model: LocalModel, home: Path) -> Path:
    """What was downloaded so far."""
    return folder(home) / ".partial" / model.name


def is_installed(model: LocalModel, home: Path) -> bool:
    """Whether the file is there with its full size; whether it is sound is `verify`'s to say."""
    file = path(model, home)
    return file.is_file() and file.stat().st_size == model.size


def installed(home: Path) -> list[LocalModel]:
    """The models whose files are there, in the catalog's order."""
    return [model for model in CATALOG.values() if is_installed(model, home)]


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify(model: LocalModel, home: Path) -> Path:
    """The model's file, whose content is known to be right; ModelUnavailable if it is missing or damaged.

    Cheap when the stamp fits; a file without one (or changed since) is hashed, and stamped if it is right.
    """
    file = path(model, home)
    hint = f"echelon models pull {model.name}"
    if not file.is_file():
        raise ModelUnavailable(f"the local model {model.name} is not installed", hint=hint)
    if file.stat().st_size != model.size or not (_stamped(model, home) or sha256_of(file) == model.sha256):
        raise ModelUnavailable(f"the file of the local model {model.name} is damaged: {file}", hint=hint)
    if not _stamped(model, home):
        write_stamp(model, home)
    return file


def write_stamp(model: LocalModel, home: Path) -> None:
    """Record that the file as it is now has been verified."""
    stat = path(model, home).stat()
    stamp = Stamp(sha256=model.sha256, size=stat.st_size, mtime_ns=stat.st_mtime_ns)
    stamp_path(model, home).write_text(stamp.model_dump_json())


def remove(model: LocalModel, home: Path) -> int:
    """Delete the model, and what was downloaded of it; bytes freed (0 if there was nothing)."""
    file, partial = path(model, home), partial_folder(model, home)
    files = [file, stamp_path(model, home), *(each for each in partial.rglob("*"))]
    freed = sum(each.stat().st_size for each in files if each.is_file())
    file.unlink(missing_ok=True)
    stamp_path(model, home).unlink(missing_ok=True)
    shutil.rmtree(partial, ignore_errors=True)
    return freed


def _stamped(model: LocalModel, home: Path) -> bool:
    stat = path(model, home).stat()
    try:
        stamp = Stamp.model_validate_json(stamp_path(model, home).read_bytes())
    except (OSError, ValidationError):
        return False
    return stamp == Stamp(sha256=model.sha256, size=stat.st_size, mtime_ns=stat.st_mtime_ns)
