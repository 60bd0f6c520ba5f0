"""MiniWoB's tasks over adb: an oracle chooses, the gateway carries out, the page itself gives the reward."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from phone_lab import START_S, OwnAdb

from bench.miniwob.episode import Episodes, make_app, tasks
from bench.miniwob.oracle import SOLVED
from bench.miniwob.solving import seeds
from bench.miniwob.trial import ORACLE, Trial, attempt
from gateway import Gateway, Settings
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from gateway.phone.task.state import TaskOptions
from gateway.tools.registry import Registry
from simphone.background import PhoneThread
from simphone.phone import PhoneOptions

GOAL = 40
EVERY_KIND = [
    ("choose-list", 2, {"tap"}),  # in the system's picker
    ("terminal", 1, {"tap", "type", "enter"}),
    ("guess-number", 2, {"tap", "type", "clear"}),
    ("enter-password", 1, {"tap", "type", "back"}),
    ("email-inbox", 2, {"tap", "swipe"}),
    ("text-editor", 7, {"tap", "double_tap"}),
    ("drag-box", 1, {"tap", "drag"}),
    ("click-pie", 1, {"tap", "wait"}),
]


class Pages:
    """A phone with MiniWoB's pages, and a gateway for it."""

    def __init__(self, folder: Path, adb: OwnAdb, phone: PhoneThread) -> None:
        self.settings = Settings.load({"workspace": str(folder)}, environ={"ECHELON_HOME": str(folder)}, cwd=folder)
        self.episodes = Episodes(phone)
        self.options = TaskOptions(agent=ORACLE, serial=phone.serial, adb_server=adb.server.address, step_delay=0)

    async def attempt(self, task: str, seed: int) -> Trial:
        async with Gateway(self.settings, registry=lambda: Registry([])) as gateway:
            return await attempt(gateway, self.episodes, self.options, task, seed)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, adb: OwnAdb) -> Iterator[Pages]:
    app = make_app(tmp_path_factory.mktemp("miniwob") / "app")
    with PhoneThread(PhoneOptions(tmp_path_factory.mktemp("phone"), apps=(str(app),))) as phone:
        devices.connect(adb.server, phone.serial, Deadline(START_S))
        yield Pages(tmp_path_factory.mktemp("home"), adb, phone)


@pytest.mark.parametrize(("task", "seed", "kinds"), EVERY_KIND, ids=[each[0] for each in EVERY_KIND])
async def test_every_kind_of_action_solves_a_task(pages: Pages, task: str, seed: int, kinds: set[str]) -> None:
    tried = await pages.attempt(task, seed)
    assert (tried.reward, tried.ended) == (1.0, "the episode"), tried
    assert set(tried.actions) == kinds


def test_an_episode_has_no_reward_before_it_ends_and_is_the_same_again_with_its_seed(pages: Pages) -> None:
    asked = [pages.episodes.begin("enter-text", seed) for seed in (1, 2, 1)]
    assert asked[0] == asked[2] != asked[1]
    assert pages.episodes.reward() is None


async def test_a_wrong_answer_is_not_solved(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.miniwob.screen.Screen.quoted", lambda screen: ["something else"])
    tried = await pages.attempt("enter-text", 1)
    assert not tried.solved and tried.reward is not None and tried.reward < 0


def test_the_oracle_knows_forty_tasks_that_there_are() -> None:
    assert len(SOLVED) >= GOAL and set(SOLVED) <= set(tasks())


@pytest.mark.slow
@pytest.mark.parametrize("task", SOLVED)
async def test_the_oracle_solves(pages: Pages, task: str) -> None:
    tried = [await pages.attempt(task, seed) for seed in seeds(task)]
    assert all(each.solved for each in tried), [each for each in tried if not each.solved]
