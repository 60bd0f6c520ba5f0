"""The schemas of MCP tools' arguments, made by strangers: bounded, without references, and safe to show in a prompt."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.engine.ports import Json

Schema = dict[str, Any]

MAX_CHARS = 64_000  # of a schema, as JSON
MAX_NODES = 2_000  # subschemas, once every reference is written out
MAX_DEPTH = 16
MAX_TOLD = 300  # characters of a description, an option or a default in a prompt
MAX_REPEATED = 1_000  # a grammar writes a longer text or list out as that many rules

_NAME = re.compile(r"[\w.$@:/\[\]-]{1,64}")
_OF_NAMES = ("properties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
# A pattern may take for ever to match, and no two programs agree on formats: the server checks these itself.
_LEFT_TO_SERVER = ("pattern", "format", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "definitions")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class Unusable(Exception):
    """Why a tool cannot be offered, as the end of a sentence that begins with its name."""


def inlined(schema: Mapping[str, Any]) -> Schema:
    """The schema with its references to itself written out, and without what only the server can check.

    References to other documents are never followed. Raises Unusable where it is too large, too deep, endless or not
    a JSON schema.
    """
    from jsonschema import Draft202012Validator, SchemaError

    try:
        size = len(json.dumps(schema))
    except RecursionError:
        raise Unusable("has a schema that is nested too deeply") from None
    if size > MAX_CHARS:
        raise Unusable(f"has a schema of {size:,} characters, and {MAX_CHARS:,} are read")
    found = _Inliner(schema).schema(schema, (), 0)
    if not isinstance(found, dict):
        raise Unusable("has a schema that is not an object's")
    try:
        Draft202012Validator.check_schema(found)
    except SchemaError as error:
        raise Unusable(f"has an invalid schema: {told(error.message)}") from None
    return found


class _Inliner:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def schema(self, node: Json, within: tuple[str, ...], depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise Unusable(f"has a schema of more than {MAX_NODES:,} parts")
        if depth > MAX_DEPTH:
            raise Unusable(f"has a schema that is nested more than {MAX_DEPTH} deep")
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            raise Unusable(f"has an invalid schema: {told(json.dumps(node))} is none")
        referred = self._referred(node["$ref"], within, depth) if "$ref" in node else {}
        own = dict(self._keywords(node, within, depth))
        return {**referred, **own} if isinstance(referred, dict) else referred

    def _keywords(self, node: Schema, within: tuple[str, ...], depth: int) -> Iterator[tuple[str, Any]]:
        matched_by_name = any(each in node for each in ("patternProperties", "unevaluatedProperties"))
        for key, value in node.items():
            if key.startswith("$") or key in _LEFT_TO_SERVER or (key == "additionalProperties" and matched_by_name):
                continue
            if key in _OF_NAMES and isinstance(value, dict):
                yield key, {name: self.schema(each, within, depth + 1) for name, each in value.items()}
            elif (key in _LISTS or key == "items") and isinstance(value, list):
                kept = "prefixItems" if key == "items" else key  # an older draft's word for it
                yield kept, [self.schema(each, within, depth + 1) for each in value]
            elif key in _SINGLE:
                yield key, self.schema(value, within, depth + 1)
            elif not (key in _NUMBERS and isinstance(value, bool)):  # an older draft's
                yield key, value

    def _referred(self, reference: Json, within: tuple[str, ...], depth: int) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise Unusable(f"has a schema that refers to another document: {told(str(reference))}")
        if reference in within:
            raise Unusable(f"has a schema that contains itself: {told(reference)}")
        node: Any = self._root
        for part in reference.lstrip("#").strip("/").split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            node = node if not part else node.get(part) if isinstance(node, dict) else None
        if node is None:
            raise Unusable(f"has a schema that refers to nothing: {told(reference)}")
        return self.schema(node, (*within, reference), depth + 1)


def shown(schema: Schema) -> Schema:
    """What of an inlined schema goes into prompts and into the grammars that servers make of schemas: the keywords that
    all of them know, and texts that cannot be taken for a part of the prompt. It allows whatever `schema` allows.

    Raises Unusable where a required argument has a name that cannot be shown.
    """
    found: Schema = {"type": "object", "properties": {}, **_shown(schema)}
    return {key: found[key] for key in ("type", "properties", "required", "description") if key in found}


def _shown(schema: Any) -> Schema:
    if not isinstance(schema, dict):
        return {}
    alternatives = schema.get("allOf")
    if isinstance(alternatives, list) and len(alternatives) == 1 and isinstance(alternatives[0], dict):
        schema = {**alternatives[0], **schema}  # as some write a reference that has a description
    found: Schema = {key: schema[key] for key in ("type", *_NUMBERS) if key in schema}
    found |= {key: schema[key] for key in _COUNTS if 0 <= schema.get(key, -1) <= MAX_REPEATED}
    if "description" in schema or "title" in schema:
        found["description"] = told(str(schema.get("description") or schema.get("title")))
    for key in ("const", "default"):
        if key in schema and _plain(schema[key]):
            found[key] = schema[key]
    if schema.get("enum") and all(map(_plain, schema["enum"])):
        found["enum"] = schema["enum"]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            found["anyOf"] = [_shown(each) for each in schema[key]]
    if isinstance(schema.get("items"), dict):
        found["items"] = _shown(schema["items"])
    if "properties" in schema:
        found["properties"] = {key: _shown(each) for key, each in schema["properties"].items() if _NAME.fullmatch(key)}
        found["required"] = [key for key in schema.get("required", ()) if key in schema["properties"]]
        for key in found["required"]:
            if key not in found["properties"]:
                raise Unusable(f"requires an argument with a name that cannot be shown: {told(key)!r}")
        if schema.get("additionalProperties") is False and len(found["properties"]) == len(schema["properties"]):
            found["additionalProperties"] = False
    return found


def _plain(value: Json) -> bool:
    """Whether a value can stand in a prompt as it is."""
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and told(value) == value)


def told(text: str, longest: int = MAX_TOLD) -> str:
    """A stranger's text on one line, shortened, without what could end a fence, begin a section, or stand for a turn of
    the conversation in a chat template, and without characters that are not seen."""
    text = text[: 8 * longest]  # as much as may be left of it
    text = "".join(" " if unicodedata.category(each) in ("Cc", "Zl", "Zp") else each for each in text)
    text = "".join(each for each in text if unicodedata.category(each) not in ("Cf", "Co", "Cs", "Cn"))
    text = " ".join(text.replace("§", "S").replace("<|", "< |").replace("|>", "| >").split())
    text = re.sub(r"`{3,}|~{3,}", "'", text)
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
