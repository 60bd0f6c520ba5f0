"""Input methods and the clipboard, which type what the keyboard cannot."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from phone_bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def test_the_adb_keyboard_types_once_it_is_chosen(bench: Bench) -> None:
    send = f"am broadcast -a ADB_INPUT_B64 --es msg {b64('苍鹭 ü')}"
    ran = await bench.line(send)
    assert ran.out.splitlines() == [
        "Broadcasting: Intent { act=ADB_INPUT_B64 flg=0x400000 (has extras) }",
        "Broadcast completed: result=0",
    ]
    assert "insert_text" not in bench.display.names(), "it is not the input method"
    assert (await bench.line("ime set com.android.adbkeyboard/.AdbIME")).code == 255, "it is not enabled"
    await bench.line("ime enable com.android.adbkeyboard/.AdbIME")
    await bench.line("ime set com.android.adbkeyboard/.AdbIME")
    assert ("allow_keyboard", False) in bench.display.asked
    await bench.line(send)
    await bench.line("am broadcast -a ADB_CLEAR_TEXT")
    await bench.line("am broadcast -a ADB_INPUT_TEXT --es msg heron")
    await bench.line("am broadcast -a ADB_EDITOR_CODE --ei code 3")
    await bench.line("am broadcast -a ADB_INPUT_CHARS --eia chars 128512,32")
    assert bench.display.asked[-5:] == [
        ("insert_text", "苍鹭 ü"),
        ("clear_text",),
        ("insert_text", "heron"),
        ("key", 66),
        ("insert_text", "😀 "),
    ]


async def test_input_methods_are_listed_chosen_and_reset(bench: Bench) -> None:
    assert (await bench.line("ime list -s")).out == "com.android.inputmethod.latin/.LatinIME\n"
    assert "com.android.adbkeyboard/.AdbIME" in (await bench.line("ime list -s -a")).out.splitlines()
    assert (await bench.line("ime enable com.android.adbkeyboard/.AdbIME")).out == (
        "Input method com.android.adbkeyboard/.AdbIME: now enabled for user #0\n"
    )
    assert (await bench.line("ime set com.android.adbkeyboard/.AdbIME")).out == (
        "Input method com.android.adbkeyboard/.AdbIME selected for user #0\n"
    )
    assert "mCurMethodId=com.android.adbkeyboard/.AdbIME" in (await bench.line("dumpsys input_method")).out
    assert (await bench.line("settings get secure default_input_method")).out == "com.android.adbkeyboard/.AdbIME\n"
    await bench.line("ime reset")
    assert (await bench.line("settings get secure default_input_method")).out.endswith("LatinIME\n")
    assert (await bench.line("ime set org.nobody/.Ime")).err == (
        "Unknown input method org.nobody/.Ime cannot be selected for user #0\n"
    )


async def test_a_phone_may_lack_the_adb_keyboard(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "phone", adb_keyboard=False)
    assert (await bench.line("ime list -s -a")).out == "com.android.inputmethod.latin/.LatinIME\n"
    assert (await bench.line("pm path com.android.adbkeyboard")).code == 1


async def test_clipper_keeps_a_text_that_is_pasted(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "phone", clipper=True)
    ran = await bench.run("am", "broadcast", "-a", "clipper.set", "--es", "text", "grüße an alle")
    assert ran.out.endswith('Broadcast completed: result=-1, data="Text is copied into clipboard."\n')
    assert (await bench.line("am broadcast -a clipper.get")).out.endswith('result=-1, data="grüße an alle"\n')
    await bench.line("input keyevent 279")
    assert bench.display.asked == [("insert_text", "grüße an alle")]
