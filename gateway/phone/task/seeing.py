"""What was observed, as the task keeps it: picture and elements as artifacts, and a hash that tells any change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from gateway.engine.ports import Artifacts
from gateway.phone.element import Element
from gateway.phone.observation import Observation
from gateway.phone.state_id import SYSTEM
from gateway.phone.task.state import Seen, elements_json, load_elements


def seen_of(observed: Observation, artifacts: Artifacts, *, keyboard: bool = False) -> Seen:
    """Keeps picture and elements, and names them."""
    png = None if observed.png is None else artifacts.put(observed.png)
    elements = None if observed.elements is None else artifacts.put(elements_json(observed.elements))
    return Seen(
        look=look_of(observed.elements, observed.package, observed.activity) if elements else f"picture:{png}",
        state_id=str(observed.state_id or ""),
        package=observed.package,
        activity=observed.activity,
        size=observed.size,
        rotation=observed.rotation,
        png=png,
        elements=elements,
        unreadable=observed.unreadable,
        from_picture=observed.from_picture,
        secure=observed.secure,
        screen_on=observed.screen_on,
        locked=observed.locked,
        keyboard=keyboard,
        at=observed.at,
    )


def observation_of(seen: Seen, artifacts: Artifacts) -> Observation:
    """As far as acting on it needs it: without the picture."""
    return Observation(
        size=seen.size,
        rotation=seen.rotation,
        package=seen.package,
        activity=seen.activity,
        png=None,
        elements=load_elements(artifacts, seen.elements),
        state_id=None,
    )


def look_of(elements: Sequence[Element] | None, package: str, activity: str) -> str:
    """Equal as long as nothing in the list has changed, down to digits and places; the system's clock apart."""
    shown = [
        [each.role, each.text, each.hint, each.resource_id, each.state, each.bounds]
        for each in elements or ()
        if not (each.package == "com.android.systemui" and each.resource_id in SYSTEM)
    ]
    said = json.dumps([package, activity, shown], ensure_ascii=False)
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
