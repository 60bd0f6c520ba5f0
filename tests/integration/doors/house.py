"""What all doors lead to: a home, a workspace, a configuration, and a model's server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from cli.conftest import WORKSPACE, Cli

from gateway import Settings

from .stub import MODEL, Stub


@dataclass
class House:
    """One of each; what is configured stands in `config.yaml` of the home."""

    root: Path
    home: Path
    model: Stub
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cli = Cli(self.home, self.root)
        self.configure(model=MODEL, api_base=self.model.base, workspace=str(self.workspace), validate=False)
        self.configure(serve={"port": 0})

    @property
    def workspace(self) -> Path:
        return self.root / WORKSPACE

    @property
    def config(self) -> Path:
        return self.home / "config.yaml"

    def configure(self, **settings: Any) -> None:
        self.settings |= settings
        self.config.write_text(yaml.safe_dump(self.settings))

    def own(self, path: str, text: str) -> Path:
        """A prompt, pattern or recipe of the person's own."""
        file = self.workspace / ".echelon" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def load(self) -> Settings:
        return Settings.load({}, cwd=self.root)
