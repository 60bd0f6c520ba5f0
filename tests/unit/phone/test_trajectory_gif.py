"""The animated picture: made of a trajectory alone, with what was done drawn in where it was done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import png
from PIL import Image, ImageChops, ImageDraw
from trajectories import screenshot, seen, state, step, written

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.state import Status
from gateway.errors import UsageError
from gateway.phone.harmless import harmless
from gateway.phone.task.state import Finished, Result
from gateway.phone.trajectory import gif
from gateway.phone.trajectory.film import Film, frames
from gateway.phone.trajectory.gif import LAST_MS, STEP_MS, WIDTHS, animate
from gateway.phone.trajectory.lettering import Lettering
from gateway.phone.trajectory.marks import DONE, FAILED, UNCLEAR
from gateway.phone.trajectory.saved import png as saved_png
from gateway.phone.trajectory.saved import read

SIZE = (360, 600)
GREY = (200, 200, 200)
Steps = Callable[..., Path]


@pytest.fixture
def task(tmp_path: Path) -> Steps:
    """Makes a task's folder of steps, given by what is special about each."""

    def made(*changes: dict[str, Any], **options: Any) -> Path:
        artifacts = ArtifactStore(tmp_path / "artifacts")
        picture = artifacts.put(png(*SIZE))
        usual = {"size": SIZE, "screenshot": picture, "pixels": ()}
        steps = tuple(step(artifacts, number, **(usual | each)) for number, each in enumerate(changes, 1))
        return written(tmp_path, state(steps), **options)

    return made


def pictures(folder: Path) -> list[Image.Image]:
    """The frames, before they are put into a GIF."""
    shown = frames(read(folder))
    film = Film(folder, shown, WIDTHS[0])
    return [film.picture(each) for each in shown]


def changed(picture: Image.Image) -> tuple[int, int, int, int] | None:
    """The part of the screen that is not as the screenshot was."""
    screen = picture.crop((0, 0, *SIZE))
    return ImageChops.difference(screen, Image.new("RGB", SIZE, GREY)).getbbox()


def test_every_step_has_its_time_and_the_end_has_more(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    steps = tuple(step(artifacts, number) for number in (1, 2, 3))
    folder = written(tmp_path, state(steps, Status.COMPLETE, seen=seen(artifacts, screenshot(9))))
    animate(folder, tmp_path / "task.gif")
    with Image.open(tmp_path / "task.gif") as film:
        durations = []
        for number in range(film.n_frames):  # type: ignore[attr-defined]
            film.seek(number)
            durations.append(film.info["duration"])
        assert durations == [STEP_MS, STEP_MS, STEP_MS, LAST_MS]
        assert film.info["loop"] == 0
        assert film.width == WIDTHS[0]


def test_a_finish_and_the_end_are_one_frame(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    steps = (step(artifacts), step(artifacts, 2, action={"action": "FINISH", "reason": "it is off"}))
    ended = state(steps, Status.COMPLETE, seen=seen(artifacts, screenshot(2)), finished=Finished(success=True))
    assert [each.caption for each in frames(read(written(tmp_path, ended)))] == [
        '1/2 · tap switch "Wi-Fi"', "done",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "success", "why", "caption", "ok"),
    [
        (Status.COMPLETE, True, None, "done", True),
        (Status.COMPLETE, False, None, "not done", False),
        (Status.STOPPED, None, "steps", "stopped: steps", False),
        (Status.FAILED, None, "error:device", "failed: error:device", False),
    ],
)
def test_the_last_frame_says_how_it_ended(
    tmp_path: Path, status: Status, success: bool | None, why: str | None, caption: str, ok: bool
) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    finished = Finished(success=success) if success is not None else None
    ended = state((step(artifacts),), status, seen=seen(artifacts, screenshot(9)), finished=finished)
    last = frames(read(written(tmp_path, ended.but(stop_reason=why))))[-1]
    assert (last.caption, last.ok) == (caption, ok)


@pytest.mark.parametrize(("ok", "ink"), [(True, DONE), (False, FAILED), (None, UNCLEAR)])
def test_a_tap_is_a_ring_at_its_place_in_the_colour_of_its_result(
    task: Steps, ok: bool | None, ink: tuple[int, int, int]
) -> None:
    picture = pictures(task({"pixels": ((90, 500),), "result": Result(ok=ok)}))[0]
    assert picture.getpixel((90, 500)) == ink
    around = picture.crop((60, 470, 121, 531))
    assert around.getpixel((10, 30)) == around.getpixel((50, 30)) == around.getpixel((30, 10)) == ink


def test_what_is_drawn_lies_where_the_screen_was_touched_although_the_picture_is_smaller(task: Steps) -> None:
    picture = pictures(task({"size": (1080, 1800), "pixels": ((270, 1500),)}))[0]
    assert picture.getpixel((90, 500)) == DONE


def test_a_swipe_is_an_arrow_from_its_start_to_its_end(task: Steps) -> None:
    swipe = {"action": {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.3]}, "pixels": ((180, 480), (180, 180))}
    picture = pictures(task(swipe))[0]
    assert {picture.getpixel((180, y)) for y in (480, 400, 300, 185)} == {DONE}
    box = changed(picture)
    assert box is not None
    assert 150 < box[0] < box[2] < 210
    assert 165 < box[1] <= 180
    assert 480 < box[3] < 500
    upper, lower = picture.crop((140, 175, 220, 210)), picture.crop((140, 455, 220, 490))
    assert upper.tobytes().count(bytes(DONE)) > lower.tobytes().count(bytes(DONE))  # the head is at the end


