"""`echelon turns`: what was asked, and what came of it."""

from __future__ import annotations

import difflib
import json
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.terminal import ago, one_line, put, put_json, put_markdown, put_table

if TYPE_CHECKING:
    from echelon.output.turn import TurnDocument
    from gateway import Settings, Turn

SHOWN = 120  # characters of a request in a list

# What differs between two runs of the same thing: who they are, when they were, what they took.
IDENTITY = re.compile(r"(turn|session|run|usage|started): ")
TITLE = re.compile(r"# Turn \d+")
TOOK = re.compile(r"^(### \d+\. .+ · (?:ok|failed)) · [0-9.e+-]+ s")


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon turns list\n  echelon turns show last\n")
def turns() -> None:
    """Turns: list them, show one, compare two."""


@turns.command(
    "list",
    epilog="""\b
Examples:
  echelon turns list
  echelon turns list --session work --limit 5
  echelon turns list --json
""",
)
@options.session_option
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest first.")
@options.as_json
@options.home
def list_turns(settings: Settings, session: str | None, limit: int, as_json: bool) -> None:
    """List the newest turns."""
    from echelon.output.turn import TurnRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        rows = [
            TurnRow(
                session=str(row.session),
                turn=int(row.ordinal or 0),
                run=row.id,
                status=gateway.runs.status(row),
                stop_reason=row.stop_reason,
                created=row.created,
                request=row.title,
            )
            for row in gateway.turns(session, limit)
        ]
    if as_json:
        put_json(rows)
        return
    put_table(
        ["session", "turn", "when", "status", "request"],
        [[row.session, str(row.turn), ago(row.created), row.status, one_line(row.request, SHOWN)] for row in rows],
    )


@turns.command(
    epilog="""\b
Examples:
  echelon turns show
  echelon turns show 3 --session work
  echelon turns show last --raw
  echelon turns show last --pack 2
  echelon turns show last --result 1
  echelon turns show last --json
"""
)
@click.argument("number", metavar="[N|last]", default="last")
@options.session_option
@click.option("--pack", metavar="K", type=click.IntRange(min=1), help="The exact prompt of its K-th model call.")
@click.option("--result", metavar="K", type=click.IntRange(min=1), help="The whole result of its K-th tool call.")
@click.option("--raw", is_flag=True, help="The file as it stands, also on a terminal.")
@options.as_json
@options.home
def show(
    settings: Settings,
    number: str,
    session: str | None,
    pack: int | None,
    result: int | None,
    raw: bool,
    as_json: bool,
) -> None:
    """Show a turn's context.md, the last one's unless told otherwise."""
    turn = _turn(settings, number, session)
    if pack is not None:
        path = _numbered(turn, "packs", pack)
    elif result is not None:
        path = _numbered(turn, "results", result)
    else:
        path = turn.context
    text = _read(path)
    if as_json:
        put_json(_document(settings, turn, path, text))
    elif pack is not None:
        put(text.rstrip("\n"))
    elif result is not None:
        put(text if raw else _readable(text))
    elif raw:
        put(text.rstrip("\n"))
    else:
        put_markdown(text)


@turns.command(
    epilog="""\b
Examples:
  echelon turns diff 3 4
  echelon turns diff 1 2 --session work
  echelon turns diff 3 4 --json
"""
)
@click.argument("first", metavar="N")
@click.argument("second", metavar="M")
@options.session_option
@options.as_json
@options.home
def diff(settings: Settings, first: str, second: str, session: str | None, as_json: bool) -> None:
    """Compare two turns of a session, usage and times left out."""
    from echelon.output.turn import TurnDiff

    old, new = _turn(settings, first, session), _turn(settings, second, session)
    was, now = (f"{turn.session}/{turn.number}" for turn in (old, new))
    before, after = (_comparable(_read(turn.context)) for turn in (old, new))
    lines = list(difflib.unified_diff(before, after, was, now, lineterm=""))
    if as_json:
        put_json(
            TurnDiff(session=new.session, first=old.number, second=new.number, identical=not lines, lines=tuple(lines))
        )
        return
    put("\n".join(lines) if lines else f"identical: {was} and {now}, usage and times left out")


def _turn(settings: Settings, number: str, session: str | None) -> Turn:
    from gateway import Gateway
    from gateway.errors import UsageError

    if number != "last" and not number.isdecimal():
        raise UsageError(f"{number!r} is not a turn's number", hint="give a number, or `last`")
    with closing(Gateway(settings)) as gateway:
        return gateway.turn(None if number == "last" else int(number), session)


def _document(settings: Settings, turn: Turn, path: Path, text: str) -> TurnDocument:
    """The turn with the text of one of its files."""
    from echelon.output.turn import TurnDocument
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        status = gateway.runs.status(gateway.runs.store.run(turn.run_id))
    packs, results = (tuple(each.name for each in _beside(turn, kind)) for kind in ("packs", "results"))
    return TurnDocument(
        turn=turn.number,
        session=turn.session,
        run=turn.run_id,
        status=status,
        context=str(turn.context),
        file=str(path),
        document=text,
        packs=packs,
        results=results,
    )


def _beside(turn: Turn, kind: str) -> list[Path]:
    """The numbered files of that kind beside the context.md, in order."""
    return sorted((turn.context.parent / kind).glob("[0-9]*"))


def _read(path: Path) -> str:
    from gateway.errors import StoreError

    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error


def _numbered(turn: Turn, kind: str, number: int) -> Path:
    """The file of that number beside the context.md."""
    from gateway.errors import UsageError

    there = _beside(turn, kind)
    for path in there:
        if int(path.name.split("-")[0]) == number:
            return path
    what = kind.removesuffix("s")
    have = f"it has {len(there)}: {', '.join(path.stem for path in there)}" if there else "it has none"
    raise UsageError(f"turn {turn.number} of session {turn.session} has no {what} {number}", hint=have)


def _comparable(text: str) -> list[str]:
    """The document's lines, without what differs between two runs of the same thing."""
    front, rest = _parts(text)
    kept = [line for line in front.splitlines() if not IDENTITY.match(line)]
    return kept + [TOOK.sub(r"\1", line) for line in rest.splitlines() if not TITLE.fullmatch(line)]


def _readable(text: str) -> str:
    """A tool's result: the call, what it said, and what code gets of it."""
    result = json.loads(text)
    outcome = "ok" if result["ok"] else "failed"
    call = f"{result['tool']} {json.dumps(result['args'], ensure_ascii=False)} · {outcome}"
    data = json.dumps(result["data"], ensure_ascii=False, indent=2)
    return f"{call}\n\n{result['text']}\n\ndata: {data}"


def _parts(text: str) -> tuple[str, str]:
    """Front matter, and the document below it."""
    front, _, rest = text.removeprefix("---\n").partition("\n---\n")
    return front, rest
