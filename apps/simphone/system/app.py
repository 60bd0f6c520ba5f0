"""Apps: a manifest and where its pages are. From a folder, a package file (.simapk), a page, or an address."""

from __future__ import annotations

import io
import json
import lzma
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from pydantic import ValidationError

from simphone.system.manifest import Manifest

MANIFEST = "manifest.json"
_LARGEST = 256 << 20  # bytes of a package file's contents
_LARGEST_MANIFEST = 4 << 20  # bytes
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)
_SOURCES = ("http://", "https://")


class AppUnusable(ValueError):
    """A source that is no app; says why."""


@dataclass(frozen=True)
class App:
    """`pages` is the folder in which the manifest's pages lie; None where all of them are addresses."""

    manifest: Manifest
    pages: Path | None


def app_from(source: str) -> App:
    """The app at a folder, a page (.html) or an address. A package file has to be unpacked. Raises AppUnusable."""
    if source.startswith(_SOURCES):
        return _from_address(source)
    path = Path(source).expanduser().absolute()
    if path.is_dir():
        return App(read(path), path) if (path / MANIFEST).is_file() else _from_pages(path)
    if path.suffix.lower() in (".html", ".htm") and path.is_file():
        return App(_derived(path.stem, {".MainActivity": path.name}), path.parent)
    raise AppUnusable(f"{source} is no folder, no .simapk, no .html and no address (http://…)")


def read(folder: Path) -> Manifest:
    """Raises AppUnusable."""
    try:
        return _manifest((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise AppUnusable(f"{folder / MANIFEST} cannot be read: {error.strerror}") from None


def unpack(data: bytes, folder: Path) -> None:
    """What a package file holds, into a new folder. Raises AppUnusable, OSError."""
    with _opened(data) as archive:
        for each in archive.infolist():
            path = PurePosixPath(each.filename)
            if path.is_absolute() or ".." in path.parts or "\\" in each.filename:
                raise AppUnusable(f"a name leads out of the package: {each.filename}")
        if sum(each.file_size for each in archive.infolist()) > _LARGEST:
            raise AppUnusable(f"the package holds more than {_LARGEST >> 20} MiB")
        folder.mkdir(parents=True)
        try:
            archive.extractall(folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, _DAMAGED):
                raise AppUnusable(f"it cannot be unpacked: {error}") from None
            raise


def peek(data: bytes) -> Manifest:
    """The manifest in a package file. Raises AppUnusable."""
    with _opened(data) as archive:
        try:
            if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
                raise AppUnusable(f"{MANIFEST} has more than {_LARGEST_MANIFEST >> 20} MiB")
            return _manifest(archive.read(MANIFEST))
        except KeyError:
            raise AppUnusable(f"the package has no {MANIFEST}") from None
        except _DAMAGED as error:
            raise AppUnusable(f"{MANIFEST} cannot be unpacked: {error}") from None


def pack(folder: Path, file: Path) -> Manifest:
    """Make a package file of an app's folder. Raises AppUnusable, OSError."""
    app = app_from(str(folder))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, app.manifest.model_dump_json(indent=1))
        for each in sorted(folder.rglob("*")):
            name = each.relative_to(folder).as_posix()
            if each.is_file() and name != MANIFEST and each.absolute() != file.absolute():
                archive.write(each, name)
    return app.manifest


def is_package_file(data: bytes) -> bool:
    return zipfile.is_zipfile(io.BytesIO(data))


def _opened(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise AppUnusable("it is no zip file") from None


def _manifest(text: bytes) -> Manifest:
    try:
        return Manifest.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        raise AppUnusable(f"{MANIFEST}: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise AppUnusable(f"{MANIFEST} is not JSON: {error}") from None


def _from_address(address: str) -> App:
    parts = urlsplit(address)
    if not parts.hostname:
        raise AppUnusable(f"{address} has no host")
    name = PurePosixPath(parts.path).stem
    return App(_derived(name if name not in ("", "index") else parts.hostname, {".MainActivity": address}), None)


def _from_pages(folder: Path) -> App:
    pages = sorted(folder.rglob("*.htm*"), key=lambda each: (len(each.parts), each.name != "index.html", each))
    names = [each.relative_to(folder).as_posix() for each in pages if each.is_file()]
    if not names:
        raise AppUnusable(f"{folder} has neither a {MANIFEST} nor pages (*.html)")
    return App(_derived(folder.name, _activities(names)), folder)


def _activities(pages: Iterable[str]) -> dict[str, str]:
    """The first page is the main one; each other has an activity of its name: `a/click.html` is .AClickActivity."""
    found: dict[str, str] = {}
    for page in pages:
        words = re.findall(r"[A-Za-z0-9]+", page.rpartition(".")[0])
        name = base = f".{''.join(each[0].upper() + each[1:] for each in words)}Activity" if found else ".MainActivity"
        number = 2
        while name in found:
            name = f"{base}{number}"
            number += 1
        found[name] = page
    return found


def _derived(name: str, activities: dict[str, str]) -> Manifest:
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "app"
    package = f"org.simphone.app.{word if word[0].isalpha() else f'a{word}'}"
    return Manifest(package=package, label=name or "App", icon="🌐", launcher=".MainActivity", activities=activities)
