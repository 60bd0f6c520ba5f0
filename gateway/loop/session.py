"""An autonomous session as people see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import RunRow
from gateway.loop import folder_of
from gateway.loop.progress import BUDGET, COMPLETED
from gateway.loop.state import LoopContext, LoopState

EXECUTING, PAUSED, INTERRUPTED = "executing", "paused", "interrupted"
LIMIT_REACHED, FAILED, STOPPED = "iteration_limit_reached", "failed", "stopped"
ENDED = (LIMIT_REACHED, FAILED, STOPPED)  # and may go on all the same


@dataclass(frozen=True)
class Session:
    """An autonomous session, as it is now. `status` is executing, paused, waiting_for_user, interrupted (nobody works
    on it), completed, iteration_limit_reached, failed or stopped. `waiting` is set where it needs an answer; `error`
    says why it failed, and `hint` what can be done about that. Times in seconds since the epoch, 0 for none."""

    run_id: str
    agent: str
    task: str
    status: str
    stop_reason: str | None
    error: str
    hint: str
    workspace: Path
    folder: Path
    state: LoopState
    waiting: Waiting | None
    started: float
    ended: float

    @property
    def exits(self) -> tuple[str, ...]:
        return self.state.exits


def session_of(row: RunRow, state: RunState, *, working: str, home: Path, hint: str) -> Session:
    """The session that a run is. `working` is the run's status for people, and `hint` what whoever failed it said."""
    data = state.data
    assert isinstance(data, LoopState)
    context = LoopContext.model_validate(row.context)
    return Session(
        run_id=row.id,
        agent=context.name,
        task=context.task,
        status=_status(working, row, state),
        stop_reason=row.stop_reason,
        error=state.error or data.error,
        hint=data.hint if state.error is None else hint,
        workspace=Path(context.workspace),
        folder=folder_of(home, row.id),
        state=data,
        waiting=state.waiting if row.status == Status.WAITING else None,
        started=data.started or row.created,
        ended=data.ended,
    )


def shown_status(run_id: str, state: RunState) -> str:
    """The contract's word for how a session is, from its state alone: while somebody works on it, or afterwards."""
    data = state.data
    assert isinstance(data, LoopState)
    return _word(run_id, state.status.value, state.stop_reason, state, interrupted=not data.ending)


def _status(working: str, row: RunRow, state: RunState) -> str:
    # where the engine has written no end, its process has ended, or was
    return _word(row.id, working, row.stop_reason, state, interrupted=state.status is Status.RUNNING)


def _word(run_id: str, status: str, reason: str | None, state: RunState, *, interrupted: bool) -> str:
    if status == Status.WAITING:
        return PAUSED if _is_pause(state.waiting, run_id) else status
    if status == Status.STOPPED:
        if interrupted:
            return INTERRUPTED
        return LIMIT_REACHED if reason == f"{BUDGET}iterations" else STOPPED
    return {Status.RUNNING.value: EXECUTING, Status.COMPLETE.value: COMPLETED}.get(status, status)


def _is_pause(waiting: Waiting | None, run_id: str) -> bool:
    return waiting is not None and waiting.run_id == run_id and waiting.id.startswith("paused:")
