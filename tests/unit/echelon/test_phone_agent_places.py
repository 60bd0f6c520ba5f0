"""Where `--agent module:Class` is looked for."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from echelon.phone_driving import importable
from gateway.phone.agents import loading


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With an agent, and with what the program may look for and not find."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("agent_of_the_workspace", "a_module_that_is_missing"):
        (tmp_path / f"{name}.py").write_text("class Agent:\n    def predict(self, instruction, obs): ...\n")
    return tmp_path


def test_an_agent_that_is_not_installed_is_found_in_the_workspace(workspace: Path) -> None:
    importable("agent_of_the_workspace:Agent", workspace)
    assert Path(sys.modules[loading.find("agent_of_the_workspace:Agent").__module__].__file__ or "").parent == workspace


@pytest.mark.parametrize("agent", ["click:Command", "click.core:Command", "builtin", "object", "", ":"])
def test_for_any_other_agent_the_workspace_is_no_place_for_modules(agent: str, workspace: Path) -> None:
    importable(agent, workspace)
    assert find_spec("a_module_that_is_missing") is None
