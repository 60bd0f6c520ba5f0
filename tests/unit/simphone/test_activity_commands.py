"""Starting activities, and what lies below them."""

from __future__ import annotations

from pathlib import Path

import pytest
from phone_bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


async def test_an_activity_is_started_and_is_in_front(bench: Bench) -> None:
    ran = await bench.line("am start -n org.example.small/.MainActivity --es name heron --ei n 3 --ez is true")
    assert ran.out == "Starting: Intent { cmp=org.example.small/.MainActivity (has extras) }\n"
    assert (ran.code, ran.err) == (0, "")
    (opened,) = bench.display.asked
    assert opened[0] == "open" and opened[2:4] == (
        "http://127.0.0.1:1/app/org.example.small/index.html",
        "org.example.small",
    )
    assert opened[-1] == {"name": "heron", "n": 3, "is": True}
    assert bench.system.activities.front.component.long == "org.example.small/org.example.small.MainActivity"


async def test_a_second_start_brings_the_task_to_the_front_as_it_is(bench: Bench) -> None:
    start = "am start -n org.example.small/org.example.small.MainActivity"
    await bench.line(start)
    again = await bench.line(start)
    assert "intent has been delivered to currently running top-most instance" in again.err
    await bench.line("am start -n org.example.small/.SecondActivity")
    await bench.line("input keyevent HOME")
    back = await bench.line(start)
    assert back.err == "Warning: Activity not started, its current task has been brought to the front\n"
    assert bench.system.activities.front.component.name.endswith("SecondActivity"), "the task is as it was"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-n org.example.small/.Nope", "Activity class {org.example.small/org.example.small.Nope} does not exist."),
        ("-n org.nobody/.Main", "Activity class {org.nobody/org.nobody.Main} does not exist."),
        ("-a org.nobody.ACT", "unable to resolve Intent { act=org.nobody.ACT flg=0x10000000 }"),
        ("-p org.nobody -a x", "unable to resolve Intent { act=x flg=0x10000000 pkg=org.nobody }"),
        ("-d tel:123", "unable to resolve"),
    ],
)
async def test_what_cannot_be_started_is_said(bench: Bench, arguments: str, said: str) -> None:
    ran = await bench.line(f"am start {arguments}")
    assert ran.code == 0 and ran.out.startswith("Starting: Intent { ") and said in ran.err
    assert not bench.display.asked


@pytest.mark.parametrize(
    "arguments",
    [
        "-a org.example.SECOND",
        "-a android.intent.action.VIEW -d small:7",
        "small:7",
        "-W -S -n org.example.small/.SecondActivity",
    ],
)
async def test_intents_are_resolved(bench: Bench, arguments: str) -> None:
    assert (await bench.line(f"am start {arguments}")).code == 0
    assert bench.system.activities.front.component.short == "org.example.small/.SecondActivity"


async def test_a_start_that_is_waited_for_says_how_it_went(bench: Bench) -> None:
    ran = await bench.line(
        "am start -W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER -p org.example.small"
    )
    lines = ran.out.splitlines()
    assert lines[1:4] == ["Status: ok", "LaunchState: COLD", "Activity: org.example.small/.MainActivity"]
    assert lines[-1] == "Complete"


async def test_without_an_intent_am_throws(bench: Bench) -> None:
    ran = await bench.line("am start")
    assert ran.code == 255 and "java.lang.IllegalArgumentException: No intent supplied" in ran.err


async def test_back_ends_an_activity_and_leaves_the_first_one_alive_behind_home(bench: Bench) -> None:
    await bench.line("am start -n org.example.small/.MainActivity")
    await bench.line("am start -n org.example.small/.SecondActivity")
    await bench.line("input keyevent BACK")
    assert bench.system.activities.front.component.name.endswith("MainActivity")
    assert "close" in bench.display.names()
    bench.display.asked.clear()
    await bench.line("input keyevent BACK")
    assert bench.display.asked == [("front", None)], "nothing was closed"
    assert bench.system.activities.front.component.package == "com.android.launcher3"


async def test_a_page_that_takes_back_stays(bench: Bench) -> None:
    await bench.line("am start -n org.example.small/.MainActivity")
    bench.display.takes_back = True
    await bench.line("input keyevent 4")
    assert bench.system.activities.front.component.package == "org.example.small"


async def test_recents_show_the_task_that_was_used_last_first(bench: Bench) -> None:
    for package in ("org.simphone.notes", "org.example.small"):
        await bench.line(f"monkey -p {package} 1")
    await bench.line("input keyevent KEYCODE_APP_SWITCH")
    name, entries = bench.display.asked[-1]
    assert name == "recents"
    assert [each.package for each in entries] == ["org.example.small", "org.simphone.notes"]


async def test_force_stop_ends_process_and_windows_and_says_nothing(bench: Bench) -> None:
    await bench.line("monkey -p org.example.small 1")
    pid = (await bench.line("pidof org.example.small")).out.strip()
    assert pid.isdigit()
    ran = await bench.line("am force-stop org.example.small")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (await bench.line("pidof org.example.small")).code == 1
    assert bench.display.names()[-2:] == ["front", "close"]


async def test_monkey_starts_what_has_an_icon(bench: Bench) -> None:
    ran = await bench.line("monkey -p org.example.small -c android.intent.category.LAUNCHER 1")
    assert ran.code == 0 and "Events injected: 1\n" in ran.out
    none = await bench.line("monkey -p org.nobody 1")
    assert none.code == 252 and "No activities found to run, monkey aborted." in none.out
