"""Which screen this is: two hashes over what is visible, equal as long as nothing that matters has changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from gateway.phone.element import Element

ROWS = 3  # nameless views of the same role and edges: so many are the rows of a list

# What the system shows on every screen, by its developers' names for it.
SYSTEM = frozenset(
    "clock date date_time battery battery_percentage_view statusIcons system_icons wifi_combo wifi_signal mobile_combo "
    "mobile_signal status_bar keyguard_carrier_text carrier_text operator_name".split()
)
NUMBER = re.compile(r"\d+(?:[.,:/\u066b\u066c-]\d+)*\s*(?:[ap]\.?\s?m\b\.?)?", re.IGNORECASE)
DAYS = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?(?=\s*#)",
    re.IGNORECASE,
)
AGO = re.compile(
    r"(?:#|\ban?)\s*(?:s|sec|second|m|min|minute|h|hr|hour|d|day|w|week|month|year)s?\.? ago\b|\bjust now\b",
    re.IGNORECASE,
)
HELD = ("checked", "disabled", "selected", "filled")  # states that a person sets, or waits for
EDITED = ("field", "picker")


@dataclass(frozen=True, slots=True)
class StateId:
    """`structure` tells the screen, `content` what stands on it; as a string both, `ab12…:cd34…`."""

    structure: str
    content: str

    def __str__(self) -> str:
        return f"{self.structure}:{self.content}"


def state_id(elements: Sequence[Element], activity: str = "") -> StateId:
    """Of the elements of one screen, in whatever order, and of the activity that shows it.

    Neither part changes with clocks, dates and other numbers, with battery and signal, with the focus, or with how
    many rows of a kind a list has and what stands in them. `structure` is of the activity and of the kinds of
    elements; `content` also of their texts, of what was typed in fields, and of what is switched on, chosen or
    disabled, also in rows.
    """
    shown = [each for each in elements if not _is_system(each)]
    kinds = Counter(_kind(each) for each in shown)
    structure = {(each.package, each.role, each.resource_id, bool(each.clickable)) for each in shown}
    content: set[Hashable] = set()
    chosen: Counter[Hashable] = Counter()  # counted, since rows may differ by a number only, as alarms do
    for each in shown:
        text = _lasting(each.text)
        state = tuple(name for name in HELD if name in each.state)
        if each.role in EDITED:
            content.add((each.role, each.resource_id, _lasting(each.hint), each.text, state))
        elif "checked" in state or "selected" in state:
            chosen[each.role, each.resource_id, text, state] += 1
        elif state or kinds[_kind(each)] < (2 if each.resource_id else ROWS):
            content.add((each.role, each.resource_id, text, state))
    return StateId(_hash([activity], structure), _hash([], [*content, *chosen.items()]))


def _is_system(element: Element) -> bool:
    return element.package == "com.android.systemui" and element.resource_id in SYSTEM


def _kind(element: Element) -> Hashable:
    """What the rows of a list have in common: their developers' name, or else role and edges. Texts without a name are
    no rows: paragraphs, too, stand below one another."""
    if element.resource_id:
        return element.package, element.role, element.resource_id
    if element.role == "text":
        return element.number
    return element.package, element.role, element.bounds.left, element.bounds.right


def _lasting(text: str) -> str:
    """What a text says apart from numbers, times and days."""
    return " ".join(AGO.sub("#", DAYS.sub("#", NUMBER.sub("#", text))).split())


def _hash(first: list[str], parts: Iterable[Hashable]) -> str:
    said = json.dumps([*first, *sorted(json.dumps(each, ensure_ascii=False) for each in parts)], ensure_ascii=False)
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
