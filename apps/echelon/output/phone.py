"""Phones: which there are, and how a task on one ended."""

from __future__ import annotations

from typing import Literal

from echelon.output.shape import Shape, Status
from echelon.output.turn import Question, TurnUsage


class DeviceRow(Shape):
    """A phone as adb sees it. `state` is adb's word, `device` where it can be used; `android` is its version, empty
    where it could not be asked; `connected` says how, and `also` has other serials of the same phone. `advice` says
    what to do before it can be used, and is empty where it can."""

    serial: str
    state: str
    model: str
    android: str
    connected: Literal["usb", "wifi", "emulator"]
    also: tuple[str, ...]
    advice: str


class PhoneUsed(Shape):
    """The phone that a task had: its serial, its model and version of Android, empty where it does not say."""

    serial: str
    model: str
    android: str


class PhoneOutcome(Shape):
    """How a task on a phone ended. `run` is the id of its run, `answer` what the agent answered or why it finished;
    `error` says why it failed and `hint` what can be done about that, `waiting` what it asks. `steps` are decisions of
    the agent, `actions` how many are in the file `trajectory`. `device` is null where none was found."""

    run: str
    task: str
    status: Status
    stop_reason: str | None
    error: str | None
    hint: str | None
    answer: str | None
    device: PhoneUsed | None
    steps: int
    actions: int
    trajectory: str
    usage: TurnUsage
    waiting: Question | None
