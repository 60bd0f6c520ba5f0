"""What the JSON schema of a tool's arguments says about one of them, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

BOUNDS = {  # keywords of a JSON schema, as they are told
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "pattern": "matches {}",
}


def limits(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> list[str]:
    """What an argument's schema, in the `whole` one, says besides its description: type, choices, bounds, default."""
    found = _resolved(schema, whole)
    others = [_resolved(each, whole) for each in found.get("anyOf", ())]
    for each in others:
        if each.get("type") != "null":
            found = {**each, **found}
    told = [str(found["type"])] if "type" in found and "enum" not in found else []
    if "enum" in found:
        told.append(f"one of {', '.join(map(plain, found['enum']))}")
    items = _resolved(found.get("items", {}), whole)
    if "type" in items:
        told[-1:] = [f"{found['type']} of {items['type']}"]
    told += [text.format(plain(found[key])) for key, text in BOUNDS.items() if key in found]
    told += [f"each {text.format(plain(items[key]))}" for key, text in BOUNDS.items() if key in items]
    if found.get("default") is not None:
        told.append(f"default {json.dumps(found['default'], ensure_ascii=False)}")
    return told


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without a `$ref` into the definitions of the whole."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    there = whole.get("$defs", {}).get(name, {})
    return {**there, **schema} if there else schema


def plain(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
