"""`echelon run`: one turn, from request to response."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.choosing import with_models
from echelon.driving import carry_out

if TYPE_CHECKING:
    from gateway import Settings


@click.command(
    epilog="""\b
Examples:
  echelon run "Remember that my deploy server is called heron"
  echelon run "Fix the failing test" --workspace ~/projects/pager
  echelon run "Research asyncio task groups and make a skill of it" --corpus /usr/share/doc/python3-doc/html
  echelon run "What is my deploy server called?" --json --no-input
  echelon run "Say hello" --model openai/NAME --api-base http://127.0.0.1:8000/v1

\b
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 a budget was reached, 5 no model,
6 waiting for an answer, 130 interrupted.
"""
)
@click.argument("request")
@click.option(
    "--session", metavar="S", default="default", show_default=True, help="Turns of a session know of each other."
)
@options.model
@options.corpus_option
@click.option("--task-type", metavar="T", help="Fix the task type: no model plans.  (See: echelon patterns list)")
@click.option("--yes", "assume_yes", is_flag=True, help="Approve what would be asked, and pull a missing model.")
@options.no_input
@options.as_json
def run(
    request: str,
    session: str,
    settings: Settings,
    corpus: Path | None,
    task_type: str | None,
    assume_yes: bool,
    no_input: bool,
    as_json: bool,
) -> int:
    """Carry out REQUEST, with live progress.

    The response goes to standard output; progress, usage and the path of the turn's context.md to standard error.
    Interrupted with Ctrl-C, the turn can be resumed.
    """
    settings = options.with_corpus(settings, corpus)
    settings = with_models(settings, assume_yes=assume_yes, no_input=no_input)
    return carry_out(
        settings,
        lambda gateway, tell: gateway.run(request, session=session, task_type=task_type, on_event=tell),
        as_json=as_json,
        no_input=no_input,
        assume_yes=assume_yes,
    )
