"""What an MCP tool's call gives, as our result: texts as they are, everything else described in a line."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING

from gateway.engine.ports import Artifacts
from gateway.tools.mcp.schema import told
from gateway.tools.registry import ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MAX_PARTS = 200


def result_of(given: CallToolResult, artifacts: Artifacts) -> ToolResult:
    """`data` is the structured content; pictures, sounds and resources are kept as artifacts, named by their sha256."""
    parts = [_part(each, artifacts) for each in given.content[:MAX_PARTS]]
    if len(given.content) > MAX_PARTS:
        parts.append(f"[{len(given.content) - MAX_PARTS} more parts left out]")
    structured = given.structured_content
    text = "\n".join(parts)
    if not text and structured is not None:
        text = json.dumps(structured, ensure_ascii=False, indent=1)
    data = structured if isinstance(structured, dict) else {} if structured is None else {"result": structured}
    return ToolResult(ok=not given.is_error, text=text or "(nothing)", data=data)


def _part(content: ContentBlock, artifacts: Artifacts) -> str:
    match content.type:
        case "text":
            return content.text
        case "image" | "audio":
            return _kept(content.type, content.mime_type, content.data, artifacts)
        case "resource_link":
            about = told(f"{content.name} {content.uri} {content.mime_type or ''}")
            return f"[resource: {about}]"
        case "resource":
            held = content.resource
            data = getattr(held, "blob", None)
            about = f"{held.uri} {held.mime_type or ''}"
            if data is not None:
                return _kept("resource", about, data, artifacts)
            body = str(getattr(held, "text", "")).encode("utf-8", "replace")
            return _line("resource", about, body, artifacts)


def _kept(kind: str, about: str, data: str, artifacts: Artifacts) -> str:
    try:
        return _line(kind, about, base64.b64decode(data, validate=True), artifacts)
    except (binascii.Error, ValueError):
        return f"[{kind}: {told(about)}, not valid base64]"


def _line(kind: str, about: str, body: bytes, artifacts: Artifacts) -> str:
    return f"[{kind}: {told(about)}, {len(body):,} bytes, sha256 {artifacts.put(body)}]"
