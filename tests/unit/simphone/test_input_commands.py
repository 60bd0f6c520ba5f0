"""Touches, keys and text from the shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from phone_bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


async def test_a_tap_reaches_the_display(bench: Bench) -> None:
    ran = await bench.line("input tap 100 200.5")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert bench.display.asked == [("tap", 100.0, 200.5)]


@pytest.mark.parametrize("source", ["touchscreen", "mouse", "-d 0"])
async def test_a_source_or_a_display_may_be_named(bench: Bench, source: str) -> None:
    assert (await bench.line(f"input {source} tap 1 2")).code == 0
    assert bench.display.asked == [("tap", 1.0, 2.0)]


async def test_a_swipe_lasts_as_long_as_it_says(bench: Bench) -> None:
    await bench.line("input swipe 1 2 3 4")
    await bench.line("input swipe 1 2 3 4 900")
    await bench.line("input draganddrop 1 2 3 4 700")
    assert [(each[0], each[-1]) for each in bench.display.asked] == [("swipe", 300), ("swipe", 900), ("drag", 700)]


async def test_text_is_typed_with_its_blanks(bench: Bench) -> None:
    assert (await bench.run("input", "text", "a%sb&c\nd")).code == 0
    assert bench.display.asked == [("insert_text", "a b&c", True), ("key", 66), ("insert_text", "d", True)]


@pytest.mark.parametrize("text", ["für", "שלום", "你好", "😀"])
async def test_text_that_the_keyboard_does_not_have_throws_and_types_nothing(bench: Bench, text: str) -> None:
    ran = await bench.run("input", "text", f"a{text}")
    assert ran.code == 255 and not bench.display.asked
    assert (
        "Exception occurred while executing 'text':\njava.lang.NullPointerException: Attempt to get length of"
        in ran.err
    )


@pytest.mark.parametrize(
    ("line", "thrown"),
    [
        ("input tap", 'java.lang.IllegalArgumentException: Argument expected after "tap"'),
        ("input tap 1", 'java.lang.IllegalArgumentException: Argument expected after "1"'),
        ("input tap a b", 'java.lang.NumberFormatException: For input string: "a"'),
        ("input swipe 1 2 3 4 long", 'java.lang.NumberFormatException: For input string: "long"'),
    ],
)
async def test_wrong_arguments_throw(bench: Bench, line: str, thrown: str) -> None:
    ran = await bench.line(line)
    assert (ran.code, ran.out) == (255, "")
    assert thrown in ran.err and "\tat com.android.server.input.InputShellCommand" in ran.err


async def test_without_a_command_the_usage_is_told(bench: Bench) -> None:
    ran = await bench.line("input")
    assert ran.code == 255 and ran.out.startswith("Usage: input [<source>]")
    assert (await bench.line("input dance")).out == "Unknown command: dance\n"


async def test_keys_have_names_and_numbers_and_come_several_at_once(bench: Bench) -> None:
    await bench.line("input keyevent KEYCODE_ENTER 67 DPAD_DOWN nonsense")
    await bench.line("input keyevent --longpress 67")
    assert bench.display.asked == [
        ("key", 66, False),
        ("key", 67, False),
        ("key", 20, False),
        ("key", 67, True),
    ]


async def test_the_power_keys_switch_the_screen(bench: Bench) -> None:
    for key, on in (("26", False), ("WAKEUP", True), ("WAKEUP", True), ("223", False), ("26", True)):
        await bench.line(f"input keyevent {key}")
        assert bench.display.on is on


async def test_with_the_screen_off_touches_and_other_keys_do_nothing(bench: Bench) -> None:
    await bench.line("input keyevent SLEEP")
    for line in ("input tap 1 2", "input keyevent 66", "input text a"):
        assert (await bench.line(line)).code == 0
    assert not bench.display.asked


async def test_everything_that_is_selected_is_deleted(bench: Bench) -> None:
    await bench.line("input keycombination 113 29")
    await bench.line("input keyevent 67 67")
    assert bench.display.names() == ["clear_text", "key"]


async def test_what_is_selected_is_copied_cut_and_pasted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def selected() -> str:
        return "heron"

    monkeypatch.setattr(bench.display, "selection", selected, raising=False)
    await bench.line("input keyevent COPY")
    await bench.line("input keyevent CUT PASTE")
    assert bench.display.asked == [("key", 67), ("insert_text", "heron")]
