"""What is not shown to people, and stands in no trajectory: what is typed into a field for passwords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.engine.ports import Json
from gateway.phone.element import Element

MASK = "••••"


def masked(action: Mapping[str, Json], *screens: Sequence[Element] | None) -> dict[str, Json]:
    """The action as it may be shown: without its text where a password's field has the focus on one of the screens."""
    focused = (each for elements in screens for each in elements or () if "focused" in each.state)
    if action.get("action") == "type" and any("password" in each.state for each in focused):
        return {**action, "text": MASK}
    return dict(action)
