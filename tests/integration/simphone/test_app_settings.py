"""Settings, touched: what Android has a key for lands in the phone's settings."""

from __future__ import annotations

import pytest
from app_lab import SETTINGS, Finger


def test_the_dark_theme_is_a_switch(finger: Finger) -> None:
    finger.start("android.settings.DISPLAY_SETTINGS")
    assert finger.setting("secure", "ui_night_mode") == "1"
    finger.seek_and_tap("dark_theme")
    assert finger.setting("secure", "ui_night_mode") == "2"
    assert finger.see("dark_theme").is_("checked")
    finger.tap("Dark theme")  # the whole row is the switch
    assert finger.setting("secure", "ui_night_mode") == "1"


def test_the_screen_timeout_is_picked_from_a_list(finger: Finger) -> None:
    finger.open(SETTINGS)
    finger.seek_and_tap("Display")
    finger.seek_and_tap("Screen timeout")
    finger.tap("5 minutes")
    assert finger.setting("system", "screen_off_timeout") == "300000"
    assert finger.see("5 minutes")


def test_brightness_follows_the_finger(finger: Finger) -> None:
    finger.start("android.settings.DISPLAY_SETTINGS")
    left, top, right, bottom = finger.see("brightness").bounds
    finger.phone.call(lambda phone: phone.display.tap(right - 30, (top + bottom) // 2))
    assert int(finger.setting("system", "screen_brightness") or 0) > 220
    finger.phone.call(lambda phone: phone.display.tap(left + 30, (top + bottom) // 2))
    assert int(finger.setting("system", "screen_brightness") or 0) < 30


def test_a_network_is_joined_with_its_password_only(finger: Finger) -> None:
    finger.open(SETTINGS)
    finger.tap("Network & internet")
    finger.tap("Internet")
    finger.tap("Fjellhytte")
    assert not finger.see("dialog_ok").is_("enabled")
    finger.type("wrong-password", into="password")
    finger.tap("dialog_ok")
    finger.see("Check password and try again")
    assert finger.state(SETTINGS)["connected"] == "Harbour Flat"
    finger.tap("Fjellhytte")
    finger.type("blueberry-42", into="password")
    finger.tap("dialog_ok")
    finger.see("Connected")
    assert finger.state(SETTINGS)["connected"] == "Fjellhytte"


def test_without_wifi_there_are_no_networks(finger: Finger) -> None:
    finger.start("android.settings.WIFI_SETTINGS")
    finger.tap("wifi_switch")
    assert finger.setting("global", "wifi_on") == "0"
    assert finger.find("Harbour Flat") is None
    finger.tap("wifi_switch")
    assert finger.setting("global", "wifi_on") == "1"
    finger.see("Harbour Flat")


def test_aeroplane_mode_takes_the_radios_and_gives_them_back(finger: Finger) -> None:
    finger.start("android.settings.BLUETOOTH_SETTINGS")
    finger.tap("bluetooth_switch")
    finger.start("android.settings.WIRELESS_SETTINGS")
    radios = [("global", "airplane_mode_on"), ("global", "wifi_on"), ("global", "bluetooth_on")]
    assert [finger.setting(*each) for each in radios] == ["0", "1", "1"]
    finger.tap("airplane_mode")
    assert [finger.setting(*each) for each in radios] == ["1", "0", "0"]
    finger.tap("airplane_mode")
    assert [finger.setting(*each) for each in radios] == ["0", "1", "1"]


def test_a_device_is_paired_after_it_was_confirmed(finger: Finger) -> None:
    finger.start("android.settings.BLUETOOTH_SETTINGS")
    finger.tap("bluetooth_switch")
    finger.tap("Kitchen speaker")
    finger.tap("Cancel")
    speaker = {"name": "Kitchen speaker", "paired": False, "connected": False}
    assert speaker in finger.state(SETTINGS)["bluetooth_devices"]
    finger.tap("Kitchen speaker")
    finger.tap("Pair")
    finger.see("Connected")
    assert {**speaker, "paired": True, "connected": True} in finger.state(SETTINGS)["bluetooth_devices"]


def test_seven_taps_make_a_developer(finger: Finger) -> None:
    finger.start("android.settings.DEVICE_INFO_SETTINGS")
    finger.seek("build_number")
    for _ in range(6):
        finger.tap("build_number")
    assert finger.setting("global", "development_settings_enabled") in (None, "0")
    assert finger.toasts()[-2:] == [
        "You are now 2 steps away from being a developer.",
        "You are now 1 step away from being a developer.",
    ]
    finger.tap("build_number")
    assert finger.setting("global", "development_settings_enabled") == "1"
    assert finger.toasts()[-1] == "You are now a developer!"
    finger.tap("build_number")
    assert finger.toasts()[-1] == "No need, you are already a developer."


def test_developer_options_are_there_for_developers_only(finger: Finger) -> None:
    finger.open(SETTINGS)
    finger.seek_and_tap("System")
    finger.see("Date & time")
    assert finger.find("Developer options") is None
    finger.put("global", "development_settings_enabled", "1")
    finger.back()
    finger.seek_and_tap("System")
    finger.tap("Developer options")
    finger.see("USB debugging")


def test_a_keyboard_is_allowed_then_chosen(finger: Finger) -> None:
    finger.start("android.settings.INPUT_METHOD_SETTINGS")
    finger.tap("enable_adb_keyboard")
    finger.tap("current_keyboard")
    finger.tap("ADB Keyboard")
    assert finger.phone.state()["input_method"] == "com.android.adbkeyboard/.AdbIME"
    finger.tap("enable_adb_keyboard")  # not while it is in use
    assert "AdbIME" in (finger.setting("secure", "enabled_input_methods") or "")


@pytest.mark.parametrize("words", ["dark theme", "theme dark", "DARK"])
def test_search_finds_a_setting_and_opens_its_screen(finger: Finger, words: str) -> None:
    finger.open(SETTINGS)
    finger.tap("open_search")
    finger.type(words)
    finger.tap("Dark theme")
    finger.see("Brightness level")
    assert finger.phone.state()["activity"] == ".DisplaySettings"


def test_a_permission_is_taken_from_an_app(finger: Finger) -> None:
    finger.start("android.settings.APPLICATION_SETTINGS")
    finger.tap("Shop")
    finger.seek_and_tap("permission_location")
    shop = next(each for each in finger.state(SETTINGS)["apps"] if each["label"] == "Shop")
    assert shop["permissions"] == {"Camera": False, "Location": False}


def test_the_phone_gets_a_name(finger: Finger) -> None:
    finger.start("android.settings.DEVICE_INFO_SETTINGS")
    finger.tap("device_name")
    finger.type("Pöllö 7", into="text")
    finger.tap("dialog_ok")
    assert finger.setting("global", "device_name") == "Pöllö 7"
    finger.see("Pöllö 7")
