"""What stands on the terminal: tables and texts on standard output, everything else on standard error."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.text import Text

TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they make a line read otherwise than it is
CONTROLS = {code: None for code in (*range(32), *range(127, 160), *TURNING) if chr(code) not in "\n\t"}

LAST = 24  # characters of a table's last column, which says most
LEAST = 8  # of one that has to be cut
GAP = 2  # spaces between columns


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


@contextmanager
def own_stdout() -> Iterator[None]:
    """Keeps standard output for what the command gives: what tools print meanwhile, or programs that they start, goes
    to standard error."""
    original = sys.stdout
    try:
        original.flush()
        kept = os.dup(1)
    except (OSError, AttributeError):  # it is closed
        yield
        return
    try:
        with suppress(OSError):  # no standard error
            os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        with suppress(OSError):
            original.flush()  # what was printed by who has kept the stream
        os.dup2(kept, 1)
        os.close(kept)


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


def put_table(headers: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()) -> None:
    """Columns, cut to the terminal's width; elsewhere nothing is cut.

    The last one has room for LAST characters: where there is none, the `spare` columns are left out, in this order,
    as far as needed, then the others are cut.
    """
    from rich.table import Table
    from rich.text import Text

    there = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold" if there else "")
    console = Console(markup=False) if there else Console(markup=False, width=10_000)
    cells = [[Text(harmless(cell)) for cell in row] for row in rows]
    shown = _fitting(headers, cells, spare, console.width)
    for at, width in shown.items():
        last = at == len(headers) - 1
        least, most = (width, None) if last else (None, width)
        wraps = last and there
        table.add_column(headers[at], no_wrap=not wraps, overflow="ellipsis", min_width=least, max_width=most)
    for row in cells:
        table.add_row(*(row[at] for at in shown))
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _fitting(
    headers: Sequence[str], cells: Sequence[Sequence[Text]], spare: Sequence[str], width: int
) -> dict[int, int]:
    """The columns that there is room for, with their widths; of the last one, the least that it needs."""
    widths = [max([len(header), *(row[at].cell_len for row in cells)]) for at, header in enumerate(headers)]
    widths[-1] = min(LAST, widths[-1])
    shown = dict(enumerate(widths))
    for name in spare:
        if _excess(shown, width) <= 0:
            break
        del shown[headers.index(name)]
    while len(shown) > 1 and (excess := _excess(shown, width)) > 0:
        widest = max([at for at in shown if at != len(headers) - 1], key=lambda at: shown[at])
        if shown[widest] <= LEAST:
            break
        shown[widest] = max(LEAST, shown[widest] - excess)
    return shown


def _excess(widths: Mapping[int, int], room: int) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1) - room


def ago(seconds_since_epoch: float) -> str:
    """Local time; the date only where it is not today."""
    then = time.localtime(seconds_since_epoch)
    today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M", then)


def duration(seconds: float) -> str:
    """In words: `40 s`, `3 min`, `1 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


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
