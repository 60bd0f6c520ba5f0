"""`echelon tools`: what there is to carry out requests with."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.arguments import limits, plain
from echelon.terminal import put, put_json, put_table, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from echelon.output.tool import PolicyRule, Rule
    from gateway import Settings
    from gateway.tools.registry import Registry, Tool


@click.group(
    cls=options.Group,
    epilog="\b\nExamples:\n  echelon tools list\n  echelon tools show file.edit\n  echelon tools call file.list\n",
)
def tools() -> None:
    """Tools: list them, show one with its arguments, call one."""


@tools.command(
    "list", epilog="\b\nExamples:\n  echelon tools list\n  echelon tools list --json\n  echelon tools list --markdown\n"
)
@click.option("--markdown", is_flag=True, help="As a table for a document, with what each tool declares.")
@options.as_json
@options.workspace
def list_tools(settings: Settings, as_json: bool, markdown: bool) -> None:
    """List the tools, what they do to the world, and whether the configuration denies them or asks first."""
    from echelon.output.tool import ToolRow

    if markdown:
        put(table(_tools(settings)))
        return

    found = [
        ToolRow(name=tool.name, effect=_effect(tool), rule=_rule(settings, tool), description=tool.description)
        for tool in _tools(settings)
    ]
    if as_json:
        put_json(found)
        return
    rows = [[tool.name, tool.effect, tool.rule, tool.description] for tool in found]
    put_table(["tool", "effect", "rule", "description"], rows, spare=("effect", "rule"))


@tools.command(epilog="\b\nExamples:\n  echelon tools show file.edit\n  echelon tools show memory.save --json\n")
@click.argument("name", metavar="NAME")
@options.as_json
@options.workspace
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show a tool: what it does, its effect, what the configuration says about its calls, its arguments."""
    from echelon.output.tool import ToolShown

    tool = _find(settings, name)
    shown = ToolShown(
        name=tool.name,
        description=tool.description,
        effect=_effect(tool),
        rule=_rule(settings, tool),
        deadline_s=tool.deadline_s,
        can_be_undone=tool.undo is not None,
        can_be_reconciled=tool.reconcile is not None,
        policy=tuple(_policy(settings, name)),
        schema=tool.schema(),
    )
    if as_json:
        put_json(shown)
        return
    properties = shown.arguments.get("properties", {})
    required = set(shown.arguments.get("required", ()))
    facts = shown.model_dump(exclude={"arguments", "policy"})
    lines = [f"{key.replace('_', ' '):<18} {plain(value)}" for key, value in facts.items()]
    for rule in shown.policy:
        for kind in ("deny", "allow", "ask"):
            lines += [f"{'policy':<18} {kind} {each} ({rule.tools})" for each in getattr(rule, kind)]
    for key, each in properties.items():
        optional = "" if key in required else " (optional)"
        said = "; ".join(filter(None, (each.get("description", ""), *limits(each, shown.arguments))))
        lines.append(f"{'argument':<18} {key}{optional}: {said}")
    put("\n".join(lines))


@tools.command(
    epilog="""\b
Examples:
  echelon tools call file.list '{"glob": "*.py"}'
  echelon tools call memory.search '{"query": "deploy server"}' --json
  echo '{"text": "the boiler was repaired in May"}' | echelon tools call memory.save -
"""
)
@click.argument("name", metavar="NAME")
@click.argument("arguments", metavar="JSON", default="{}")
@click.option(
    "--session", metavar="S", default="tools", show_default=True, help="The session that the call belongs to."
)
@options.corpus_option
@click.option("--yes", "assume_yes", is_flag=True, help="Approve what would be asked.")
@options.no_input
@options.as_json
@options.model
def call(
    settings: Settings,
    name: str,
    arguments: str,
    session: str,
    corpus: Path | None,
    assume_yes: bool,
    no_input: bool,
    as_json: bool,
) -> int:
    """Call a tool with the arguments JSON, `-` for those on standard input.

    It is a turn of its own: journaled, asked about where the configuration says so, and shown by `echelon turns show`.

    Exit code 1 where it did not reach its purpose: with an error on standard error where something went wrong, with
    nothing but the tool's text where it found nothing, or what it ran ended so.
    """
    from echelon.driving import carry_out
    from gateway.errors import UsageError

    text = click.get_text_stream("stdin").read() if arguments == "-" else arguments
    try:
        given = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {error}", hint=f"echelon tools show {name}") from None
    if not isinstance(given, dict):
        raise UsageError("the arguments are not a JSON object", hint=f"echelon tools show {name}")
    return carry_out(
        options.with_corpus(settings, corpus),
        lambda gateway, tell: gateway.call_tool(name, given, session=session, on_event=tell),
        as_json=as_json,
        no_input=no_input,
        assume_yes=assume_yes,
        direct=True,
    )


def table(found: Iterable[Tool]) -> str:
    """What tools declare, as a Markdown table; `architecture/tools.md` has it."""
    rows = [
        "| tool | effect | touches | deadline | asks | reconciled | undone | what it does |",
        "|---|---|---|--:|---|---|---|---|",
    ]
    for tool in found:
        asks = "yes" if tool.ask else "some" if tool.asks is not None else ""
        deadline = f"{tool.deadline_s:g} s" if tool.child is None else ""
        declared = (asks, *("yes" if each is not None else "" for each in (tool.reconcile, tool.undo)))
        cells = (f"`{tool.name}`", _effect(tool), ", ".join(tool.touches), deadline, *declared)
        rows.append(f"| {' | '.join(cells)} | {tool.description.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def _tools(settings: Settings) -> list[Tool]:
    return sorted(_registry(settings), key=lambda tool: tool.name)


def _registry(settings: Settings) -> Registry:
    """Those of MCP servers, too; where one cannot be used, that is said."""
    from gateway import Gateway

    async def ask() -> Registry:
        async with Gateway(settings) as gateway:
            registry, warnings = await gateway.toolbox.all()
            _warn(warnings)
            return registry

    return asyncio.run(ask())


def _find(settings: Settings, name: str) -> Tool:
    """Raises UsageError."""
    from gateway import Gateway

    async def ask() -> Tool:
        async with Gateway(settings) as gateway:
            registry, warnings = await gateway.toolbox.all(name)
            _warn(warnings)
            return gateway.toolbox.find(registry, name)

    return asyncio.run(ask())


def _warn(warnings: Iterable[str]) -> None:
    for each in warnings:
        say(f"warning: {each}")


def _effect(tool: Tool) -> str:
    from gateway.engine.ports import Effect

    return tool.effect.value if isinstance(tool.effect, Effect) else "by its arguments"


def _rule(settings: Settings, tool: Tool) -> Rule:
    """What the configuration says about its use."""
    from gateway.tools.policy import Policy, Verdict

    policy = Policy(settings.public()["tools"])
    said: dict[Verdict, Rule] = {Verdict.ALLOW: "free", Verdict.ASK: "asks first", Verdict.DENY: "denied"}
    general = policy.in_general(tool)
    return "by its arguments" if policy.by_arguments(tool.name) and general is not Verdict.DENY else said[general]


def _policy(settings: Settings, name: str) -> Iterator[PolicyRule]:
    """The entries that speak of the tool."""
    from fnmatch import fnmatchcase

    from echelon.output.tool import PolicyRule

    for glob, rules in settings.tools.policy.items():
        if fnmatchcase(name, glob):
            yield PolicyRule(tools=glob, deny=tuple(rules.deny), allow=tuple(rules.allow), ask=tuple(rules.ask))
