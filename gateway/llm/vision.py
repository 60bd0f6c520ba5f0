"""Which models see pictures."""

from __future__ import annotations

from gateway.llm.local.catalog import PREFIX as LOCAL
from gateway.llm.via_http import PREFIX as OWN_SERVER

UNKNOWN = (LOCAL, OWN_SERVER, "scripted:")
"""How names begin of models that no table knows: those on this machine read text only, others have to be told of."""


def sees(model: str) -> bool:
    """Whether litellm's table says that the model takes pictures. Takes seconds the first time for models of providers,
    since litellm has to be imported; no network is asked."""
    if model.startswith(UNKNOWN):
        return False
    from gateway.llm.via_litellm import knows_pictures

    return knows_pictures(model)
