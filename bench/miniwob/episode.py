"""MiniWoB's pages as an app of a simulated phone: a task is opened, begun with a seed, and gives its reward.

What the agent does goes over adb; what is here is what MiniWoB's own environment does by a driver of the browser: it
seeds the page, begins the episode, and reads the reward.
"""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

from simphone.background import PhoneThread
from simphone.phone import Phone
from simphone.screen.devtools import CallFailed
from simphone.system.component import Component
from simphone.system.intent import Intent

PACKAGE, LABEL = "org.farama.miniwob", "MiniWoB"
WIDTH, SCREEN = 160, 360  # of a task and of the phone, in CSS pixels
LONGEST_MS = 2_000_000_000  # what a browser's timer can wait for
DONE = 0.999  # a reward falls with the time that is used of the longest one

BEGIN = """
  Math.seedrandom({seed}); core.EPISODE_MAX_TIME = {longest}; core.hideDisplay(); core.startEpisodeReal();
"""
QUERY = "document.getElementById('query').textContent.replace(/\\s+/g, ' ').trim()"
# Of the page's episodes, since a touch too many begins another one; none where another app is in front.
REWARDS = "typeof core === 'undefined' ? [] : core.wob_scores || []"


def pages() -> Path:
    """Raises ImportError where MiniWoB is not installed."""
    found = find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        raise ImportError("MiniWoB is not installed (pip install miniwob)")
    return Path(found.submodule_search_locations[0]) / "html"


def tasks() -> list[str]:
    return sorted(each.stem for each in (pages() / "miniwob").glob("*.html"))


def make_app(folder: Path) -> Path:
    """All tasks as one app, an activity each, as large as the phone is wide."""
    shutil.copytree(pages(), folder, dirs_exist_ok=True)
    activities = {_activity(each): f"miniwob/{each}.html" for each in tasks()}
    manifest = {"package": PACKAGE, "label": LABEL, "activities": activities, "zoom": SCREEN / WIDTH}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


class Episodes:
    """On a phone that has the app, one after the other."""

    def __init__(self, phone: PhoneThread) -> None:
        self._phone = phone

    def begin(self, task: str, seed: int) -> str:
        """Open a task anew, without its limit of ten seconds or more, in which no phone is driven; what it asks for."""
        component = Component(PACKAGE, PACKAGE + _activity(task))
        script = BEGIN.format(seed=json.dumps(str(seed)), longest=LONGEST_MS)

        async def opened(phone: Phone) -> str:
            await phone.system.activities.stop_all()
            await phone.system.activities.start(component, Intent(component=component))
            await phone.display.evaluate(script)
            return str(await phone.display.evaluate(QUERY))

        return self._phone.call(opened)

    def reward(self) -> float | None:
        """-1..1; None while the episode goes on."""
        try:
            rewards = self._phone.call(lambda phone: phone.display.evaluate(REWARDS))
        except CallFailed:  # no page is in front: the agent has gone to the home screen
            return None
        return None if not rewards else 1.0 if rewards[0] > DONE else float(rewards[0])


def _activity(task: str) -> str:
    return "." + "".join(each[0].upper() + each[1:] for each in task.split("-"))
