from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import Settings
from gateway.errors import ConfigError


def load(home: Path, cwd: Path, **environ: str) -> Settings:
    return Settings.load(cwd=cwd, environ={"ECHELON_HOME": str(home), **environ})


def test_care_on_phones_can_be_set(tmp_path: Path) -> None:
    said = "phone: {languages: [de, zh], consequential: ['unlock *'], confirm: true, images: false}"
    (tmp_path / "config.yaml").write_text(said)
    phone = load(tmp_path, tmp_path).phone
    assert (phone.languages, phone.consequential, phone.confirm, phone.images) == (
        ["de", "zh"],
        ["unlock *"],
        True,
        False,
    )
    assert load(tmp_path / "none", tmp_path, ECHELON_PHONE__CONFIRM="true").phone.confirm is True


def test_by_default_all_languages_count_and_nobody_is_asked(tmp_path: Path) -> None:
    phone = load(tmp_path, tmp_path).phone
    assert (phone.languages, phone.consequential, phone.confirm, phone.images) == ([], [], False, None)


def test_a_folder_cannot_make_it_less_careful(tmp_path: Path) -> None:
    (tmp_path / "echelon.yaml").write_text("phone: {confirm: false}")
    with pytest.raises(ConfigError, match="phone is not taken from a folder"):
        load(tmp_path / "home", tmp_path)


@pytest.mark.parametrize(
    "said",
    ["adb_server: 'phones.example:5037'", "adb_server: '[bad:5037'", "serial: '203.0.113.7:5555'"],
)
def test_a_folder_cannot_choose_a_phone_of_strangers(said: str, tmp_path: Path) -> None:
    (tmp_path / "echelon.yaml").write_text(f"device: {{{said}}}")
    with pytest.raises(ConfigError, match=f"device.{said.partition(':')[0]} is not taken from a folder"):
        load(tmp_path / "home", tmp_path)


@pytest.mark.parametrize("said", ["serial: R58M12ABCDE", "serial: '127.0.0.1:5555'", "adb_server: 'localhost:5099'"])
def test_a_folder_can_choose_among_the_phones_of_this_computer(said: str, tmp_path: Path) -> None:
    (tmp_path / "echelon.yaml").write_text(f"device: {{{said}}}")
    key, _, value = said.partition(": ")
    assert getattr(load(tmp_path / "home", tmp_path).device, key) == value.strip("'")
