"""`~/.mai-phone/config.yaml`: its keys, where it stands among the places of settings, what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from echelon.mai_phone_config import load
from gateway.errors import ConfigError

WHOLE = """
model: {base_url: "http://localhost:8000/v1", name: MAI-UI-8B, temperature: 0.0, history_n: 3}
device: {serial: null, adb_server: "localhost:5099"}
execution: {max_steps: 40, screenshot_delay: 0.7, retry_attempts: 3}
logging: {level: INFO, save_trajectory: true, output_dir: ~/logs}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; `mai` below it is `~/.mai-phone`."""
    (tmp_path / "mai").mkdir()
    monkeypatch.setenv("MAI_PHONE_HOME", str(tmp_path / "mai"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "mai/config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_the_file_nothing_is_different(folder: Path) -> None:
    settings, file = load({})
    assert settings.model_for("phone") is None
    assert "max_steps" not in settings.limits.model_fields_set
    assert (file.trajectory_dir, file.logging.level) == ("", "INFO")


def test_all_keys_of_the_specification_are_taken(folder: Path) -> None:
    write(folder, WHOLE)
    settings, file = load({})
    assert settings.model_for("phone") == "openai/MAI-UI-8B"
    assert settings.api_base == "http://localhost:8000/v1"
    assert (settings.device.serial, settings.device.adb_server) == (None, "localhost:5099")
    assert settings.limits.max_steps == 40
    assert (file.model.temperature, file.model.history_n) == (0.0, 3)
    assert (file.execution.screenshot_delay, file.execution.retry_attempts) == (0.7, 3)
    assert file.trajectory_dir == str(Path.home() / "logs")


@pytest.mark.parametrize("name", ["local/qwen2.5-coder-1.5b", "openai/x", "scripted:model.yaml"])
def test_a_name_with_a_provider_stays_as_it_is(folder: Path, name: str) -> None:
    write(folder, f"model: {{base_url: 'http://localhost:8000/v1', name: '{name}'}}")
    assert load({})[0].model_for("phone") == name


def test_an_empty_file_says_nothing(folder: Path) -> None:
    write(folder, "")
    assert load({})[0].model is None


def test_a_trajectory_that_is_not_wanted_stays_with_the_run(folder: Path) -> None:
    write(folder, "logging: {save_trajectory: false, output_dir: /tmp/logs}")
    assert load({})[1].trajectory_dir == ""


def test_of_six_places_the_stronger_one_counts(
    folder: Path, echelon_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen(**overrides: object) -> tuple[str | None, int]:
        settings = load(overrides, config)[0]
        return settings.model_for("phone"), settings.limits.max_steps

    config = None
    assert seen() == (None, 100)
    (echelon_home / "config.yaml").write_text("{model: home/all, models: {phone: home/m}, limits: {max_steps: 1}}")
    assert seen() == ("home/m", 1)
    write(folder, "{model: {name: mai/m}, execution: {max_steps: 2}}")
    assert seen() == ("mai/m", 2)
    (folder / "echelon.yaml").write_text("{models: {phone: folder/m}, limits: {max_steps: 3}}")
    assert seen() == ("folder/m", 3)
    config = folder / "named.yaml"
    config.write_text("{models: {phone: named/m}, limits: {max_steps: 4}}")
    assert seen() == ("named/m", 4)
    monkeypatch.setenv("ECHELON_MODELS__PHONE", "environment/m")
    monkeypatch.setenv("ECHELON_LIMITS__MAX_STEPS", "5")
    assert seen() == ("environment/m", 5)
    assert seen(models={"phone": "option/m"}, limits={"max_steps": 6}) == ("option/m", 6)


def test_a_model_for_all_from_a_stronger_place_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "model: {name: mai/m}")
    monkeypatch.setenv("ECHELON_MODEL", "environment/m")
    assert load({})[0].model_for("phone") == "environment/m"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("execution: {max_step: 3}", "execution.max_step is not a setting; did you mean execution.max_steps?"),
        ("modle: {name: x}", "modle is not a setting; did you mean model?"),
        ("{execution: {max_steps: many}}", "execution.max_steps: expected integer"),
        ("{execution: {max_steps: 0}}", "execution.max_steps: expected greater than or equal to 1"),
        ("{model: {temperature: warm}}", "model.temperature: expected number"),
        ("{logging: {level: LOUD}}", "logging.level: expected 'DEBUG', 'INFO', 'WARNING', 'ERROR' or 'CRITICAL'"),
        ("device: S1", "device: expected a mapping with serial, adb_server"),
        ("- a list", "expected keys and values"),
        ("{", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_what_was_expected(folder: Path, text: str, said: str) -> None:
    path = write(folder, text)
    with pytest.raises(ConfigError) as raised:
        load({})
    assert str(raised.value).startswith(str(path))
    assert said in str(raised.value)
