"""Specification 000, requirement “Trajectory Tracking and Export”: a test by the name of each scenario."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tasks_of_lab import FINISH, OPEN, Tasks

SAY = {"action": "answer", "text": "noted"}


async def test_record_trajectory_step(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, FINISH])
    step = ran.trajectory["steps"][0]
    assert (step["step"], step["decision"], step["thinking"]) == (1, 1, "step 1")
    assert step["action"] == OPEN
    assert (step["result"]["ok"], step["result"]["how"].startswith("started com.android.settings/")) == (True, True)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", step["timestamp"])
    assert (ran.task.folder / step["screenshot"]).read_bytes().startswith(b"\x89PNG")
    assert any(each.get("text") == "Settings" for each in step["elements"])
    assert {"perceive", "predict", "act", "settle"} == set(step["timings_ms"])


@pytest.mark.parametrize("success", [True, False])
async def test_export_trajectory_to_json(tasks: Tasks, tmp_path: Path, success: bool) -> None:
    chosen = tmp_path / "chosen"
    script = [SAY, {"action": "FINISH", "reason": "as asked", "success": success}]
    ran = await tasks.run(script, trajectory_dir=str(chosen), embed_screenshots=True)
    assert ran.task.folder == chosen / ran.task.run_id
    saved = ran.trajectory
    assert (saved["task_id"], saved["task_goal"], saved["total_steps"]) == (ran.task.run_id, "Look around", 2)
    assert saved["status"] == ("complete" if success else "failed")
    assert saved["duration_s"] >= 0 and saved["device"]["serial"] == tasks.phone.serial
    pictures = [base64.b64decode(each["screenshot"], validate=True) for each in saved["steps"]]
    assert all(each.startswith(b"\x89PNG") for each in pictures)
    assert [each.name for each in ran.task.folder.iterdir()] == ["trajectory.json"]


async def test_trajectory_compression(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, FINISH])
    assert ran.task.folder.name == ran.task.run_id
    files = {str(each.relative_to(ran.task.folder)) for each in ran.task.folder.rglob("*") if each.is_file()}
    assert files == {"trajectory.json", "screenshots/001.png", "screenshots/002.png"}
    assert [each["screenshot"] for each in ran.trajectory["steps"]] == ["screenshots/001.png", "screenshots/002.png"]


class Peeking:
    """Says something, and looks what is saved already."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.saved: list[int | None] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        files = list(self.folder.glob("*/trajectory.json"))
        self.saved.append(json.loads(files[0].read_text())["total_steps"] if files else None)
        said = {"action": "answer", "text": f"noted {len(self.saved)}"}
        return "", said if len(self.saved) < 22 else FINISH


@pytest.mark.parametrize("embedded", [False, True])
async def test_incremental_trajectory_saving(tasks: Tasks, tmp_path: Path, embedded: bool) -> None:
    agent = Peeking(tmp_path / "chosen")
    ran = await tasks.run(agent, trajectory_dir=str(agent.folder), embed_screenshots=embedded)
    if embedded:
        assert agent.saved == [0] * 10 + [10] * 10 + [20] * 2, "every ten steps, megabytes"
    else:
        assert agent.saved == list(range(22)), "after every step"
    assert ran.trajectory["total_steps"] == 22, "the last one is whole"
