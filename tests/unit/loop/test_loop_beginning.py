from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import Settings
from gateway.errors import ConfigError
from gateway.loop.beginning import limits_of, options_of
from gateway.loop.state import ConditionSetting, Limits, LoopOptions


def settings(tmp_path: Path, **loop: object) -> Settings:
    return Settings.load({"loop": loop}, cwd=tmp_path, environ={"ECHELON_HOME": str(tmp_path)})


def test_without_any_configuration_options_and_limits_are_the_defaults(tmp_path: Path) -> None:
    assert options_of(settings(tmp_path)) == LoopOptions()
    assert limits_of(settings(tmp_path)) == Limits()


def test_what_is_configured_is_what_sessions_begin_with(tmp_path: Path) -> None:
    given = settings(
        tmp_path,
        agent="command:./mend.sh",
        agent_env=["EDITOR"],
        max_iterations=7,
        checkpoint_s=60,
        patience=2,
        conditions={"linting_clean": {"command": "make lint", "timeout_s": 5}},
        protect=["tests/"],
        notify={"webhook": "https://hooks.example.org/T0"},
    )
    options = options_of(given)
    assert (options.agent, options.agent_env) == ("command:./mend.sh", ("EDITOR",))
    assert options.conditions == {"linting_clean": ConditionSetting(command="make lint", timeout_s=5)}
    assert (options.checkpoint_s, options.patience, options.protect, options.notify) == (60, 2, ("tests/",), True)
    assert limits_of(given).iterations == 7


def test_a_condition_that_there_is_not_cannot_be_configured(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"loop\.conditions: .*lint_clean"):
        options_of(settings(tmp_path, conditions={"lint_clean": {"command": "make lint"}}))


@pytest.mark.parametrize(
    ("configured", "said"),
    [
        (
            {"conditions": {"linting_clean": {"command": 'make "lint'}}},
            r"loop\.conditions\.linting_clean\.command: .*read",
        ),
        ({"notify": {"command": "bell | tee log"}}, r"loop\.notify\.command: .*a pipe"),
        ({"notify": {"webhook": "hooks.example.org/T0"}}, r"^loop\.notify\.webhook is no address$"),
    ],
)
def test_what_could_not_be_run_or_reached_cannot_be_configured(
    tmp_path: Path, configured: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        options_of(settings(tmp_path, **configured))
