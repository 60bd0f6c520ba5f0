"""Which models a run uses where the configuration leaves that open, and getting those that are not there yet."""

from __future__ import annotations

from collections.abc import Sequence

import click

from echelon.pulling import pull
from echelon.terminal import interactive, say
from gateway import Settings
from gateway.errors import ModelUnavailable
from gateway.gateway import ROLES
from gateway.llm.local import files
from gateway.llm.local.catalog import PREFIX, find

DEFAULT = "local/qwen2.5-coder-1.5b"
HOW = "choose another with --model, ECHELON_MODEL or `model:` in echelon.yaml"


def with_models(settings: Settings, *, assume_yes: bool, no_input: bool, roles: Sequence[str] = ROLES) -> Settings:
    """The settings with a model for each of the roles, all of them there; says which in one line.

    A local model that is not installed is pulled if the person agrees; ModelUnavailable where nobody can be asked.
    """
    if not all(settings.model_for(role) for role in roles):  # type: ignore[arg-type]
        settings = settings.model_copy(update={"model": DEFAULT})
    names = list(dict.fromkeys(str(settings.model_for(role)) for role in roles))  # type: ignore[arg-type]
    for name in names:
        if name.startswith(PREFIX):
            _have(name, settings, assume_yes=assume_yes, ask=interactive() and not no_input)
    say(f"model: {', '.join(names)} ({HOW})")
    return settings


def _have(name: str, settings: Settings, *, assume_yes: bool, ask: bool) -> None:
    model = find(name)
    if files.is_installed(model, settings.home):
        return
    size = f"{model.size / 1e9:.1f} GB"
    if not assume_yes and ask:
        assume_yes = click.confirm(f"{name} is not installed. Pull it now ({size})?", default=True, err=True)
    if not assume_yes:
        raise ModelUnavailable(
            f"{name} is not installed ({size})", hint=f"pull it with `echelon models pull {model.name}`, or {HOW}"
        )
    pull(model.name, settings.home)
