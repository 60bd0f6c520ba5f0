"""What a session begins with: as the configuration has it, and as far as it can be."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from gateway.config import Settings
from gateway.errors import ConfigError, ToolError, UsageError
from gateway.loop.conditions.evaluation import check_names
from gateway.loop.state import ConditionSetting, Limits, LoopOptions
from gateway.loop.workspace.protection import named
from gateway.tools.code.command_line import words

LAST = "last"  # session, as whoever names one may say
ID = re.compile(r"[0-9A-Za-z]{26}")
NAME_CHARS = 4096  # as many as a path may have, which is the name where none is given


def options_of(settings: Settings) -> LoopOptions:
    """How sessions are run. Raises ConfigError for a condition that there is not, for a command that cannot be
    understood, and for an address that is none."""
    loop = settings.loop
    try:
        check_names(list(loop.conditions))
    except UsageError as error:
        raise ConfigError(f"loop.conditions: {error}", hint=error.hint) from None
    commands = {f"conditions.{name}": each.command for name, each in loop.conditions.items()}
    for key, command in {**commands, "notify": loop.notify.command}.items():
        _understood(f"loop.{key}.command", command)
    webhook = loop.notify.webhook.get_secret_value() if loop.notify.webhook else ""
    if webhook and not re.match(r"https?://[^/\s]", webhook):
        raise ConfigError("loop.notify.webhook is no address", hint="it begins with https:// or http://")
    return LoopOptions(
        agent=loop.agent,
        agent_env=tuple(loop.agent_env),
        conditions={name: ConditionSetting(**each.model_dump()) for name, each in loop.conditions.items()},
        checkpoint_every=loop.checkpoint_every,
        checkpoint_s=loop.checkpoint_s,
        iteration_timeout_s=loop.iteration_timeout_s,
        patience=loop.patience,
        protect=tuple(loop.protect),
        notify=bool(loop.notify.command or loop.notify.webhook),
    )


def limits_of(settings: Settings) -> Limits:
    """What a session may use up. Time, tokens and money are unlimited unless whoever starts one says otherwise:
    `limits` in the configuration are those of each iteration."""
    return Limits(iterations=settings.loop.max_iterations)


def _understood(key: str, command: str | None) -> None:
    try:
        if command is not None:
            words(command)
    except ToolError as error:
        raise ConfigError(f"{key}: {error}", hint=error.hint) from None


def check_name(name: str) -> None:
    """Raises UsageError for an agent's name that nobody could call it by."""
    if not name.strip() or len(name) > NAME_CHARS or not name.isprintable():
        raise UsageError(
            "an agent's name is a line of printable characters", hint=f"it has {NAME_CHARS:,} of them at most"
        )
    if name == LAST or ID.fullmatch(name):
        raise UsageError(f"an agent cannot be called {name!r}: that names a session", hint="choose another --name")


def check_place(workspace: Path, home: Path) -> None:
    """Raises UsageError for a workspace that cannot be worked in."""
    if not workspace.is_dir():
        raise UsageError(f"the workspace {workspace} is not a directory", hint="name one with --workspace")
    if workspace.is_relative_to(home.resolve()):  # whose files the session itself writes
        raise UsageError(
            f"the workspace {workspace} is in Echelon's home, {home}", hint="name another with --workspace"
        )


def check_limits(limits: Mapping[str, float | None]) -> None:
    """Raises UsageError for what is no limit."""
    for name, value in limits.items():
        if value is not None and not (math.isfinite(value) and value > 0):
            raise UsageError(f"{value} is no limit ({name})", hint="a limit is a number above 0")


def in_place(options: LoopOptions, workspace: Path) -> LoopOptions:
    """With what is protected as paths in the workspace. Raises UsageError for what is outside."""
    return options.with_(protect=named(workspace, options.protect))
