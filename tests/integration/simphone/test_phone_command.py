"""`echelon simphone start` as a process: it tells where it is, is a device to adb, and ends without a trace."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from adb_server import PROGRAMS, adb_server
from phone_adb import Adb

from echelon.output.shapes import json_schema

PATIENCE_S = 60.0


@contextmanager
def started(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """The process, and the object that it printed."""
    import os

    command = (sys.executable, "-m", "echelon", "simphone", "start", "--port", "0", "--folder", str(folder), "--json")
    process = subprocess.Popen(
        (*command, *arguments),
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        told = json.loads(line)
        jsonschema.validate(told, json_schema("simphone start"))
        yield process, told
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], number: signal.Signals) -> int:
    process.send_signal(number)
    rest, _ = process.communicate(timeout=PATIENCE_S)
    assert rest == ""
    return process.returncode


def test_it_tells_where_it_is_and_a_signal_ends_it(tmp_path: Path) -> None:
    with started(tmp_path / "phone", "--no-connect") as (process, (row,)):
        assert row["serial"].startswith("127.0.0.1:") and row["serial_number"] == "SIM0001"
        assert row["connected"] is False and row["folder"] == str(tmp_path / "phone")
        with urllib.request.urlopen(f"{row['test_channel']}/state") as answer:
            assert json.load(answer)["package"] == "com.android.launcher3"
        assert ended(process, signal.SIGTERM) == 0


def test_two_phones_are_connected_to_the_adb_server_and_leave_it(tmp_path: Path) -> None:
    home = tmp_path / "adb"
    home.mkdir()
    with adb_server(PROGRAMS["adb of the system"], home) as server:
        adb, address = Adb(server), f"127.0.0.1:{server.port}"
        with started(tmp_path / "phone", "--second", ECHELON_DEVICE__ADB_SERVER=address) as (process, rows):
            assert [each["connected"] for each in rows] == [True, True]
            listed = adb("devices").stdout.decode()
            assert all(f"{each['serial']}\tdevice" in listed for each in rows)
            for each in rows:
                adb.serial = each["serial"]
                assert adb.shell("getprop ro.serialno").strip() == each["serial_number"]
            adb.serial = ""
            assert ended(process, signal.SIGINT) == 130
        assert "127.0.0.1" not in adb("devices").stdout.decode()


def test_a_folder_is_one_phones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from echelon.cli import start

    with started(tmp_path / "phone", "--no-connect"):
        assert start(["simphone", "start", "--port", "0", "--no-connect", "--folder", str(tmp_path / "phone")]) == 2
    assert "another phone runs on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fault", "nonsense"), "there is no fault 'nonsense'"),
        (("--fault", "tap_dropped:where=here"), "is not one of at, skip"),
        (("--apps", "nowhere"), "--apps: nowhere is no folder"),
        (("--auth", "maybe"), "'maybe' is not one of"),
    ],
)
def test_what_cannot_be_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    from echelon.cli import start

    assert start(["simphone", "start", "--port", "0", "--folder", str(tmp_path / "phone"), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_package_file_is_made_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from echelon.cli import start
    from simphone.system import app

    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.html").write_text("<p>Hello")
    assert start(["simphone", "pack", str(tmp_path / "pages"), str(tmp_path / "a.simapk")]) == 0
    assert "org.simphone.app.pages 1.0 (1)" in capsys.readouterr().out
    assert app.peek((tmp_path / "a.simapk").read_bytes()).activities == {".MainActivity": "index.html"}
