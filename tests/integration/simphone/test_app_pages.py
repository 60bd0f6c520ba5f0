"""Every page of every app: it opens without an error, and an agent can name whatever it can touch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app_lab import CONTACTS, SETTINGS, SHOP, Finger
from screen_lab import Node

from simphone.system.component import Component
from simphone.system.intent import Intent
from simphone.system.packages import SHIPPED_APPS

MANIFESTS = [json.loads(path.read_text("utf-8")) for path in sorted(SHIPPED_APPS.glob("*/manifest.json"))]
EXTRAS = {
    f"{CONTACTS}/.ContactDetailsActivity": {"contact": 1},
    f"{CONTACTS}/.CallActivity": {"number": "+44 1632 960112"},
    "com.android.messaging/.ConversationActivity": {"address": "+44 1632 960112"},
    "org.simphone.notes/.EditorActivity": {"note": 1},
    f"{SETTINGS}/.AppInfo": {"package": SHOP},
    f"{SHOP}/.ProductActivity": {"product": 1},
    f"{SHOP}/.OrderActivity": {"number": "S-10041"},
}
BASKET = [{"id": 1, "product": 2, "name": "Earbuds Pebble", "variant": "Black", "price": 4950, "quantity": 1}]


def names(node: Node) -> str:
    return node.text + node.description + "".join(names(each) for each in node.children)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each["label"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_page_opens_and_what_can_be_touched_has_a_name_and_an_id(
    finger: Finger, manifest: dict[str, object], theme: str
) -> None:
    package, activities = str(manifest["package"]), manifest["activities"]
    assert isinstance(activities, dict)
    finger.change(SHOP, popup_shown=True, basket=BASKET)
    finger.put("secure", "ui_night_mode", "2" if theme == "dark" else "1")
    for activity in activities:
        component = Component.parse(f"{package}/{activity}")
        intent = Intent(component=component, extras=EXTRAS.get(f"{package}/{activity}", {}))
        assert finger.phone.call(lambda phone, intent=intent: phone.system.start(intent, ""))
        finger.see("end_call" if activity == ".CallActivity" else "page_title")
        touchable = [each for each in finger.nodes() if each.is_("clickable") and each.bounds[3] - each.bounds[1] > 60]
        assert touchable, activity  # beside those of which the end of the screen leaves a strip
        assert [(each.kind, each.bounds) for each in touchable if not names(each)] == [], activity
        assert [names(each) for each in touchable if not each.id] == [], activity
        assert finger.problems() == [], activity


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each["label"])
def test_what_can_be_touched_is_large_enough_for_a_finger(finger: Finger, manifest: dict[str, object]) -> None:
    finger.change(SHOP, popup_shown=True)
    finger.open(str(manifest["package"]))
    finger.see("page_title")
    height = 44 * 3  # pixels
    shown = [each for each in finger.nodes() if each.is_("clickable")]
    whole = [each for each in shown if each.bounds[3] < 2100]  # not those that the end of the screen cuts
    assert [(names(each), each.bounds) for each in whole if each.bounds[3] - each.bounds[1] < height] == []


def test_a_page_needs_nothing_from_elsewhere() -> None:
    pages = [path for path in Path(SHIPPED_APPS).rglob("*") if path.suffix in (".html", ".css", ".js")]
    assert len(pages) > 40
    assert [path.name for path in pages if "://" in path.read_text("utf-8")] == []
