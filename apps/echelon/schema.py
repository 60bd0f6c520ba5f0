"""`echelon schema`: the shapes of what commands print with `--json`."""

from __future__ import annotations

import click

from echelon import options
from echelon.terminal import put, put_json, say


@click.command(
    epilog="""\b
Examples:
  echelon schema
  echelon schema "turns list"
  echelon schema run > outcome.schema.json
  echelon schema --json
"""
)
@click.argument("words", metavar="[COMMAND]", nargs=-1)
@options.as_json
@options.verbose
def schema(words: tuple[str, ...], as_json: bool) -> None:
    """Print the JSON schema of what COMMAND prints with --json, such as `turns list`.

    Without COMMAND, list the commands that have --json; with --json, print the schemas of all of them by command.
    """
    import difflib
    import json

    from echelon.output.schemas import Schemas
    from echelon.output.shapes import BY_LINE, SHAPES, json_schema
    from gateway.errors import UsageError

    command = " ".join(" ".join(words).split()).removeprefix("echelon ")
    if command and command not in SHAPES:
        near = difflib.get_close_matches(command, SHAPES, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"no command {command!r} has --json.{meant}", hint="`echelon schema` lists those that have it")
    if as_json:
        put_json(Schemas(json_schema(command) if command else {each: json_schema(each) for each in SHAPES}))
    elif command:
        if command in BY_LINE:
            say("each line is such an object")
        put(json.dumps(json_schema(command), ensure_ascii=False, indent=2))
    else:
        put("\n".join(SHAPES))
