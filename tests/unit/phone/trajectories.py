"""Tasks on a phone made up for tests: steps, and the run that they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pictures import png

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.ports import Artifacts
from gateway.engine.scripted import EPOCH
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.phone.element import Bounds, Element
from gateway.phone.task.state import (
    Device,
    PhoneContext,
    PhoneState,
    Result,
    Seen,
    Step,
    TaskOptions,
    elements_json,
)
from gateway.phone.trajectory.projection import project

SIZE = (108, 240)
ROW = RunRow(
    id="01M5", graph="phone", title="t", session=None, ordinal=None, parent=None, seed=1, context={}, limits={},
    pins={}, status="running", stop_reason=None, question=None, created=EPOCH, updated=EPOCH, cancel=False,
)  # fmt: skip
WIFI = Element(1, "switch", "Wi-Fi", Bounds(0, 20, 108, 40), resource_id="wifi", state=("checked",), clickable=True)
TITLE = Element(2, "field", "", Bounds(10, 60, 98, 80), hint="Title", state=("focused",), editable=True)


def context(folder: Path | str = "/nowhere", **options: Any) -> PhoneContext:
    return PhoneContext(
        run_id="01M5", task="Switch Wi-Fi off", options=TaskOptions(**options), folder=str(folder), workspace="/w",
        models={"agent": "local/small"}, settings={},
    )  # fmt: skip


def step(artifacts: Artifacts, number: int = 1, **changes: Any) -> Step:
    """A tap on the switch, on a screen whose picture is another for each number."""
    told = {
        "number": number,
        "decision": number,
        "thinking": "It is on.",
        "action": {"action": "tap", "coordinate": {"element": 1}},
        "target": 'switch "Wi-Fi"',
        "pixels": ((54, 30),),
        "result": Result(ok=True, how="tap"),
        "screenshot": artifacts.put(screenshot(number)),
        "elements": artifacts.put(elements_json((WIFI, TITLE))),
        "state_id": "5eed",
        "package": "org.example",
        "size": SIZE,
        "timings_ms": {"perceive": 200.0, "predict": 900.0, "act": 30.0, "settle": 300.0},
        "timestamp": EPOCH + number,
    }
    return Step(**(told | changes))


def screenshot(number: int) -> bytes:
    return png(*SIZE, grey=(number * 7) % 256)


def seen(artifacts: Artifacts, picture: bytes | None) -> Seen:
    sha256 = artifacts.put(picture) if picture is not None else None
    return Seen(look="", state_id="", package="", activity="", size=SIZE, png=sha256, elements=None)


def state(steps: tuple[Step, ...] = (), status: Status = Status.RUNNING, **changes: Any) -> RunState:
    """`changes` of the phone's part."""
    data = PhoneState(device=Device(serial="S1", model="Pixel", android="14", size=SIZE, apps=("Notes",)), steps=steps)
    node = "ChooseAction" if status is Status.RUNNING else None
    counters = {"time_s": 12.34, "model_calls": 3.0}
    return RunState(node=node, data=data.with_(**changes), status=status, counters=counters)


def written(folder: Path, run: RunState, **options: Any) -> Path:
    """The folder of the task, with all that shows it."""
    artifacts = ArtifactStore(folder / "artifacts")
    project(ROW, context(folder / "task", **options), run, artifacts).write(artifacts, set())
    return folder / "task"
