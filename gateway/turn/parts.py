"""What shapes a turn: recipes, prompts and patterns, pinned when it begins, so that it ends with those that it began with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gateway import resources
from gateway.errors import ConfigError, PatternError
from gateway.llm import recipes as recipe_files
from gateway.llm.recipes import Recipe
from gateway.tools.registry import Registry
from gateway.turn.patterns.program import Program, compile_pattern

RECIPES = ("planner", "task_executor", "responder")
PATTERNS = "patterns/"


class Texts(Protocol):
    """Texts by name, as `gateway.engine.runs.Pinned` has them."""

    def names(self) -> list[str]: ...

    def text(self, name: str) -> str: ...


@dataclass(frozen=True)
class Parts:
    """Ready to use: recipes by name, prompt texts by path (`prompts/…`), programs by task type."""

    recipes: Mapping[str, Recipe]
    prompts: Mapping[str, str]
    programs: Mapping[str, Program]
    registry: Registry


def collect(extra_prompts: Sequence[Path], extra_recipes: Sequence[Path]) -> dict[str, bytes]:
    """The files to pin, by name. A task type whose pattern does not compile is left out: it is unavailable."""
    found: dict[str, bytes] = {}
    for prompt in resources.listing("prompts", "*.md", extra_prompts):
        text = prompt.read()
        if prompt.relative.startswith(PATTERNS):
            try:
                compile_pattern(text, name=Path(prompt.relative).stem)
            except PatternError:
                continue
        found[f"prompts/{prompt.relative}"] = text.encode()
    for name in RECIPES:
        found[f"recipes/{name}.yaml"] = resources.find("recipes", f"{name}.yaml", extra_recipes).read().encode()
    return found


def assemble(texts: Texts, registry: Registry) -> Parts:
    """The parts of a run from what it pinned. Raises ConfigError where a recipe names a prompt that there is not."""
    recipes: dict[str, Recipe] = {}
    prompts: dict[str, str] = {}
    programs: dict[str, Program] = {}
    for name in texts.names():
        text = texts.text(name)
        if name.startswith("recipes/"):
            recipe = recipe_files.parse(text, source=name)
            recipes[recipe.name] = recipe
        elif name.startswith(f"prompts/{PATTERNS}"):
            program = compile_pattern(text, name=Path(name).stem)
            programs[program.task_type] = program
            prompts[f"prompts/{PATTERNS}{program.task_type}.md"] = program.body
        else:
            prompts[name] = text
    missing = [name for name in RECIPES if name not in recipes]
    if missing:
        raise ConfigError(f"no recipe is called {', '.join(missing)}")
    return Parts(recipes, prompts, programs, registry)
