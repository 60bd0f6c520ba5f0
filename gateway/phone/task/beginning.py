"""What a task on a phone begins with: the same whoever begins it, a person, a program or a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.engine.ports import Json
from gateway.errors import ModelUnavailable, UsageError
from gateway.phone import PHONE
from gateway.phone.task.graph import BUILTIN
from gateway.phone.task.provision import fingerprint
from gateway.phone.task.state import (
    MAX_OFF_APP,
    MAX_RESTARTS,
    MAX_STEPS,
    MAX_TAPS,
    MAX_TIME_S,
    PhoneContext,
    PhoneState,
    TaskOptions,
)

LONGEST = 4000  # characters of a task


@dataclass(frozen=True)
class NewTask:
    """A run to be: what it is given, and its limits by counter."""

    context: PhoneContext
    state: PhoneState
    limits: Mapping[str, float | None]


def options_of(settings: Mapping[str, Json]) -> TaskOptions:
    """Those of a configuration, given as plain data."""
    device, phone = settings["device"], settings["phone"]
    return TaskOptions(
        serial=device["serial"],
        mode=device["mode"],
        adb_server=device["adb_server"],
        languages=tuple(phone["languages"]),
        consequential=tuple(phone["consequential"]),
        confirm=phone["confirm"],
        images=bool(phone["images"]),
    )


def new_task(
    task: str,
    options: TaskOptions,
    *,
    run_id: str,
    folder: Path,
    workspace: Path,
    settings: Mapping[str, Json],
    models: Mapping[str, str],
    assume_yes: bool = False,
    max_steps: int | None = None,
    max_taps: int | None = None,
    max_time_s: float | None = None,
) -> NewTask:
    """A task on the phone; `folder` is where its trajectory goes. Raises UsageError, and ModelUnavailable where the
    built-in agent has no model."""
    if not task.strip():
        raise UsageError("the task is empty", hint='say what is to be done: mai-phone "Turn Wi-Fi off"')
    if len(task) > LONGEST:
        raise UsageError(f"the task is longer than {LONGEST} characters")
    if options.agent == BUILTIN and not models.get(PHONE):
        raise ModelUnavailable(
            "no model is configured", hint="name one with --model, ECHELON_MODEL or `model:` in echelon.yaml"
        )
    sha256 = ""
    if options.apk:
        file = Path(options.apk).expanduser().absolute()
        if not file.is_file():
            raise UsageError(f"there is no file {file}")
        options, sha256 = options.with_(apk=str(file)), fingerprint(file)
    steps = MAX_STEPS if max_steps is None else max_steps
    context = PhoneContext(
        run_id=run_id,
        task=task,
        options=options,
        folder=str(folder),
        workspace=str(workspace),
        models=dict(models),
        settings=dict(settings),
        assume_yes=assume_yes,
        max_steps=steps,
        apk_sha256=sha256,
    )
    limits = {
        "steps": steps,
        "taps": MAX_TAPS if max_taps is None else max_taps,
        "time_s": MAX_TIME_S if max_time_s is None else max_time_s,
        "off_app_actions": MAX_OFF_APP,
        "restarts": MAX_RESTARTS,
    }
    return NewTask(context, PhoneState(), limits)
