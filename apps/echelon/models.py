"""`echelon models`: models that run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.terminal import put, put_json, put_table, say

if TYPE_CHECKING:
    from gateway import Settings
    from gateway.llm.local.registration import ServerAddress

name_argument = click.argument("name")


@click.group(
    cls=options.Group, epilog="\b\nExamples:\n  echelon models list\n  echelon models pull qwen2.5-coder-1.5b\n"
)
def models() -> None:
    """Models that run on this machine: list, pull, serve.

    `model: local/NAME` uses one; its server starts when it is first needed and ends when it has been idle.
    Any other model that litellm knows can be used, too: `model: openai/NAME`.
    """


@models.command("list", epilog="\b\nExamples:\n  echelon models list\n  echelon models list --json\n")
@options.as_json
@options.home
def list_models(settings: Settings, as_json: bool) -> None:
    """List the local models, and which are here."""
    from echelon.output.model import ModelRow
    from gateway.llm.local import files
    from gateway.llm.local.catalog import CATALOG, PREFIX
    from gateway.llm.local.launcher import running

    found = []
    for model in CATALOG.values():
        here = files.is_installed(model, settings.home)
        row = ModelRow(
            name=f"{PREFIX}{model.name}",
            bytes=model.size,
            licence=model.licence,
            installed=here,
            running=here and running(model.name, settings.home) is not None,
            description=model.description,
        )
        found.append(row)
    if as_json:
        put_json(found)
        return
    rows = []
    for row in found:
        state = "running" if row.running else "installed" if row.installed else "–"
        rows.append([row.name, f"{row.bytes / 1e6:,.0f} MB", row.licence, state, row.description])
    put_table(["model", "size", "licence", "state", "description"], rows)


@models.command(epilog="\b\nExamples:\n  echelon models pull qwen2.5-coder-1.5b\n")
@name_argument
@options.as_json
@options.home
def pull(settings: Settings, name: str, as_json: bool) -> None:
    """Download a model and verify it; interrupted, the next pull goes on where it was."""
    from echelon import pulling
    from echelon.output.model import ModelPulled
    from gateway.llm.local.catalog import PREFIX, find

    model = find(name)
    path = pulling.pull(model.name, settings.home)
    if as_json:
        put_json(ModelPulled(name=f"{PREFIX}{model.name}", path=str(path), bytes=model.size))
        return
    say(f"{path}\nuse it with: --model {PREFIX}{model.name}")


@models.command(epilog="\b\nExamples:\n  echelon models serve qwen2.5-coder-1.5b --port 8080\n")
@name_argument
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one unless told otherwise.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@options.home
def serve(settings: Settings, name: str, port: int, host: str) -> None:
    """Serve a model to OpenAI-compatible clients, until Ctrl-C."""
    from importlib.util import find_spec

    from gateway.errors import ModelUnavailable
    from gateway.llm.local import server
    from gateway.llm.local.catalog import PREFIX, find

    def ready(address: ServerAddress) -> None:
        put(f"OPENAI_BASE_URL=http://{address.host}:{address.port}/v1\nOPENAI_API_KEY={address.api_key}")
        say(f"serving {PREFIX}{model.name}; Ctrl-C ends it")

    model = find(name)
    if find_spec("xllamacpp") is None:
        raise ModelUnavailable("local models need xllamacpp", hint="pip install 'echelon-gateway[local]'")
    server.serve(model, settings.home, port=port, host=host, on_ready=ready)


@models.command(epilog="\b\nExamples:\n  echelon models remove smollm2-135m\n")
@name_argument
@options.as_json
@options.home
def remove(settings: Settings, name: str, as_json: bool) -> None:
    """Delete a model's file, and end its server."""
    from echelon.output.model import ModelRemoved
    from gateway.llm.local import files
    from gateway.llm.local.catalog import PREFIX, find
    from gateway.llm.local.launcher import stop_server

    model = find(name)
    stop_server(model.name, settings.home)
    freed = files.remove(model, settings.home)
    if as_json:
        put_json(ModelRemoved(name=f"{PREFIX}{model.name}", freed=freed))
        return
    say(f"{model.name}: {freed / 1e6:,.0f} MB freed" if freed else f"{model.name} was not there")
