"""`echelon serve`: the chat API, until it is ended."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.choosing import with_models
from echelon.terminal import say

if TYPE_CHECKING:
    from gateway import Settings


@click.command(
    epilog="""\b
Examples:
  echelon serve
  echelon serve --workspace ~/projects/pager --port 8701
  ECHELON_SERVE__TOKENS='{"ada": "a long random text"}' echelon serve --host 0.0.0.0

\b
Clients: base URL http://127.0.0.1:8700/v1, model `echelon`, or `echelon/TYPE` to fix the task type.
Exit codes: 0 ended by SIGTERM, 2 wrong usage or configuration, 5 no model, 130 ended by Ctrl-C.
"""
)
@click.option("--host", metavar="H", help="The address to listen on; others than this machine need a token.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="P", help="0 takes any free one.  [default: 8700]")
@options.model
@options.corpus_option
@click.option("--yes", "assume_yes", is_flag=True, help="Pull a missing model; nothing else is approved by it.")
def serve(host: str | None, port: int | None, settings: Settings, corpus: Path | None, assume_yes: bool) -> int:
    """Serve an OpenAI-compatible chat API: each request is a turn, its progress the reasoning.

    Ended with Ctrl-C or SIGTERM, the turns that are under way can be resumed: by the same request, too.
    """
    changed = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings.model_copy(update={"serve": settings.serve.model_copy(update=changed)})
    settings = options.with_corpus(settings, corpus)
    settings = with_models(settings, assume_yes=assume_yes, no_input=False)
    return asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> int:
    from echelon.server import listening

    code = await listening.serve(settings, say, _ready)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # what threads still compute is not waited for: their turns have been left already


def _ready(base: str, names: list[str]) -> None:
    token = ' -H "Authorization: Bearer $TOKEN"' if names else ""
    body = '{"model": "echelon", "messages": [{"role": "user", "content": "What can you do?"}]}'
    say(f"serving {base} to {', '.join(names) if names else 'every program on this machine'}; Ctrl-C ends it")
    say(f"try: curl {base}/chat/completions{token} -H 'Content-Type: application/json' -d '{body}'")
