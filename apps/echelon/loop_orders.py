"""What an operator orders a session that any process works on: more of a limit, other conditions, a pause, an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from echelon import loop_options, options
from echelon.terminal import put, put_json, say

if TYPE_CHECKING:
    from gateway import Gateway, Settings
    from gateway.loop.session import Session

T = TypeVar("T")


@click.command(
    epilog="""\b
Examples:
  echelon loop extend last --max-iterations 200
  echelon loop extend last --max-time 7200
"""
)
@loop_options.identifier
@loop_options.extending
@options.as_json
@options.home
def extend(
    settings: Settings,
    run_id: str,
    max_iterations: int | None,
    max_time: float | None,
    max_tokens: int | None,
    max_cost: float | None,
    as_json: bool,
) -> None:
    """Raise the limits of a session, while it runs or afterwards. They are totals; the greater one counts."""
    from echelon.output.loop import LoopLimits
    from gateway.errors import UsageError

    given = {"iterations": max_iterations, "time_s": max_time, "tokens": max_tokens, "cost_usd": max_cost}
    if all(value is None for value in given.values()):
        raise UsageError("nothing to extend by", hint=f"echelon loop extend {run_id} --max-iterations 200")

    async def act(gateway: Gateway, session: Session) -> LoopLimits:
        limits = await gateway.loops.extend(session.run_id, **given)  # type: ignore[arg-type]
        return LoopLimits(session=session.run_id, **limits.model_dump())

    session, limits = _tell(settings, run_id, act)
    if as_json:
        put_json(limits)
        return
    names = {"iterations": "iterations", "time_s": "s", "tokens": "tokens", "cost_usd": "USD"}
    values = ((getattr(limits, name), unit) for name, unit in names.items())
    say(f"limits: {', '.join(f'{value:,g} {unit}' for value, unit in values if value is not None)}")
    if session.status not in ("executing", "paused", "waiting_for_user"):
        say(f"go on with: echelon loop resume {session.run_id}")


@click.command(epilog="\b\nExamples:\n  echelon loop pause last\n")
@loop_options.identifier
@options.as_json
@options.home
def pause(settings: Settings, run_id: str, as_json: bool) -> None:
    """Let a session rest after the current iteration."""

    async def act(gateway: Gateway, session: Session) -> Session:
        await gateway.loops.pause(session.run_id)
        return gateway.loops.session(session.run_id)

    _, session = _tell(settings, run_id, act)
    _ordered(session, "pause", "pauses after the current iteration", as_json=as_json)


@click.command(epilog="\b\nExamples:\n  echelon loop stop last\n")
@loop_options.identifier
@options.as_json
@options.home
def stop(settings: Settings, run_id: str, as_json: bool) -> None:
    """End a session, with a last checkpoint; what goes on is cut off."""

    async def act(gateway: Gateway, session: Session) -> Session:
        return await gateway.loops.stop(session.run_id)

    _, session = _tell(settings, run_id, act)
    _ordered(session, "stop", "ends within seconds, after a last checkpoint", as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  echelon loop exits last
  echelon loop exits last --add build_succeeds --remove linting_clean
"""
)
@loop_options.identifier
@click.option("--add", multiple=True, metavar="CONDITION", help="One more.  (Repeatable)")
@click.option("--remove", multiple=True, metavar="CONDITION", help="One less.  (Repeatable)")
@options.as_json
@options.home
def exits(settings: Settings, run_id: str, add: tuple[str, ...], remove: tuple[str, ...], as_json: bool) -> None:
    """Show the exit conditions of a session, or change them while it runs."""
    from echelon.output.loop import LoopExits

    async def act(gateway: Gateway, session: Session) -> LoopExits:
        changed = add or remove
        now = await gateway.loops.change_exits(session.run_id, add=add, remove=remove) if changed else session.exits
        return LoopExits(session=session.run_id, exits=now)

    _, found = _tell(settings, run_id, act)
    if as_json:
        put_json(found)
    else:
        put("\n".join(found.exits))


def _tell(settings: Settings, run_id: str, act: Callable[[Gateway, Session], Awaitable[T]]) -> tuple[Session, T]:
    """The session as it was before, and what `act` gives."""
    from gateway import Gateway

    async def acted() -> tuple[Session, T]:
        async with Gateway(settings) as gateway:
            session = gateway.loops.session(loop_options.meant(run_id))
            return session, await act(gateway, session)

    return asyncio.run(acted())


def _ordered(session: Session, ordered: Any, words: str, *, as_json: bool) -> None:
    from echelon.output.loop import LoopOrdered

    if as_json:
        put_json(LoopOrdered(session=session.run_id, ordered=ordered, status=session.status))
    elif session.status == "executing":
        say(f"session {session.run_id} {words}")
    else:
        say(f"session {session.run_id} is {session.status.replace('_', ' ')}")
