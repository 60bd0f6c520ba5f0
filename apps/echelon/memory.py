"""`echelon memory`: what is remembered, for people to look at and to erase."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.terminal import ago, interactive, one_line, put_json, put_table, say

if TYPE_CHECKING:
    from gateway import Settings

SHOWN = 100  # characters of a memory in a question


@click.group(cls=options.Group, epilog='\b\nExamples:\n  echelon memory list\n  echelon memory search "my PIN"\n')
def memory() -> None:
    """What is remembered: list it, search it, forget something.

    Things are remembered in turns: echelon run "Remember that my deploy server is called heron"
    """


@memory.command("list", epilog="\b\nExamples:\n  echelon memory list\n  echelon memory list --session work --json\n")
@options.session_option
@options.as_json
@options.home
def list_memories(settings: Settings, session: str | None, as_json: bool) -> None:
    """List what is remembered, the newest first."""
    _put(settings, None, session, as_json)


@memory.command(epilog='\b\nExamples:\n  echelon memory search "deploy server"\n')
@click.argument("query", metavar="QUERY")
@options.session_option
@options.as_json
@options.home
def search(settings: Settings, query: str, session: str | None, as_json: bool) -> None:
    """Search what is remembered for any of some words, the best first."""
    _put(settings, query, session, as_json)


@memory.command(epilog="\b\nExamples:\n  echelon memory forget 3f2a9c01d4e5b6a7\n  echelon memory forget port --yes\n")
@click.argument("key", metavar="KEY")
@click.option("--yes", "assume_yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.home
def forget(settings: Settings, key: str, assume_yes: bool, as_json: bool) -> None:
    """Forget what is remembered under KEY, for good: its text is erased from the record of the turns, too.

    What was said in other words stays there: `echelon sessions forget` erases whole sessions.
    """
    from echelon.output.memory import MemoryForgotten
    from gateway import Gateway
    from gateway.errors import UsageError

    async def erase() -> bool:
        async with Gateway(settings) as gateway:
            found = next((each for each in gateway.memories() if each.key == key), None)
            if found is None:
                raise UsageError(
                    f"nothing is remembered under the key {key!r}", hint="`echelon memory list` shows them"
                )
            if not assume_yes:
                if not interactive():
                    raise UsageError("forgetting needs a yes", hint="give --yes")
                click.confirm(f"Forget for good: {one_line(found.text, SHOWN)}?", abort=True, err=True)
            return await gateway.forget_memory(key)

    erased = asyncio.run(erase())
    if as_json:
        put_json(MemoryForgotten(key=key, erased=erased))
    say("forgotten" if erased else "forgotten; it is erased from the record when the turns under way have ended")


def _put(settings: Settings, query: str | None, session: str | None, as_json: bool) -> None:
    from echelon.output.memory import MemoryRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        found = gateway.memories(query, session=session)
    if as_json:
        put_json(
            [
                MemoryRow(
                    key=each.key,
                    text=each.text,
                    session=each.session,
                    turn=each.turn,
                    saved=each.saved_at,
                    updated_session=each.updated_session,
                    updated_turn=each.updated_turn,
                    updated=each.updated_at,
                )
                for each in found
            ]
        )
        return
    if not found:
        say("nothing is remembered" if query is None else "nothing is remembered about that")
        return
    put_table(
        ["key", "said", "in", "text"],
        [[each.key, ago(each.saved_at), f"{each.session} {each.turn}", " ".join(each.text.split())] for each in found],
    )
