"""trajectory.json: whole at every moment, the same for the same state, and cheap to write after every node."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trajectories import ROW, WIFI, context, screenshot, seen, state, step, written

from gateway.engine.artifacts import ArtifactStore, MemoryArtifacts
from gateway.engine.state import RunState, Status, Waiting
from gateway.phone.element import Bounds, Element
from gateway.phone.task.state import Acted, Finished, PhoneState, Result, elements_json
from gateway.phone.trajectory.document import MOST_ELEMENTS, render
from gateway.phone.trajectory.projection import EVERY, project

KEYS = {
    "task_id", "task_goal", "status", "stop_reason", "total_steps", "duration_s", "device", "model", "steps",
}  # fmt: skip
STEP_KEYS = {
    "step", "thinking", "action", "pixel", "result", "screenshot", "elements", "state_id", "timings_ms", "retries",
    "timestamp",
}  # fmt: skip
NASTY = st.text(max_size=30) | st.sampled_from(['"', "\\", "\r\n", "\u2028", "é", "😀", "]}", "\x00\x1b[31m"])


def told(run: RunState, artifacts: Any, **options: Any) -> dict[str, Any]:
    document = json.loads(render(ROW, context(**options), run, artifacts))
    assert isinstance(document, dict)
    return document


def saved(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / "trajectory.json").read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def test_it_has_the_keys_of_the_contract() -> None:
    artifacts = MemoryArtifacts()
    document = told(state((step(artifacts),)), artifacts)
    assert document.keys() >= KEYS
    first = document["steps"][0]
    assert first.keys() >= STEP_KEYS
    assert (document["task_id"], document["task_goal"], document["status"]) == ("01M5", "Switch Wi-Fi off", "running")
    assert (document["total_steps"], document["duration_s"], document["model"]) == (1, 12.3, "local/small")
    assert document["device"] == {"serial": "S1", "model": "Pixel", "android": "14", "size": [108, 240]}
    assert first["screenshot"] == "screenshots/001.png"
    assert first["pixel"] == [54, 30]
    assert first["result"]["ok"] is True
    assert set(first["timings_ms"]) == {"perceive", "predict", "act", "settle"}


def test_elements_are_told_without_what_they_do_not_have() -> None:
    artifacts = MemoryArtifacts()
    assert told(state((step(artifacts),)), artifacts)["steps"][0]["elements"] == [
        {
            "number": 1, "role": "switch", "text": "Wi-Fi", "resource_id": "wifi", "clickable": True,
            "state": ["checked"], "bounds": [0, 20, 108, 40],
        },
        {
            "number": 2, "role": "field", "hint": "Title", "editable": True, "state": ["focused"],
            "bounds": [10, 60, 98, 80],
        },
    ]  # fmt: skip


def test_a_screen_that_could_not_be_read_has_no_list_and_an_empty_one_has_an_empty_list() -> None:
    artifacts = MemoryArtifacts()
    steps = (step(artifacts, elements=None), step(artifacts, 2, elements=artifacts.put(elements_json(()))))
    assert [each["elements"] for each in told(state(steps), artifacts)["steps"]] == [None, []]


def test_a_screen_with_thousands_of_elements_does_not_fill_the_document() -> None:
    artifacts = MemoryArtifacts()
    many = tuple(Element(n, "text", "x" * 1000, Bounds(0, n, 9, n + 1)) for n in range(1, 5001))
    first = told(state((step(artifacts, elements=artifacts.put(elements_json(many))),)), artifacts)["steps"][0]
    assert len(first["elements"]) == MOST_ELEMENTS
    assert first["elements_left_out"] == 5000 - MOST_ELEMENTS
    assert len(json.dumps(first)) < 100_000


@pytest.mark.parametrize(("pixels", "pixel"), [((), None), (((1, 2),), [1, 2]), (((1, 2), (3, 4)), [[1, 2], [3, 4]])])
def test_a_swipe_has_two_pixels_and_a_key_has_none(pixels: Any, pixel: Any) -> None:
    artifacts = MemoryArtifacts()
    assert told(state((step(artifacts, pixels=pixels),)), artifacts)["steps"][0]["pixel"] == pixel


@given(st.lists(st.tuples(NASTY, NASTY, NASTY), max_size=3), st.sampled_from(Status))
def test_any_words_come_back_and_a_resumed_or_replayed_run_writes_the_same(
    texts: list[tuple[str, str, str]], status: Status
) -> None:
    artifacts = MemoryArtifacts()
    steps = tuple(
        step(
            artifacts,
            number,
            thinking=thinking,
            action={"action": "type", "text": typed},
            elements=artifacts.put(elements_json((Element(1, "field", shown, WIFI.bounds),))),
        )
        for number, (thinking, typed, shown) in enumerate(texts, 1)
    )
    run = state(steps, status)
    text = render(ROW, context(), run, artifacts)
    document = json.loads(text)
    assert [(each["thinking"], each["action"]["text"]) for each in document["steps"]] == [each[:2] for each in texts]
    assert [each["elements"][0].get("text", "") for each in document["steps"]] == [each[2] for each in texts]
    assert render(ROW, context(), RunState.load(run.dump(), PhoneState), artifacts) == text
    assert "\r" not in text


def test_half_a_surrogate_pair_can_be_written(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    folder = written(tmp_path, state((step(artifacts, thinking="\ud83d"),)))
    assert "thinking" in saved(folder)["steps"][0]


def test_screenshots_lie_beside_it_as_they_were_taken(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    steps = tuple(step(artifacts, number) for number in (1, 2))
    folder = written(tmp_path, state(steps))
    assert sorted(path.name for path in (folder / "screenshots").iterdir()) == ["001.png", "002.png"]
    for number, each in enumerate(saved(folder)["steps"], 1):
        assert (folder / each["screenshot"]).read_bytes() == screenshot(number)


def test_what_stood_on_the_screen_after_a_failed_action_is_kept(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    failed = step(artifacts, 2, result=Result(ok=False, cause="dropped"), error_screenshot=artifacts.put(screenshot(9)))
    folder = written(tmp_path, state((step(artifacts), failed)))
    assert [each["error_screenshot"] for each in saved(folder)["steps"]] == [None, "error_002.png"]
    assert (folder / "error_002.png").read_bytes() == screenshot(9)


def test_the_last_screenshot_is_the_final_screen(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    ended = state((step(artifacts),), Status.COMPLETE, seen=seen(artifacts, screenshot(5)))
    folder = written(tmp_path, ended)
    last = sorted((folder / "screenshots").iterdir())[-1]
    assert last.read_bytes() == screenshot(5)
    assert saved(folder)["final_screenshot"] == f"screenshots/{last.name}"


def test_a_final_screen_that_the_last_step_shows_is_not_kept_twice(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    finish = step(artifacts, 2, action={"action": "FINISH"})
    ended = state((step(artifacts), finish), Status.COMPLETE, seen=seen(artifacts, screenshot(2)))
    folder = written(tmp_path, ended)
    assert saved(folder)["final_screenshot"] == "screenshots/002.png"
    assert len(list((folder / "screenshots").iterdir())) == 2


def test_a_run_that_goes_on_after_an_end_shows_its_new_final_screen(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    written(tmp_path, state((step(artifacts),), Status.STOPPED, seen=seen(artifacts, screenshot(5))))
    going = written(tmp_path, state((step(artifacts),), seen=seen(artifacts, screenshot(6))))
    assert saved(going)["final_screenshot"] is None
    steps = (step(artifacts), step(artifacts, 2))
    folder = written(tmp_path, state(steps, Status.STOPPED, seen=seen(artifacts, screenshot(7))))
    assert (folder / saved(folder)["final_screenshot"]).read_bytes() == screenshot(7)
    assert (folder / "screenshots/002.png").read_bytes() == screenshot(2)


def test_how_it_ended_and_what_it_asks_are_told() -> None:
    artifacts = MemoryArtifacts()
    finished = state((), Status.COMPLETE, finished=Finished(success=False, reason="no Wi-Fi here"), answer="none")
    document = told(finished, artifacts)
    assert document["finished"] == {"success": False, "reason": "no Wi-Fi here"}
    assert document["answer"] == "none"
    asks = state((), Status.WAITING).but(waiting=Waiting("q", "01M5", "Which one?"))
    assert told(asks, artifacts)["question"] == "Which one?"


def test_embedded_screenshots_are_in_the_document_alone(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    ended = state((step(artifacts),), Status.COMPLETE, seen=seen(artifacts, screenshot(5)))
    folder = written(tmp_path, ended, embed_screenshots=True)
    document = saved(folder)
    assert base64.b64decode(document["steps"][0]["screenshot"]) == screenshot(1)
    assert base64.b64decode(document["final_screenshot"]) == screenshot(5)
    assert [path.name for path in folder.iterdir()] == ["trajectory.json"]


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.RUNNING])
def test_embedded_screenshots_are_written_every_ten_steps_and_at_every_end(tmp_path: Path, status: Status) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    some = state(tuple(step(artifacts, number) for number in range(1, EVERY)))
    ten = state(tuple(step(artifacts, number) for number in range(1, EVERY + 1)))
    under_way = Acted(action={"action": "back"}, before=seen(artifacts, None), outcome={})

    def writes(run: RunState) -> bool:
        return bool(project(ROW, context(tmp_path, embed_screenshots=True), run, artifacts).texts)

    assert writes(state())
    assert not writes(some)
    assert writes(ten)
    assert not writes(ten.but(data=ten.data.model_copy(update={"acted": under_way})))
    assert writes(some.but(status=status))


def test_the_same_files_are_named_as_long_as_the_task_goes_on(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    steps = tuple(step(artifacts, number, error_screenshot=artifacts.put(b"e")) for number in range(1, 8))
    before: dict[str, str] = {}
    for count in range(len(steps) + 1):
        now = dict(project(ROW, context(tmp_path), state(steps[:count]), artifacts).artifacts)
        assert now.items() >= before.items()  # each is written once, so what it shows must not change
        before = now


def test_elements_are_not_read_again_for_every_node() -> None:
    class Counting(MemoryArtifacts):
        def __init__(self) -> None:
            super().__init__()
            self.read: Counter[str] = Counter()

        def get(self, sha256: str) -> bytes:
            self.read[sha256] += 1
            return super().get(sha256)

    artifacts = Counting()
    lists = [artifacts.put(elements_json((Element(n, "text", "", WIFI.bounds),))) for n in range(50)]
    steps = tuple(step(artifacts, number, elements=sha256) for number, sha256 in enumerate(lists, 1))
    for count in range(1, len(steps) + 1):
        for _ in range(3):
            render(ROW, context(), state(steps[:count]), artifacts)
    assert artifacts.read == dict.fromkeys(lists, 1)
