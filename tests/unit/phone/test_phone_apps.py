"""Which app a name means."""

from __future__ import annotations

import pytest

from gateway.phone import app_names

PACKAGES = (
    "com.android.settings com.android.contacts com.android.messaging com.android.deskclock com.android.chrome "
    "org.simphone.notes org.simphone.shop com.spotify.music com.google.android.apps.maps com.whatsapp "
    "com.example.calendar com.tencent.mm com.google.android.youtube com.google.android.apps.youtube.music"
).split()


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("com.android.settings", "com.android.settings"),
        ("Settings", "com.android.settings"),
        ("settings ", "com.android.settings"),
        ("Clock", "com.android.deskclock"),
        ("Messages", "com.android.messaging"),
        ("notes", "org.simphone.notes"),
        ("SHOP", "org.simphone.shop"),
        ("Spotify", "com.spotify.music"),
        ("Google Maps", "com.google.android.apps.maps"),
        ("calender", "com.example.calendar"),
        ("微信", "com.tencent.mm"),
        ("YouTube", "com.google.android.youtube"),
        ("YouTube Music", "com.google.android.apps.youtube.music"),
        ("Whats App", "com.whatsapp"),
    ],
)
def test_a_name_means_one_app(name: str, package: str) -> None:
    assert app_names.best(name, PACKAGES) == [package]


@pytest.mark.parametrize("name", ["Telegram", "android", "", "com.android", "…"])
def test_a_name_that_fits_nothing_means_nothing(name: str) -> None:
    assert app_names.best(name, PACKAGES) == []


def test_a_name_that_fits_several_means_all_of_them() -> None:
    packages = ["com.google.android.deskclock", "com.sec.android.app.clockpackage", "org.simphone.notes"]
    assert app_names.best("Clock", packages) == packages[:2]


def test_an_app_has_a_label() -> None:
    assert app_names.label("com.android.deskclock") == "Clock"
    assert app_names.label("org.simphone.shop") == "Shop"
    assert app_names.label("com.example.my_diary") == "My Diary"
    assert app_names.label("com.android") == "Android"
