"""Going on with a run, whichever kind it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from echelon.driving import carry_out
from gateway.errors import UsageError

if TYPE_CHECKING:
    from gateway import Gateway, Settings, Turn
    from gateway.engine.store import RunRow
    from gateway.loop.session import Session
    from gateway.phone.task.news import OnPhoneEvent
    from gateway.phones import PhoneTask
    from gateway.stream import OnEvent


def go_on(
    settings: Settings,
    row: RunRow,
    answer: str | None,
    *,
    as_json: bool,
    no_input: bool,
    limits: Mapping[str, float],
) -> int:
    """Give the answer, if there is one, and work on the run to its end; the exit code. `limits` are raised."""
    if row.graph == "phone":
        return _task(settings, row, answer, as_json=as_json, no_input=no_input, limits=limits)
    if row.graph == "loop":
        if limits:
            raise UsageError(
                f"run {row.id} is a session, which has limits of its own",
                hint=f"raise them with: echelon loop extend {row.id} --max-iterations N",
            )
        return _session(settings, row, answer, as_json=as_json, no_input=no_input)

    async def act(gateway: Gateway, tell: OnEvent) -> Turn:
        if answer is not None:
            await gateway.runs.answer(row.id, answer)
        return await gateway.resume(row.id, on_event=tell, limits=limits)

    direct = bool(row.context.get("direct"))
    return carry_out(settings, act, as_json=as_json, no_input=no_input, direct=direct)


def _task(
    settings: Settings,
    row: RunRow,
    answer: str | None,
    *,
    as_json: bool,
    no_input: bool,
    limits: Mapping[str, float],
) -> int:
    from echelon.phone_driving import PhoneWork, importable

    options = row.context["options"]
    if options["simulated"] and row.status != "complete":
        raise UsageError(
            f"run {row.id} cannot be gone on with: its simulated phone ended with the command that began it",
            hint='begin again with one that stays: echelon simphone start, then mai-phone "…"',
        )

    async def act(gateway: Gateway, tell: OnPhoneEvent) -> PhoneTask:
        importable(options["agent"], Path(row.context["workspace"]))
        if answer is not None:
            await gateway.runs.answer(row.id, answer)
        return await gateway.phones.resume(row.id, on_event=tell, limits=limits)

    gif = "" if options["gif"] else None
    return PhoneWork(act, as_json=as_json, gif=gif).carry_out(settings, no_input=no_input)


def _session(settings: Settings, row: RunRow, answer: str | None, *, as_json: bool, no_input: bool) -> int:
    from echelon.loop_work import LoopWork

    async def act(gateway: Gateway, begun: Callable[[Session], None]) -> Session:
        if answer is not None:
            await gateway.runs.answer(row.id, answer)
        return await gateway.loops.resume(row.id, on_begin=begun)

    return LoopWork(act, as_json=as_json).carry_out(settings, no_input=no_input)
