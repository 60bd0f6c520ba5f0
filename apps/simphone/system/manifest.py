"""What an app declares, in the manifest.json of its folder or package file."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$")]
PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*")


class Manifest(BaseModel):
    """`activities` says which page (in the folder, or an address) each shows; an activity's name that begins with a dot
    is one of the package's. `intents` are actions that start one of them, `secure` those that no screenshot shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    package: PackageName
    label: str
    icon: str = "📦"
    version_code: int = Field(default=1, ge=0, lt=2**31)
    version_name: str = "1.0"
    launcher: str | None = None
    activities: dict[str, str] = {}
    intents: dict[str, str] = {}
    secure: tuple[str, ...] = ()
    state: dict[str, Any] = {}
    signature: str = "simphone"
    zoom: float = Field(default=1, gt=0, le=10)

    @model_validator(mode="after")
    def _names_are_known(self) -> Manifest:
        for name in (*([self.launcher] if self.launcher else ()), *self.intents.values(), *self.secure):
            if name not in self.activities:
                raise ValueError(f"{name} is no activity; there are: {', '.join(self.activities) or 'none'}")
        return self

    def activity(self, name: str) -> str | None:
        """The declared name of the activity whose whole class name this is."""
        return next((each for each in self.activities if self.whole(each) == name), None)

    def whole(self, activity: str) -> str:
        """The whole class name."""
        return self.package + activity if activity.startswith(".") else activity
