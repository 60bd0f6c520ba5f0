"""The single source of truth about where a run is: small enough to be saved after every node."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

import pydantic_core
from pydantic import BaseModel

from gateway.errors import UsageError


def to_json(value: Any) -> str:
    """For what is written at every step: three times as fast as `json.dumps`."""
    try:
        return pydantic_core.to_json(value).decode()
    except ValueError:  # half a surrogate pair
        return json.dumps(value)


class Status(StrEnum):
    RUNNING = "running"
    WAITING = "waiting_for_user"
    COMPLETE = "complete"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Waiting:
    """A question to a person.

    `run_id` is the run that asked: this one, or a child of it. `deadline` in seconds since the epoch.
    """

    id: str
    run_id: str
    question: str
    options: tuple[str, ...] = ()
    deadline: float | None = None
    on_timeout: str | None = None

    def chosen(self, text: str) -> str:
        """The option that an answer means: itself in any case, or by its beginning. Raises UsageError."""
        said = text.strip().casefold()
        exact = [option for option in self.options if option.casefold() == said]
        meant = exact or [option for option in self.options if said and option.casefold().startswith(said)]
        if len(meant) != 1:
            raise UsageError(f"{text!r} is not one of the answers: {', '.join(self.options)}")
        return meant[0]


@dataclass(frozen=True)
class RunState:
    """What the engine keeps (position, counters, status) and what the graph keeps (`data`)."""

    node: str | None
    data: BaseModel
    visit: int = 1
    attempt: int = 1
    status: Status = Status.RUNNING
    stop_reason: str | None = None
    error: str | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    waiting: Waiting | None = None
    visit_seq: int = 0
    """The sequence number of the last event before this visit began: the visit's calls come after it."""

    def reopened(self) -> RunState:
        """Goes on in the same visit, where nothing is done again; after a failure, with one more attempt."""
        if self.status in (Status.FAILED, Status.STOPPED):
            return replace(self, status=Status.RUNNING, stop_reason=None, error=None, attempt=self.attempt + 1)
        return replace(self, status=Status.RUNNING, waiting=None)

    def but(self, **changes: Any) -> RunState:
        """This state with some fields changed: `dataclasses.replace` at a tenth of its cost, paid at every step."""
        changed = object.__new__(RunState)
        changed.__dict__.update(self.__dict__, **changes)
        return changed

    def dump(self, data: str | None = None) -> str:
        """As JSON; `data` is the graph's part where it has been dumped already."""
        engine = {name: value for name, value in self.__dict__.items() if name not in ("data", "waiting")}
        engine["waiting"] = asdict(self.waiting) if self.waiting else None
        return f'{{"engine":{to_json(engine)},"data":{data or self.data.model_dump_json()}}}'

    @classmethod
    def load(cls, text: str, model: type[BaseModel]) -> RunState:
        saved: dict[str, Any] = json.loads(text)
        engine = saved["engine"]
        waiting = engine.pop("waiting")
        if waiting is not None:
            waiting = Waiting(**{**waiting, "options": tuple(waiting["options"])})
        status = Status(engine.pop("status"))
        return cls(data=model.model_validate(saved["data"]), waiting=waiting, status=status, **engine)


def digest(data: str) -> str:
    """Changes with the graph's part of the state, given as JSON; 16 hex digits."""
    return hashlib.sha256(data.encode()).hexdigest()[:16]
