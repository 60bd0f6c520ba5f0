"""What pages may ask of the system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from phone_bench import Bench

from simphone.screen.web import CallRefused
from simphone.system.calls import Calls

SMALL = "org.example.small"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


async def ask(bench: Bench, method: str, token: str = "home", of: str = SMALL, **args: Any) -> Any:
    return await Calls(bench.system).answer(of, token, method, args)


async def launched(bench: Bench) -> str:
    """The token of the window of the app's first activity."""
    await bench.line(f"monkey -p {SMALL} 1")
    return bench.system.activities.front.token


@pytest.mark.parametrize("activity", [".SecondActivity", f"{SMALL}/.SecondActivity", "org.example.SECOND"])
async def test_a_page_opens_another_on_top_of_itself(bench: Bench, activity: str) -> None:
    token = await launched(bench)
    assert await ask(bench, "start", token, activity=activity, extras={"n": 1})
    (task,) = [each for each in bench.system.activities.tasks if not each.is_home]
    assert [each.component.short for each in task.activities] == [f"{SMALL}/.MainActivity", f"{SMALL}/.SecondActivity"]
    assert bench.display.asked[-1][-1] == {"n": 1}


async def test_a_page_of_another_app_opens_in_the_same_task_and_gives_its_result_back(bench: Bench) -> None:
    token = await launched(bench)
    await ask(bench, "start", token, activity="org.simphone.notes/.NotesActivity")
    above = bench.system.activities.front.token
    assert len(bench.system.activities.tasks) == 2
    await ask(bench, "finish", above, "org.simphone.notes", result={"chosen": 7})
    assert bench.display.asked[-2:] == [("front", token, {"chosen": 7}), ("close", above)]


async def test_what_is_not_there_is_refused_in_words(bench: Bench) -> None:
    token = await launched(bench)
    for method, args, said in (
        ("start", {"activity": ".Nope"}, r"no activity \.Nope"),
        ("start", {}, "no activity"),
        ("launch", {"package": "org.nobody"}, r"org\.nobody"),
        ("settings_get", {"namespace": "nowhere", "key": "a"}, "nowhere"),
        ("settings_get", {}, "namespace"),
        ("dance", {}, "no call dance"),
    ):
        with pytest.raises(CallRefused, match=said):
            await ask(bench, method, token, **args)


async def test_settings_and_properties_are_read_and_written(bench: Bench) -> None:
    assert await ask(bench, "settings_get", namespace="global", key="wifi_on") == "1"
    await ask(bench, "settings_put", namespace="global", key="wifi_on", value="0")
    assert (await bench.line("settings get global wifi_on")).out == "0\n"
    assert bench.display.names() == ["status"], "it shows before the call ends"
    assert await ask(bench, "settings_get", namespace="global", key="none") is None
    assert await ask(bench, "property", name="ro.product.model") == "Simphone"


async def test_the_bars_keys_do_what_the_phones_keys_do(bench: Bench) -> None:
    await launched(bench)
    await ask(bench, "recents", "navigation", "com.android.systemui")
    assert bench.display.names()[-1] == "recents"
    await ask(bench, "recents_choose", "recents", "com.android.launcher3", package=SMALL)
    assert bench.system.activities.front.component.package == SMALL
    await ask(bench, "back", "navigation", "com.android.systemui")
    assert bench.system.activities.front_task.is_home
    await bench.line(f"monkey -p {SMALL} 1")
    await ask(bench, "home", "navigation", "com.android.systemui")
    assert bench.system.activities.front_task.is_home
