"""What a session is about, and where it is: plain data, small enough to be saved after every node.

Times are seconds since the epoch, durations seconds. Paths of files are relative to the workspace, with `/`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gateway.engine.ports import Json

BUILTIN_CONDITIONS = ("all_tests_pass", "build_succeeds", "linting_clean", "security_scan_clean")
COMMAND = "command:"  # what the name of a condition, or of an agent, that is a command begins with
KEPT = 100  # iterations that the state has; what came before is in the event log, and in the session's folder

LimitName = Literal["iterations", "time_s", "tokens", "cost_usd"]


class Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def with_(self, **changes: Any) -> Any:
        """The same with some fields changed."""
        return self.model_copy(update=changes)


class Finding(Plain):
    """One thing that is wrong: a failing test, a lint finding, a build error. `where` is a test's id, or `path:line`;
    `message` may have several lines; `code` is the rule's name, where there is one."""

    where: str
    message: str
    code: str = ""


class ConditionResult(Plain):
    """How a condition was found. `summary` says it in a line; `problem` says why it could not be evaluated (a program
    that is missing, a timeout), in which case it is not met. `findings` are what is wrong, the first of them, of
    `total`. `report` is evidence for a reader, of a bounded length; `command` is what was run."""

    name: str
    met: bool
    summary: str
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    total: int = 0
    report: str = ""
    command: str = ""
    s: float = 0.0


class Evaluation(Plain):
    """All conditions after an iteration; iteration 0 is before the first."""

    iteration: int
    at: float
    results: tuple[ConditionResult, ...]

    @property
    def met(self) -> int:
        return sum(each.met for each in self.results)

    @property
    def holds(self) -> bool:
        """Whether the session has reached what it was begun for. Without conditions nothing is ever reached."""
        return bool(self.results) and all(each.met for each in self.results)

    def of(self, name: str) -> ConditionResult | None:
        return next((each for each in self.results if each.name == name), None)


class Changes(Plain):
    """What an iteration changed in the workspace. `tests` are those among them that judge it, `restored` the protected
    files that were put back; `unnamed` is how many more there are of each kind than a record names."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    unnamed: dict[str, int] = {}

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(sorted({*self.added, *self.changed, *self.removed}))

    def beyond(self, *kinds: str) -> int:
        """How many of these kinds are not named; of what was changed in any way where none is given."""
        return sum(self.unnamed.get(each, 0) for each in kinds or ("added", "changed", "removed"))


class IterationRecord(Plain):
    """An iteration that has ended. `outcome` is "done", "failed" (the agent crashed, hung, or had an error), "limited"
    (it used up what it was allowed) or "stopped" (a person ended the session meanwhile). `run_id` is its run."""

    number: int
    run_id: str
    outcome: Literal["done", "failed", "limited", "stopped"]
    summary: str
    began: float
    ended: float
    changes: Changes = Changes()
    used: dict[str, float] = {}


class CheckpointRecord(Plain):
    """A checkpoint that was made. `why` is "interval", "time" or "end". `commit` and `ref` are git's, where the
    workspace has a repository; `sha256` is that of its document; `notes` say what is not in it, and why."""

    number: int
    iteration: int
    at: float
    why: str
    sha256: str
    commit: str = ""
    ref: str = ""
    notes: tuple[str, ...] = ()
    s: float = 0.0


class Limits(Plain):
    """What a session may use up; None is no limit."""

    iterations: int = 50
    time_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None

    def value(self, name: LimitName) -> float | None:
        found: float | None = getattr(self, name)
        return found


class ConditionSetting(Plain):
    """How a condition is evaluated where the workspace is not to say it. `command` is a program with its arguments."""

    command: str | None = None
    timeout_s: float = 600.0


class LoopOptions(Plain):
    """How a session is run. `agent` is "turn", "phone", or `command:` with a program and its arguments; `agent_env` are
    names of environment variables that the command gets. Checkpoints are made every `checkpoint_every` iterations and,
    where it is set, every `checkpoint_s` seconds. After `patience` iterations in which nothing changed, or which all
    failed, the session ends. `protect` are files and folders that iterations may not change."""

    agent: str = "turn"
    agent_env: tuple[str, ...] = ()
    task_type: str | None = None
    conditions: dict[str, ConditionSetting] = {}
    checkpoint_every: int = 5
    checkpoint_s: float | None = None
    iteration_timeout_s: float = 1800.0
    patience: int = 3
    protect: tuple[str, ...] = ()
    notify: bool = False

    def with_(self, **changes: Any) -> LoopOptions:
        return self.model_copy(update=changes)


class LoopContext(Plain):
    """What does not change during a session. `name` is the agent's."""

    run_id: str
    task: str
    name: str
    workspace: str
    options: LoopOptions
    models: dict[str, str] = {}
    settings: dict[str, Json] = {}
    assume_yes: bool = False


class Fight(Plain):
    """A condition that was met and lost, `times`; `against` are those that came to be met when it was lost."""

    condition: str
    times: int
    against: tuple[str, ...] = ()


class Change(Plain):
    """What an operator changed while the session ran, in words."""

    at: float
    text: str


class Evidence(Plain):
    """A whole evaluation, with its reports, as an artifact: an `Evaluation` as JSON."""

    iteration: int
    sha256: str


class LoopState(Plain):
    """Where a session is. `iteration` counts those that have ended; `heard` is the last signal that was taken in.

    `evaluation` is the last one, without its reports; `evidence` has all of each. `ending` is why it is about to end:
    "completed", "no_progress", "user_cancelled", "failed", or `budget:` with a limit's name. `used` counts what the
    limits are about. `still` counts iterations in a row after which everything was as before, `failures` those in a row
    that failed. `checkpointed` is the iteration after which the interval of checkpoints begins. `warned` are the
    limits, as `name=value`, that were warned of; `troubles` what went wrong on the way.
    """

    exits: tuple[str, ...]
    limits: Limits
    iteration: int = 0
    evaluation: Evaluation | None = None
    iterations: tuple[IterationRecord, ...] = ()
    checkpoints: tuple[CheckpointRecord, ...] = ()
    used: dict[str, float] = {}
    fights: tuple[Fight, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    still: int = 0
    failures: int = 0
    warned: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    troubles: tuple[str, ...] = ()
    heard: int = 0
    paused: bool = False
    checkpointed: int = 0
    checkpointed_at: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    ending: str = ""
    error: str = ""
    hint: str = ""
