"""A workspace, a home and artifacts in memory for the tools under test."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.tools.discovery import builtin_registry
from gateway.tools.registry import Registry, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]


class MemoryArtifacts:
    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        self._kept[name] = data
        return name

    def get(self, sha256: str) -> bytes:
        return self._kept[sha256]


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    (tmp_path / "work").mkdir()
    (tmp_path / "home").mkdir()
    return ToolContext(
        tmp_path / "work", tmp_path / "home", MemoryArtifacts(), session="s", turn=3, now=1_790_000_000.0
    )


@pytest.fixture(scope="session")
def registry() -> Registry:
    return builtin_registry()


@pytest.fixture
def call(ctx: ToolContext, registry: Registry) -> Call:
    """`await call("file.read", path=…)`; `settings=` for the configuration."""

    async def run(tool_name: str, /, settings: dict[str, Any] | None = None, **args: Any) -> ToolResult:
        tool = registry.get(tool_name)
        where = replace(ctx, settings=settings) if settings is not None else ctx
        return await tool.run(tool.args(**args), where)

    return run
