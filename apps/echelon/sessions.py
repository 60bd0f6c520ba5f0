"""`echelon sessions`: turns that follow each other and know of each other."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.terminal import ago, interactive, one_line, put_json, put_table, say

if TYPE_CHECKING:
    from gateway import Settings

SHOWN = 80  # characters of a title in a list


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon sessions list\n  echelon sessions forget work\n")
def sessions() -> None:
    """Sessions: list them, give one a title, forget one.

    A session is made by the first turn in it: `echelon run --session NAME`, `echelon chat`, or a chat client.
    """


@sessions.command("list", epilog="\b\nExamples:\n  echelon sessions list\n  echelon sessions list --json\n")
@options.as_json
@options.home
def list_sessions(settings: Settings, as_json: bool) -> None:
    """List the sessions, the one that was used last first."""
    from echelon.output.session import SessionRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        found = gateway.sessions()
    if as_json:
        put_json([SessionRow(**vars(each)) for each in found])
        return
    put_table(
        ["session", "turns", "used", "last turn", "title"],
        [[each.name, str(each.turns), ago(each.updated), each.status, one_line(each.title, SHOWN)] for each in found],
    )


@sessions.command(epilog='\b\nExamples:\n  echelon sessions title work "The pager project"\n')
@click.argument("session", metavar="SESSION")
@click.argument("title", metavar="TITLE")
@options.as_json
@options.home
def title(settings: Settings, session: str, title: str, as_json: bool) -> None:
    """Call a session by a title, in lists; its name stays."""
    from echelon.output.session import SessionTitled
    from gateway import Gateway
    from gateway.errors import UsageError

    if not title.strip():
        raise UsageError("the title is empty")

    async def name() -> None:
        async with Gateway(settings) as gateway:
            await gateway.entitle_session(session, title.strip())

    asyncio.run(name())
    if as_json:
        put_json(SessionTitled(session=session, title=title.strip()))
    say(f"session {session} is called: {title.strip()}")


@sessions.command(epilog="\b\nExamples:\n  echelon sessions forget work\n  echelon sessions forget work --yes\n")
@click.argument("session", metavar="SESSION")
@click.option("--yes", "assume_yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.home
def forget(settings: Settings, session: str, assume_yes: bool, as_json: bool) -> None:
    """Erase a session: its turns, their documents and events.

    Memories, files and skills that its turns have left behind stay.
    """
    from echelon.output.session import SessionForgotten
    from gateway import Gateway
    from gateway.errors import RunNotFound, UsageError

    async def erase() -> int:
        async with Gateway(settings) as gateway:
            turns = len(gateway.turns(session, limit=-1))
            if not turns:
                raise RunNotFound(
                    f"there is no session {session!r}", hint="`echelon sessions list` shows what there is"
                )
            if not assume_yes:
                if not interactive():
                    raise UsageError(f"forgetting {_turns(turns)} needs a yes", hint="give --yes")
                click.confirm(f"Erase {_turns(turns)} of session {session} for good?", abort=True, err=True)
            return await gateway.forget_session(session)

    turns = asyncio.run(erase())
    if as_json:
        put_json(SessionForgotten(session=session, turns=turns))
    say(f"forgotten: {_turns(turns)} of session {session}")


def _turns(number: int) -> str:
    return f"{number} turn{'' if number == 1 else 's'}"