def test_typed_text_stands_at_the_field_that_had_the_focus(task: Steps) -> None:
    typing = {"action": {"action": "type", "text": "Milk"}}
    here, nowhere = pictures(task(typing, typing | {"elements": None}))
    box, middle = changed(here), changed(nowhere)
    assert box is not None
    assert box[:2] == (10, 60)  # where the fixture's field is
    assert box[3] < 160
    assert middle is not None
    assert middle[1] > 250


def test_a_step_that_touches_nothing_leaves_the_picture_alone(task: Steps) -> None:
    assert changed(pictures(task({"action": {"action": "back"}}))[0]) is None


@pytest.mark.parametrize("broken", ["missing", "damaged", "none"])
def test_a_screenshot_that_is_not_there_does_not_stop_the_film(task: Steps, tmp_path: Path, broken: str) -> None:
    none = {"screenshot": None} if broken == "none" else {}
    folder = task({"pixels": ((90, 500),)} | none, {})
    if broken != "none":
        (folder / "screenshots/001.png").unlink()
    if broken == "damaged":
        (folder / "screenshots/001.png").write_bytes(png(*SIZE)[:60])
    first, second = pictures(folder)
    assert first.getpixel((90, 500)) == DONE
    assert second.getpixel((90, 500)) == GREY
    animate(folder, tmp_path / "task.gif")


def test_embedded_screenshots_give_the_same_film(task: Steps, tmp_path: Path) -> None:
    steps = [{"pixels": ((90, n),)} for n in range(50, 550, 50)]
    animate(task(*steps), tmp_path / "one.gif")
    (tmp_path / "task/screenshots/001.png").unlink()
    animate(task(*steps, embed_screenshots=True), tmp_path / "other.gif")
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "other.gif").read_bytes()


def test_a_picture_of_a_screen_that_was_turned_fits(task: Steps, tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    turned = {"size": (600, 360), "screenshot": artifacts.put(png(600, 360)), "pixels": ((300, 180),)}
    upright, wide = pictures(task({}, turned))
    assert upright.size == wide.size
    assert wide.getpixel((180, 300)) == DONE


def test_a_film_that_would_be_too_large_is_made_narrower(
    task: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = task({})
    animate(folder, tmp_path / "wide.gif")
    monkeypatch.setattr(gif, "MOST_BYTES", (tmp_path / "wide.gif").stat().st_size - 1)
    animate(folder, tmp_path / "narrow.gif")
    with Image.open(tmp_path / "narrow.gif") as narrow:
        assert narrow.width in WIDTHS[1:]


def test_the_file_itself_can_be_named(task: Steps, tmp_path: Path) -> None:
    animate(task({}) / "trajectory.json", tmp_path / "task.gif")
    assert (tmp_path / "task.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"steps": 3}', '{"task_goal": "", "status": "", "steps": [{}]}'])
def test_what_is_no_trajectory_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "trajectory.json").write_text(content)
    with pytest.raises(UsageError, match="is no trajectory"):
        animate(tmp_path, tmp_path / "task.gif")


def test_a_trajectory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        animate(tmp_path / "nowhere", tmp_path / "task.gif")


def test_a_task_that_did_nothing_has_no_film(task: Steps, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to show"):
        animate(task(), tmp_path / "task.gif")


def test_a_target_that_cannot_be_written_is_refused(task: Steps, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write"):
        animate(task({}), tmp_path / "file" / "task.gif")


@given(st.text(max_size=120), st.integers(40, 400), st.integers(1, 4))
def test_wrapped_text_fits_and_says_where_it_is_cut(text: str, width: int, most: int) -> None:
    letters = Lettering(14)
    lines = letters.wrapped(text, width, most)
    assert len(lines) <= most
    assert all(len(line) <= 1 or letters.width(line) <= width for line in lines)
    canvas = ImageDraw.Draw(Image.new("RGB", (width, 20)))
    for line in lines:
        letters.draw(canvas, (0, 10), line, DONE)
    whole, meant = "".join("".join(lines).split()), "".join(harmless(text).split())
    assert whole == meant or (whole.endswith("…") and meant.startswith(whole[:-1]))


def test_letters_of_other_alphabets_are_taken_from_a_font_that_has_them() -> None:
    letters = Lettering(14)
    assert letters.width("ü") > 0
    assert letters.width("ü" * 3) == pytest.approx(3 * letters.width("ü"))


def test_only_pictures_of_its_own_folder_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    (folder / "screenshots").mkdir(parents=True)
    for path in (tmp_path / "private.png", folder / "screenshots/001.png"):
        path.write_bytes(png(*SIZE))
    assert saved_png(folder, "screenshots/001.png") == png(*SIZE)
    assert saved_png(folder, "../private.png") is saved_png(folder, str(tmp_path / "private.png")) is None
    assert saved_png(folder, "screenshots/\0.png") is None
