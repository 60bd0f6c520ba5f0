"""`echelon recipes`: what each model call is made of, and whether it keeps its budget."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import put, put_json, put_table, say

if TYPE_CHECKING:
    from echelon.output.recipe import RecipeProblems
    from gateway import Settings
    from gateway.llm.recipes import RecipeFile


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon recipes list\n  echelon recipes check\n")
def recipes() -> None:
    """Recipes: list, show and check what model calls are made of.

    They are looked for in .echelon/recipes of the workspace, in $ECHELON_HOME/recipes, and among those that are
    shipped; the first file of a name counts.
    """


@recipes.command("list", epilog="\b\nExamples:\n  echelon recipes list\n  echelon recipes list --json\n")
@options.as_json
@options.model
def list_recipes(settings: Settings, as_json: bool) -> None:
    """List the recipes, where each comes from, and its budget in tokens."""
    from echelon.output.recipe import RecipeRow

    files = _files(settings)
    if as_json:
        put_json([RecipeRow(**_facts(file)) for file in files])
        return
    rows = []
    for file in files:
        recipe = file.recipe
        budget = "" if recipe is None else f"{recipe.token_budget.total:,}"
        told = f"unusable: {file.error}" if recipe is None else recipe.description
        rows.append([file.name, file.origin, "" if recipe is None else recipe.role, budget, told])
    put_table(["recipe", "origin", "role", "tokens", "description"], rows)


@recipes.command(epilog="\b\nExamples:\n  echelon recipes show planner\n")
@click.argument("name", metavar="NAME")
@options.as_json
@options.model
def show(settings: Settings, name: str, as_json: bool) -> int:
    """Show a recipe's file."""
    from echelon.output.recipe import RecipeShown
    from gateway.errors import UsageError

    files = {file.name: file for file in _files(settings)}
    if name not in files:
        raise UsageError(f"there is no recipe {name!r}", hint=f"there are: {', '.join(files)}")
    file = files[name]
    if as_json:
        put_json(RecipeShown(**_facts(file), text=file.text))
    else:
        say(f"{file.path} ({file.origin})")
        put(file.text.rstrip("\n"))
    if file.error is not None:
        say(f"error: {file.error}")
        return file.error.exit_code
    return 0


@recipes.command(
    epilog="""\b
Examples:
  echelon recipes check
  echelon recipes check --workspace ~/pager
  echelon recipes check --json
"""
)
@options.as_json
@options.model
def check(settings: Settings, as_json: bool) -> int:
    """Report every problem: parts that exceed the total, prompts that exceed their figure, files that are missing."""
    from gateway.errors import ConfigError

    files = _files(settings)
    problems = [problem for file in files for problem in file.problems]
    if as_json:
        put_json(_as_data(files))
    else:
        for problem in problems:
            put(problem)
    say(f"{len(files)} recipes, {len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}")
    return ConfigError.exit_code if problems else 0


def _files(settings: Settings) -> list[RecipeFile]:
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        return gateway.recipes()


def _as_data(files: list[RecipeFile]) -> RecipeProblems:
    from echelon.output.recipe import RecipeProblem, RecipeProblems

    problems = tuple(
        RecipeProblem(recipe=file.name, file=str(file.path), message=problem.removeprefix(f"{file.path}:").strip())
        for file in files
        for problem in file.problems
    )
    return RecipeProblems(files=tuple(str(file.path) for file in files), problems=problems)


def _facts(file: RecipeFile) -> dict[str, Any]:
    """What a list and a recipe that is shown have in common."""
    recipe = file.recipe
    return {
        "name": file.name,
        "origin": file.origin,
        "path": str(file.path),
        "usable": recipe is not None,
        "role": None if recipe is None else recipe.role,
        "description": None if recipe is None else recipe.description,
        "token_budget": None if recipe is None else recipe.token_budget.model_dump(),
        "problems": file.problems,
    }
