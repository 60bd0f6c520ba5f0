"""The face of whoever chooses the next action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.engine.journal import Visit
from gateway.engine.ports import Json
from gateway.errors import EchelonError
from gateway.phone.element import Element
from gateway.phone.task.state import Plain, Seen, Step


class Unusable(EchelonError):
    """A prediction that is no action, or none that may be chosen now: the message goes back to the agent. What was
    said is kept for the record."""

    kind = "prediction"

    def __init__(self, message: str, *, text: str = "", said: Json = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.said = said


@dataclass(frozen=True)
class Moment:
    """What an agent may look at for one decision. `step` counts from 1. `elements` are None where the screen cannot be
    read. `note` says what became of the last action, or what was wrong with the last prediction; `tool_result` is what
    a tool, or the user, answered to it. `barred` are actions that may not be chosen on this screen any more, as data.
    `apps` are labels of what can be opened, `tools` names of what `mcp_call` can call, `actions` further actions by
    name with their schema."""

    task: str
    step: int
    max_steps: int
    seen: Seen
    elements: tuple[Element, ...] | None
    picture: Callable[[], bytes | None]
    history: tuple[Step, ...] = ()
    note: str = ""
    tool_result: Json = None
    barred: tuple[dict[str, Json], ...] = ()
    apps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    asked: int = 0
    """Model calls of the run so far."""
    memory: Json = None
    """What this agent's last decision left for the next one."""
    app: str = ""
    """The package of the task's own app, where it has one: it was started, and the task is about it."""


class Chosen(Plain):
    """A decision: actions as data (`gateway.phone.actions`, or a custom one), which are done in order as long as each
    succeeds. `text` is what the agent said, `pack` the artifact of the prompt, `calls` how many model calls it took.
    `memory` comes back in the next Moment."""

    actions: tuple[dict[str, Json], ...]
    thinking: str = ""
    text: str = ""
    pack: str | None = None
    calls: int = 0
    memory: Json = None


class Agent(Protocol):
    """Chooses; touches the outside through `visit` only."""

    async def choose(self, moment: Moment, visit: Visit) -> Chosen:
        """Raises Unusable where what it said is no action; anything else is a failed prediction, tried again."""
