"""What a task on a phone is about, and where it is: plain data, small enough to be saved after every node."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from gateway.engine.ports import Artifacts, Json
from gateway.phone.element import Bounds, Element

MAX_STEPS, MAX_TAPS, MAX_TIME_S = 50, 50, 1800.0
MAX_OFF_APP, MAX_RESTARTS = 10, 3


class Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def with_(self, **changes: Any) -> Self:
        return self.model_copy(update=changes)


class TaskOptions(Plain):
    """How a task is carried out. Times in seconds.

    `agent` is "builtin" or `package.module:Class`. `tree` and `step_info` are what agents other than the built-in one
    are given besides the screenshot. `retries` of a device's action or of reading it, `retry_delay` before the first of
    them. `app` (label or package) is started first; `apk` is a file that is installed if it is missing.
    `consequential` are words that name further targets to be careful with; where `confirm`, a person is asked before
    each. `predict_timeout` is for one prediction of an agent that is not built in. `patience` is how long a screen is
    watched for the effect of an act whose answer was lost.
    """

    agent: str = "builtin"
    app: str = ""
    apk: str = ""
    serial: str | None = None
    mode: Literal["auto", "usb", "wifi"] = "auto"
    adb_server: str = "localhost:5037"
    step_delay: float = 0.5
    retries: int = 2
    retry_delay: float = 0.5
    tree: bool = False
    step_info: bool = False
    screen_change: bool = True
    embed_screenshots: bool = False
    gif: bool = False
    trajectory_dir: str = ""
    ask_timeout: float = 120.0
    takeover_timeout: float = 900.0
    predict_timeout: float = 120.0
    patience: float = 15.0
    consequential: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    confirm: bool = False
    images: bool = False
    """Whether the built-in agent's model is shown the screenshot, too."""
    temperature: float | None = None
    history: int | None = None
    """For agents that are loaded by their class: of their model, and how many past steps it is shown; None: their
    own."""
    simulated: bool = False
    """Whether the phone is a simulated one that ends with the command: such a task cannot be gone on with later."""


class PhoneContext(Plain):
    """What does not change during a task. `folder` is where its trajectory goes; `settings` are without secrets;
    `max_steps` is what the agent is told; `apk_sha256` is of the options' `apk` as it was when the task began."""

    run_id: str
    task: str
    options: TaskOptions
    folder: str
    workspace: str
    models: dict[str, str]
    settings: dict[str, Json]
    assume_yes: bool = False
    max_steps: int = MAX_STEPS
    apk_sha256: str = ""


class Device(Plain):
    """The phone that the task has; `apps` are the labels of what can be started."""

    serial: str
    model: str = ""
    android: str = ""
    size: tuple[int, int]
    apps: tuple[str, ...] = ()


class Seen(Plain):
    """What the screen showed at one moment: an `Observation` whose picture and elements are artifacts (sha256).

    `look` is equal where nothing at all has changed in the list; `state_id` where nothing that matters has. `elements`
    is None where the screen could not be read, as `unreadable` says then. `at` in seconds since the epoch.
    """

    look: str
    state_id: str
    package: str
    activity: str
    size: tuple[int, int]
    rotation: int = 0
    png: str | None
    elements: str | None
    unreadable: str = ""
    from_picture: bool = False
    secure: bool = False
    screen_on: bool | None = None
    locked: bool | None = None
    keyboard: bool = False
    at: float = 0.0


class Result(Plain):
    """What became of an action. `ok` is None where that cannot be told. `cause` is one word for code (`dropped`,
    `covered`, `secure`, `no_input_method`, `not_typed`, `unchanged`, `failed`, `unusable`, `barred`, …; empty where all
    is well), `note` the words for the agent and for people. `how` is what was done, `output` what the device said."""

    ok: bool | None
    cause: str = ""
    note: str = ""
    how: str = ""
    output: str = ""


class Step(Plain):
    """One action of the trajectory; several of one decision have the same `decision`. Screenshots and elements are
    artifacts; `seen` is what the agent decided upon."""

    number: int
    decision: int
    thinking: str = ""
    action: dict[str, Json]
    target: str = ""
    """What the action touched, as people call it."""
    consequential: bool = False
    pixels: tuple[tuple[int, int], ...] = ()
    result: Result
    screenshot: str | None = None
    elements: str | None = None
    state_id: str = ""
    package: str = ""
    size: tuple[int, int] = (0, 0)
    timings_ms: dict[str, float] = {}
    """perceive, predict, act, settle."""
    retries: int = 0
    timestamp: float = 0.0
    error_screenshot: str | None = None


class Acted(Plain):
    """An act that was done and has not been verified. `outcome` is what `device.act` gave, `before` what was seen."""

    action: dict[str, Json]
    before: Seen
    outcome: dict[str, Json]
    ms: float = 0.0
    retries: int = 0
    other_way: bool = False
    consequential: str = ""


class Finished(Plain):
    """The agent's FINISH."""

    success: bool
    reason: str = ""


class PhoneState(Plain):
    """The task's part of the run's state.

    `queue` are actions that were decided and have not been done, the first one next. `note` is what the agent has to
    know at its next decision. `tried` counts, for a look of the screen and an action, how often it was chosen there;
    `barred` are those that may not be chosen there again.
    """

    device: Device | None = None
    app: str = ""
    """The package of the task's own app, where it has one."""
    seen: Seen | None = None
    steps: tuple[Step, ...] = ()
    queue: tuple[dict[str, Json], ...] = ()
    thinking: str = ""
    other_way: bool = False
    """The next of the queue is the last act once more, by another way."""
    acted: Acted | None = None
    note: str = ""
    tool_result: Json = None
    unusable: int = 0
    decisions: int = 0
    asked: int = 0
    memory: Json = None
    """The agent's own, from one decision to the next."""
    packs: tuple[str, ...] = ()
    tried: dict[str, int] = {}
    barred: tuple[str, ...] = ()
    risked: tuple[str, ...] = ()
    """Consequential acts that were done, each by the state of the screen and its target."""
    timings_ms: dict[str, float] = {}
    """Of the step that is under way."""
    answer: str = ""
    finished: Finished | None = None
    cancelled: bool = False
    next: str = "ChooseAction"


def risk_of(seen: Seen, target: str) -> str:
    """What stands in `risked` for an act on that target, as people call it."""
    return f"{seen.state_id or seen.look} {target}"


def elements_json(elements: tuple[Element, ...]) -> bytes:
    return json.dumps([asdict(each) for each in elements], ensure_ascii=False).encode("utf-8", "replace")


def load_elements(artifacts: Artifacts, sha256: str | None) -> tuple[Element, ...] | None:
    """The elements of what was seen; None where the screen could not be read."""
    return None if sha256 is None else _elements(artifacts, sha256)  # type: ignore[arg-type]


@lru_cache(maxsize=16)  # several nodes look at the same screen
def _elements(artifacts: Artifacts, sha256: str) -> tuple[Element, ...]:
    return tuple(
        Element(**{**each, "bounds": Bounds(*each["bounds"]), "state": tuple(each["state"])})
        for each in json.loads(artifacts.get(sha256))
    )
