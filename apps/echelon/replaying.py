"""Replaying a run and those below it, and what that found."""

from __future__ import annotations

from echelon.output.run import ReplayOutcome
from gateway import Gateway
from gateway.engine.runs import Replayed
from gateway.errors import ReplayMismatch


async def replayed(gateway: Gateway, run_id: str) -> ReplayOutcome:
    """Run it again from its log alone, and compare."""
    try:
        every = _every(await gateway.replay(run_id))
    except ReplayMismatch as error:
        return ReplayOutcome(
            run=run_id,
            identical=False,
            finished=None,
            decisions=None,
            files=None,
            differing=(),
            event=error.seq,
            problem=str(error),
        )
    differing = tuple(str(path) for each in every for path in each.differing)
    return ReplayOutcome(
        run=run_id,
        identical=not differing,
        finished=all(each.finished for each in every),
        decisions=sum(each.decisions for each in every),
        files=sum(_rendered(gateway, each.run_id) for each in every),
        differing=differing,
        event=None,
        problem=None,
    )


def _every(whole: Replayed) -> list[Replayed]:
    """A replayed run and those below it."""
    return [whole, *(each for child in whole.children for each in _every(child))]


def _rendered(gateway: Gateway, run_id: str) -> int:
    """How many files a replay renders and compares: none while the run goes on."""
    row = gateway.runs.store.run(run_id)
    kind = gateway.runs.types[row.graph]
    if kind.project is None or row.status == "running":
        return 0
    context = kind.context.model_validate(row.context)
    return len(kind.project(row, context, gateway.state(row), gateway.runs.artifacts).texts)
