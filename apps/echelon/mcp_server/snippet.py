"""What has to stand in an MCP client's configuration, as most of them have it: `mcpServers`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from gateway import Settings
from gateway.config import HOME

NAME = "echelon"


def started_by_client(settings: Settings, options: Sequence[str]) -> dict[str, Any]:
    """For a client that starts `echelon mcp` itself. Paths are absolute: clients start it in folders of their own."""
    found = shutil.which("echelon")
    command = [found] if found else [sys.executable, "-m", "echelon"]
    server: dict[str, Any] = {
        "command": command[0],
        "args": [*command[1:], "mcp", "--workspace", str(settings.workspace), *options],
    }
    if os.environ.get(HOME):
        server["env"] = {HOME: str(settings.home)}
    return {"mcpServers": {NAME: server}}


def reached_by_client(settings: Settings) -> dict[str, Any]:
    """For a client of a server that runs; the token is the client's own."""
    serve = settings.serve
    host = f"[{serve.host}]" if ":" in serve.host else serve.host
    server: dict[str, Any] = {"type": "http", "url": f"http://{host}:{serve.port}/mcp"}
    if serve.tokens:
        server["headers"] = {"Authorization": "Bearer TOKEN"}
    return {"mcpServers": {NAME: server}}
