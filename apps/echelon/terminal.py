"""What stands on the terminal: tables and texts on standard output, everything else on standard error."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

if TYPE_CHECKING:
    from pydantic import BaseModel

CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def messages() -> Console:
    """Standard error, as it is now."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def interactive() -> bool:
    """Whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def harmless(text: str) -> str:
    """Text that a terminal only shows: what models write and tools return is data, also here."""
    return text.translate(CONTROLS)


def say(text: str = "") -> None:
    """A line for the person, on standard error."""
    click.echo(harmless(text), err=True)


def put(text: str) -> None:
    """The result, on standard output: unchanged where it goes to a program."""
    click.echo(harmless(text) if sys.stdout.isatty() else text)


def put_json(value: BaseModel | Sequence[BaseModel]) -> None:
    """The result for a program: an object or a list of them, on one line; the shapes are in `echelon.output`."""
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        data: Any = value.model_dump(by_alias=True)
    else:
        data = [each.model_dump(by_alias=True) for each in value]
    click.echo(json.dumps(data, ensure_ascii=False))


def put_markdown(text: str) -> None:
    """A document with front matter: rendered on a terminal, as it stands elsewhere."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    front, _, rest = text.removeprefix("---\n").partition("\n---\n")  # Markdown would make a heading of it
    Console().print(Markdown(harmless(f"```yaml\n{front}\n```\n{rest}")))


def put_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns, cut to the terminal's width; elsewhere nothing is cut."""
    from rich.table import Table
    from rich.text import Text

    there = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold" if there else "")
    for number, header in enumerate(headers):
        table.add_column(header, no_wrap=number < len(headers) - 1 or not there, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(harmless(cell)) for cell in row))
    console = Console(markup=False) if there else Console(markup=False, width=10_000)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def ago(seconds_since_epoch: float) -> str:
    """Local time; the date only where it is not today."""
    then = time.localtime(seconds_since_epoch)
    today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M", then)


def one_line(text: str, longest: int) -> str:
    """The text on one line, cut where it is longer."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


async def read_line(deadline: float | None = None) -> str | None:
    """A line from standard input, None at its end; the event loop goes on meanwhile.

    `deadline` in seconds since the epoch: TimeoutError once it has passed.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        async with asyncio.timeout(None if deadline is None else max(0.0, deadline - time.time())):
            await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    line = sys.stdin.readline()
    return line.strip() if line else None
