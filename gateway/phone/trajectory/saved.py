"""A `trajectory.json` read back, by those who have nothing else of the run: as much of it as they need."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from gateway.errors import UsageError
from gateway.phone.actions import Pixel, Size
from gateway.phone.element import Bounds
from gateway.phone.task.state import Finished, Result
from gateway.phone.trajectory.projection import DOCUMENT

PNG = "iVBORw0KGgo"  # how every PNG begins in base64


class SavedElement(BaseModel):
    number: int
    role: str
    text: str = ""
    state: tuple[str, ...] = ()
    bounds: Bounds


class SavedStep(BaseModel):
    """`pixel` is where the screen was touched: once, or start and end. `screenshot` is a file's name, or base64."""

    step: int
    action: dict[str, Any]
    target: str = ""
    pixel: Pixel | Annotated[list[Pixel], Field(min_length=2, max_length=2)] | None
    result: Result
    screenshot: str | None
    size: Size = (0, 0)
    elements: list[SavedElement] | None = None

    @property
    def pixels(self) -> list[Pixel]:
        return self.pixel if isinstance(self.pixel, list) else [self.pixel] if self.pixel else []


class Trajectory(BaseModel):
    task_goal: str
    status: str
    stop_reason: str | None
    error: str | None = None
    answer: str = ""
    finished: Finished | None = None
    final_screenshot: str | None = None
    steps: list[SavedStep]


def read(path: Path) -> Trajectory:
    """Of a task's folder, or of its `trajectory.json`. Raises UsageError."""
    file = path / DOCUMENT if path.is_dir() else path
    try:
        return Trajectory.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}", hint="name the folder of a task on a phone"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{file} is no trajectory: {where} {first['msg']}".replace(":  ", ": ")) from error


def png(folder: Path, screenshot: str) -> bytes | None:
    """A screenshot of a trajectory in that folder; None where it is not there any more, or was never in there: who
    sends a trajectory does not choose among the reader's own pictures."""
    try:
        if screenshot.startswith(PNG):
            return base64.b64decode(screenshot, validate=True)
        file = (folder / screenshot).resolve()
        return file.read_bytes() if file.is_relative_to(folder.resolve()) else None
    except (OSError, ValueError):
        return None
