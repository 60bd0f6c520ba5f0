"""Whatever is started, left and ended: what the display has is what the activity manager says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from phone_bench import Bench

from simphone.system.activities import HOME
from simphone.system.component import Component
from simphone.system.intent import Intent

PACKAGES = ("org.example.small", "org.simphone.notes", "org.simphone.shop")
COMPONENTS = [
    *(Component("org.example.small", f"org.example.small.{each}Activity") for each in ("Main", "Second", "Pin")),
    Component("org.simphone.notes", "org.simphone.notes.NotesActivity"),
    Component("org.simphone.notes", "org.simphone.notes.EditorActivity"),
    HOME,
]
STEPS = st.one_of(
    st.tuples(st.just("start"), st.sampled_from(COMPONENTS), st.booleans()),
    st.tuples(st.sampled_from(["stop", "choose"]), st.sampled_from(PACKAGES)),
    st.tuples(st.just("back"), st.booleans()),
    st.tuples(st.sampled_from(["home", "finish", "recents"])),
)


class Windows:
    """What a display would have: which windows are open, and which is in front."""

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self.open: set[str] = set()
        self.front: str | None = None
        for name, *args in asked:
            if name == "open":
                assert args[0] not in self.open
                self.open.add(args[0])
                self.front = args[0]
            elif name == "front":
                assert args[0] is None or args[0] in self.open
                self.front = args[0]
            elif name == "close":
                assert args[0] != self.front, "another one is in front first"
                self.open.remove(args[0])


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, asyncio.Runner]:
    return Bench(tmp_path_factory.mktemp("order") / "phone"), asyncio.Runner()


@given(steps=st.lists(STEPS, max_size=25))
def test_the_windows_are_those_of_the_tasks(
    lasting: tuple[Bench, asyncio.Runner], steps: list[tuple[Any, ...]]
) -> None:
    bench, runner = lasting
    runner.run(live(bench, steps))


async def live(bench: Bench, steps: list[tuple[Any, ...]]) -> None:
    activities = bench.system.activities
    await activities.stop_all()
    bench.display.asked.clear()
    for name, *args in steps:
        if name == "start":
            component, on_top = args
            caller = activities.front.token if on_top else None
            await activities.start(component, Intent(component=component), caller=caller)
            assert activities.front.component.package == component.package
        elif name == "back":
            (bench.display.takes_back,) = args
            await activities.back()
        elif name == "finish":
            await activities.finish(activities.front.token)
        elif name == "recents":
            await bench.system.recents()
        else:
            await getattr(activities, name)(*args)
        tasks = activities.tasks
        assert sum(each.is_home for each in tasks) == 1
        assert len({each.id for each in tasks}) == len(tasks) and all(each.activities for each in tasks)
        assert {each for each in tasks if not each.is_home} == set(activities.recent)
        windows = Windows(bench.display.asked)
        assert windows.open == {each.token for task in tasks if not task.is_home for each in task.activities}
        assert windows.front == (None if tasks[0].is_home else activities.front.token)
        assert all(
            activities.running(each.component.package) for task in tasks if not task.is_home for each in task.activities
        )
