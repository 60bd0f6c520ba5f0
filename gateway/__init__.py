"""Echelon: an agent gateway. `from gateway import Gateway, Settings` is what programs use; `gateway.stream` has the
events that a turn tells while it is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateway.config import Settings
    from gateway.gateway import Gateway, Turn

__all__ = ["Gateway", "Settings", "Turn"]


def __getattr__(name: str) -> Any:
    """Imported when first used, so that `import gateway` is light."""
    if name == "Settings":
        from gateway.config import Settings

        return Settings
    if name in ("Gateway", "Turn"):
        from gateway import gateway

        return getattr(gateway, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
