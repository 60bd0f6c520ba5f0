"""The job as an Echelon turn, by a pattern of its own: everything that a turn does is on."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from itertools import count
from pathlib import Path

from pydantic import BaseModel

from bench import job
from bench.worker import serve
from gateway import Gateway, Settings
from gateway.engine.ports import Effect
from gateway.tools.registry import Registry, ToolContext, ToolResult, tool

MODEL = "hosted_vllm/stub"

PATTERN = """---
task_type: note_page
description: read one of the pages and keep a note of what it says
max_steps: 5
examples: [Note what the page about stoves says]
---
Find the page, read it, and keep a note.

1. CALL page_list
2. CALL page_read — the page that the goals name
3. CALL note_keep — what the page says about the goals
"""


class Nothing(BaseModel):
    pass


class Name(BaseModel):
    name: str


class Text(BaseModel):
    text: str


@tool("page_list", effect=Effect.READ)
async def page_list(args: Nothing, ctx: ToolContext) -> ToolResult:
    """List the names of all pages."""
    return ToolResult(text=job.page_list())


@tool("page_read", effect=Effect.READ)
async def page_read(args: Name, ctx: ToolContext) -> ToolResult:
    """Read a page by its name."""
    return ToolResult(text=job.page_read(args.name))


@tool("note_keep", effect=Effect.IDEMPOTENT)
async def note_keep(args: Text, ctx: ToolContext) -> ToolResult:
    """Keep a note of one or two sentences."""
    return ToolResult(text=job.note_keep(args.text))


def gateway(folder: Path, base: str) -> Gateway:
    """A gateway with a new home and workspace in `folder`, for the model at `base`."""
    patterns = folder / "work" / ".echelon" / "prompts" / "patterns"
    patterns.mkdir(parents=True)
    (patterns / "note_page.md").write_text(PATTERN)
    given = {"model": MODEL, "api_base": base, "api_key": "none", "workspace": str(folder / "work")}
    given |= {"validate": False}  # the others do not judge their answers either
    settings = Settings.load(given, cwd=folder / "work", environ={"ECHELON_HOME": str(folder / "home")})
    return Gateway(settings, registry=lambda: Registry([page_list, page_read, note_keep]))


async def turn(opened: Gateway, session: str) -> None:
    """One turn; raises where it did not do the whole job."""
    done = await opened.run(job.REQUEST, session=session)
    if done.response != job.ANSWER or done.usage["model_calls"] != 4:
        raise RuntimeError(f"the turn was not carried out: {done.error or done.context.read_text()}")


async def main(base: str) -> None:
    sessions = count(1)
    with tempfile.TemporaryDirectory() as name:
        async with gateway(Path(name), base) as opened:
            await serve(lambda: turn(opened, f"s{next(sessions)}"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
