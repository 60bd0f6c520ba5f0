"""Plain snapshots of a workspace: a manifest of all its files, and tars with their contents.

A tar has the contents that no tar before it has, so a manifest names several: the content of a file is found by its
sha256, and is at a position in one of them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from gateway.errors import EchelonError
from gateway.loop.workspace.archive import Archive
from gateway.loop.workspace.durable import Written, write
from gateway.loop.workspace.names import real, shown
from gateway.loop.workspace.survey import Entry, Survey, survey
from gateway.tools.workspace import sha256


class Damage(EchelonError):
    """Something of a checkpoint is missing, or is not what was written; the message names the file."""


@dataclass(frozen=True)
class Manifest:
    """`survey` is the workspace; `held` is sha256 → tar's name and position in bytes; `links` are path → target."""

    survey: Survey
    held: dict[str, tuple[str, int]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    @property
    def tars(self) -> list[str]:
        """Names of the tars that it needs."""
        return sorted({tar for tar, _ in self.held.values()})

    def dump(self) -> bytes:
        seen = self.survey.dump().decode()
        return f'{{"survey": {seen}, "held": {json.dumps(self.held)}, "links": {json.dumps(self.links)}}}\n'.encode()

    @classmethod
    def load(cls, data: bytes) -> Manifest:
        """Of what `dump` gave; ValueError for anything else."""
        try:
            read = json.loads(data)
            held = {digest: (str(tar), int(position)) for digest, (tar, position) in read["held"].items()}
            return cls(Survey.of(read["survey"]), held, dict(read["links"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no manifest: {error}") from error


@dataclass(frozen=True)
class Saved:
    """A snapshot that was written: its manifest, that manifest's file, and the new tar, where there was new content."""

    manifest: Manifest
    file: Written
    tar: Written | None


class Snapshots:
    """The snapshots of the workspace `root` in a folder; `apart` is a folder of the workspace that they leave out."""

    def __init__(self, folder: Path, root: Path, apart: Path | None = None) -> None:
        self.folder = folder
        self._root = root
        self._apart = apart

    def save(self, number: int, before: Manifest | None) -> Saved:
        """What `before` holds is not written again. Blocks; raises OSError and WorkspaceGone."""
        name = f"{number:04}"
        archive = Archive(self.folder, name)
        held = before.held if before else {}
        new: dict[str, int] = {}
        links: dict[str, str] = {}

        def taken(path: str, entry: Entry, data: bytes) -> None:
            if entry.is_link:
                links[path] = shown(os.fsdecode(data))
                if before is None or before.links.get(path) != links[path]:
                    archive.add(path, entry, data)
            elif entry.sha256 not in held and entry.sha256 not in new:
                new[entry.sha256] = archive.add(path, entry, data)

        try:
            seen = survey(self._root, before.survey if before else None, apart=self._apart, taken=taken)
            tar = archive.close()
        finally:
            archive.discard()
        needed: dict[str, tuple[str, int]] = {}
        for path, entry in seen.files.items():
            if entry.is_link:
                links.setdefault(path, before.links[path] if before else "")
            elif entry.sha256 in new and tar:
                needed[entry.sha256] = (tar.name, new[entry.sha256])
            elif not entry.is_large:
                needed[entry.sha256] = held[entry.sha256]
        manifest = Manifest(seen, needed, {path: links[path] for path in seen.files if path in links})
        return Saved(manifest, write(self.folder, name, ".json", manifest.dump()), tar)

    def manifest(self, name: str, checksum: str) -> Manifest:
        """Raises Damage."""
        try:
            data = (self.folder / name).read_bytes()
        except OSError as error:
            raise Damage(f"{self.folder / name} cannot be read: {error.strerror}") from error
        if sha256(data) != checksum:
            raise Damage(f"{self.folder / name} is not what was written")
        try:
            return Manifest.load(data)
        except ValueError as error:
            raise Damage(f"{self.folder / name}: {error}") from error

    def content(self, manifest: Manifest, path: str) -> bytes:
        """The content of a file or link. Raises Damage."""
        entry = manifest.survey.files[path]
        if entry.is_link:
            data, where = os.fsencode(real(manifest.links.get(path, ""))), "the manifest"
        else:
            tar, position = manifest.held.get(entry.sha256, ("", 0))
            where = str(self.folder / tar)
            try:
                with open(where, "rb") as file:
                    data = os.pread(file.fileno(), entry.size, position)
            except OSError as error:
                raise Damage(f"{where} cannot be read: {error.strerror}") from error
        if sha256(data) != entry.sha256:
            raise Damage(f"{where} has no whole copy of {path}")
        return data
