"""What a phone keeps from one start to the next, and how it starts and ends."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from simphone.background import PhoneThread
from simphone.phone import FolderInUse, PhoneOptions
from simphone.system import app

NOTES = "org.simphone.notes"


def packed(folder: Path) -> bytes:
    (folder / "pages").mkdir()
    (folder / "pages/index.html").write_text("<p>Hello")
    app.pack(folder / "pages", folder / "pages.simapk")
    return (folder / "pages.simapk").read_bytes()


def ask(phone: PhoneThread, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{phone.test_url}/{path}", data, method=method)) as answer:
        return json.load(answer)


def test_apps_settings_and_states_are_there_after_a_restart(tmp_path: Path) -> None:
    options, data = PhoneOptions(tmp_path / "phone"), packed(tmp_path)
    with PhoneThread(options) as phone:
        phone.call(lambda it: it.system.install(data, replace=True, downgrade=False))
        phone.phone.system.settings.put("system", "screen_brightness", "7")
        phone.set_app_state(NOTES, {**phone.app_state(NOTES), "mark": "heron"})
    with PhoneThread(options) as phone:
        state = phone.state()
        assert "org.simphone.app.pages" in state["packages"]
        assert state["settings"]["system"]["screen_brightness"] == "7"
        assert phone.app_state(NOTES)["mark"] == "heron"
        assert state["package"] == "com.android.launcher3", "it has booted"
        phone.reset()
        assert "mark" not in phone.app_state(NOTES)
        assert "org.simphone.app.pages" in phone.state()["packages"]


def test_the_test_channel_sees_and_changes_the_phone(tmp_path: Path) -> None:
    with PhoneThread(PhoneOptions(tmp_path / "phone")) as phone:
        assert ask(phone, "GET", "state")["package"] == "com.android.launcher3"
        ask(phone, "POST", "faults", {"fault": "popup:text=Update available"})
        phone.call(lambda it: it.display.tap(5, 1200))
        assert [each["name"] for each in ask(phone, "GET", "faults")["active"]] == ["popup"]
        phone.call(lambda it: it.system.popup("Update available"))
        assert "Update available" in ask(phone, "GET", "state")["dialog"]
        ask(phone, "PUT", f"apps/{NOTES}", {"notes": []})
        assert ask(phone, "GET", f"apps/{NOTES}") == {"notes": []}
        ask(phone, "POST", "reset")
        state = ask(phone, "GET", "state")
        assert state["dialog"] is None and not ask(phone, "GET", "faults")["active"]
        assert ask(phone, "GET", f"apps/{NOTES}") != {"notes": []}


def test_a_folder_is_one_phones_and_a_port_as_well(tmp_path: Path) -> None:
    threads = threading.active_count()
    options = PhoneOptions(tmp_path / "phone")
    with PhoneThread(options), pytest.raises(FolderInUse, match="another phone runs on"), PhoneThread(options):
        pass
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError), PhoneThread(PhoneOptions(tmp_path / "phone", port=port)):
            pass
    with PhoneThread(PhoneOptions(tmp_path / "phone")) as phone:
        assert phone.serial
    assert threading.active_count() == threads


def test_a_phone_that_has_ended_says_so(tmp_path: Path) -> None:
    with PhoneThread(PhoneOptions(tmp_path / "phone")) as phone:
        pass
    with pytest.raises(RuntimeError, match="the phone does not run"):
        _ = phone.serial
