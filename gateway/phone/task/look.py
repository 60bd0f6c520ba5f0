"""What the screen showed at one moment, with its elements at hand."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.phone.element import Element
from gateway.phone.task.state import Seen


@dataclass(frozen=True)
class Look:
    """`elements` are None where the screen could not be read."""

    seen: Seen
    elements: tuple[Element, ...] | None = None
