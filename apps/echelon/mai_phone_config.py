"""`~/.mai-phone/config.yaml`: what a person may set for tasks on phones, and how it becomes settings.

Weaker than `./echelon.yaml`, stronger than `$ECHELON_HOME/config.yaml`. `MAI_PHONE_HOME` is the folder, where it is not
`~/.mai-phone`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from gateway.config import Section, Settings, explained, read

HOME = "MAI_PHONE_HOME"
SERVED = "openai"  # how litellm calls the protocol of a server that is named by its address


class Model(Section):
    """The agent's model: its `name`, and the `base_url` where it is served."""

    base_url: str | None = None
    name: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    history_n: int | None = Field(None, ge=0)  # past steps that the agent's model is shown


class Device(Section):
    """The phone, and where adb listens."""

    serial: str | None = None
    adb_server: str | None = None


class Execution(Section):
    """`screenshot_delay` in seconds, after an action and before the screen is looked at; `retry_attempts` is how often
    something is tried in all."""

    max_steps: int | None = Field(None, ge=1)
    screenshot_delay: float | None = Field(None, ge=0)
    retry_attempts: int | None = Field(None, ge=1)


class Logging(Section):
    """`level` is how much is said on the terminal. Where `save_trajectory`, it goes into a folder below `output_dir`;
    otherwise to where the record of the run is."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    save_trajectory: bool = True
    output_dir: Path | None = None


class MaiPhone(Section):
    """The whole file."""

    model: Model = Model()
    device: Device = Device()
    execution: Execution = Execution()
    logging: Logging = Logging()

    def values(self) -> dict[str, Any]:
        """What of it are settings, nested like `echelon.yaml`, without what it does not say."""
        found: dict[str, Any] = {}
        if self.model.base_url is not None:
            found["api_base"] = self.model.base_url
        if self.model.name is not None:
            found["model"] = self._model_name()
            found["models"] = {"phone": None}  # so that one that a weaker place names for this role does not win
        device = self.device.model_dump(exclude_none=True)
        if device:
            found["device"] = device
        if self.execution.max_steps is not None:
            found["limits"] = {"max_steps": self.execution.max_steps}
        return found

    @property
    def trajectory_dir(self) -> str:
        """Where trajectories go; empty for the place where runs keep theirs."""
        folder = self.logging.output_dir
        return str(folder.expanduser().absolute()) if folder and self.logging.save_trajectory else ""

    def _model_name(self) -> str:
        """As litellm wants it: a bare name is one of the server at `base_url`."""
        name = str(self.model.name)
        plain = self.model.base_url is not None and "/" not in name and ":" not in name
        return f"{SERVED}/{name}" if plain else name


def load(overrides: Mapping[str, Any], config_file: Path | None = None) -> tuple[Settings, MaiPhone]:
    """The settings of a command for phones, and what only the file says. Raises ConfigError."""
    path = Path(os.environ.get(HOME) or "~/.mai-phone").expanduser() / "config.yaml"
    file = _parsed(path) if path.is_file() else MaiPhone()
    return Settings.load(overrides, config_file=config_file, more={str(path): file.values()}), file


def _parsed(path: Path) -> MaiPhone:
    try:
        return MaiPhone.model_validate(read(path))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        loc = tuple(str(part) for part in problem["loc"])
        raise explained(MaiPhone, str(path), loc, problem["type"], problem["msg"]) from None
