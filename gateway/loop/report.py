"""A session's progress as plain data: what the terminal shows, and what any other view can."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.engine.ports import Artifacts
from gateway.engine.state import Waiting
from gateway.engine.store import Store
from gateway.loop import activity
from gateway.loop.activity import Activity, News
from gateway.loop.limits import UNITS, in_force
from gateway.loop.progress import fighting
from gateway.loop.session import EXECUTING, Session
from gateway.loop.state import (
    CheckpointRecord,
    Evaluation,
    Fight,
    Finding,
    LimitName,
    LoopState,
    Plain,
)

FINDINGS = 5  # of each condition


class ConditionProgress(Plain):
    """A condition as it was found last: `met` is None where it was not evaluated yet; `evaluating`: it is just being
    evaluated. `problem` says why it could not be. `findings` are the first of `total`."""

    name: str
    met: bool | None
    evaluating: bool
    summary: str
    problem: str
    findings: tuple[Finding, ...]
    total: int


class LimitProgress(Plain):
    """A limit that is in force, in its own unit: iterations, seconds, tokens, US dollars."""

    name: LimitName
    used: float
    limit: float
    remaining: float


class ProgressReport(Plain):
    """Where a session is. `iteration` counts those that have ended, `percentage` is their share of `max_iterations`, in
    whole percent; `met` conditions of `of` are met, as of `evaluated`, the iteration after which they were evaluated
    (None: not yet). `activity` is in the order of time. `question` is what it waits for: answered through the session,
    also where a run below it asked. `asked` are orders that it has not heard yet, `doing` says what goes on now, since
    `doing_since`. Times are seconds since the epoch; None has not come yet."""

    session: str
    agent: str
    task: str
    workspace: str
    folder: str
    works_with: str
    status: str
    stop_reason: str | None
    iteration: int
    max_iterations: int
    percentage: int
    conditions: tuple[ConditionProgress, ...]
    met: int
    of: int
    evaluated: int | None
    limits: tuple[LimitProgress, ...]
    activity: tuple[Activity, ...]
    checkpoints: tuple[CheckpointRecord, ...]
    warnings: tuple[str, ...]
    fights: tuple[Fight, ...]
    question: Waiting | None
    asked: tuple[str, ...]
    doing: str
    doing_since: float | None
    started: float | None
    ended: float | None
    error: str
    hint: str


def report(store: Store, artifacts: Artifacts, session: Session, *, now: float) -> ProgressReport:
    """The report on a session, which may be worked on anywhere. `now` is what the time that it may use is counted to
    while it executes. Raises StoreError."""
    logs = activity.read(store, session.run_id, session.state)
    works_with = store.run(session.run_id).context["options"]["agent"]
    return composed(session, activity.news(logs, session.state, artifacts), works_with=works_with, now=now)


def composed(session: Session, news: News, *, works_with: str, now: float) -> ProgressReport:
    """The report, from plain data."""
    data = session.state
    executing = session.status == EXECUTING
    conditions = tuple(_conditions(data, evaluating=executing and news.evaluating))
    return ProgressReport(
        session=session.run_id,
        agent=session.agent,
        task=session.task,
        workspace=str(session.workspace),
        folder=str(session.folder),
        works_with=works_with,
        status=session.status,
        stop_reason=session.stop_reason,
        iteration=data.iteration,
        max_iterations=data.limits.iterations,
        percentage=percentage(data.iteration, data.limits.iterations),
        conditions=conditions,
        met=sum(each.met is True for each in conditions),
        of=len(conditions),
        evaluated=data.evaluation.iteration if data.evaluation else None,
        limits=tuple(_limits(data, now - news.at if executing and news.at else 0.0)),
        activity=news.activity,
        checkpoints=data.checkpoints,
        warnings=tuple(_warnings(data)),
        fights=tuple(fighting(data)),
        question=session.waiting,
        asked=tuple(each for each in news.asked if (session.status, each) != ("paused", "pause")),  # it does rest
        doing=news.doing if executing else "",
        doing_since=news.since if executing else None,
        started=session.started or None,
        ended=session.ended or None,
        error=session.error,
        hint=session.hint,
    )


def percentage(done: int, limit: int) -> int:
    """How much of the limit is used up, 0 to 100; 100 only where nothing remains."""
    if done >= limit:
        return 100
    return max(0, min(99, 100 * done // limit))


def _conditions(state: LoopState, *, evaluating: bool) -> Iterator[ConditionProgress]:
    evaluation = state.evaluation or Evaluation(iteration=0, at=0.0, results=())
    for name in state.exits:
        found = evaluation.of(name)
        yield ConditionProgress(
            name=name,
            met=found.met if found else None,
            evaluating=evaluating,
            summary=found.summary if found else "",
            problem=found.problem if found else "",
            findings=found.findings[:FINDINGS] if found else (),
            total=found.total if found else 0,
        )


def _limits(data: LoopState, since: float) -> Iterator[LimitProgress]:
    """Those in force; `since` are seconds that no event has counted yet."""
    for each in in_force(data):
        used = min(each.limit, each.used + max(0.0, since)) if each.name == "time_s" else each.used
        yield LimitProgress(name=each.name, used=used, limit=each.limit, remaining=max(0.0, each.limit - used))


def _warnings(data: LoopState) -> Iterator[str]:
    near = {each.key for each in in_force(data) if each.remaining}
    for each in (each for each in data.warned if each in near):
        name, _, value = each.partition("=")
        yield f"80 % of its limit of {value} {UNITS[name]} were reached"
    for record in data.iterations:
        if record.changes.tests:
            yield f"iteration {record.number} changed what judges it: " + activity.some(
                record.changes.tests, record.changes.beyond("tests")
            )
        if record.changes.restored:
            yield f"iteration {record.number} changed protected files, which were put back: " + activity.some(
                record.changes.restored, record.changes.beyond("restored")
            )
    yield from data.troubles
