"""Models that run on this machine: a list of them, one pulled, one removed."""

from __future__ import annotations

from echelon.output.shape import Shape


class ModelRow(Shape):
    """A local model in a list: the `name` to use it by, its file's size in `bytes`, whether it is here, and whether its
    server is running."""

    name: str
    bytes: int
    licence: str
    installed: bool
    running: bool
    description: str


class ModelPulled(Shape):
    """A local model that is here and verified: the `name` to use it by, its file's path and size in `bytes`."""

    name: str
    path: str
    bytes: int


class ModelRemoved(Shape):
    """A local model that is not here any more; `freed` is in bytes, 0 where it was not here."""

    name: str
    freed: int
