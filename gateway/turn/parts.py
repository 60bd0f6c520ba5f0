"""What shapes a turn: recipes, prompts and patterns, pinned when it begins: it ends with those that it began with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from gateway import resources
from gateway.errors import ConfigError
from gateway.llm import recipes as recipe_files
from gateway.llm.recipes import Recipe
from gateway.resources import Resource
from gateway.tools.registry import Registry
from gateway.turn import few_shot
from gateway.turn.patterns.program import Program, compile_pattern

RECIPES = ("planner", "task_executor", "tool_arguments", "text_argument", "responder", "validator")
PATTERNS = "patterns/"
PLACEHOLDERS: dict[str, Callable[[Mapping[str, Program], Registry], str]] = {
    "{{ task_types }}": few_shot.task_types,
    "{{ examples }}": lambda programs, _: few_shot.examples(programs),
}


class Texts(Protocol):
    """Texts by name, as `gateway.engine.runs.Pinned` has them."""

    def names(self) -> list[str]: ...

    def text(self, name: str) -> str: ...


@dataclass(frozen=True)
class PlainTexts:
    """Texts that are not pinned, or about to be."""

    pins: Mapping[str, bytes]

    def names(self) -> list[str]:
        return sorted(self.pins)

    def text(self, name: str) -> str:
        return self.pins[name].decode()


@dataclass(frozen=True)
class Parts:
    """Ready to use: recipes by name, prompt texts by path (`prompts/…`), programs by task type."""

    recipes: Mapping[str, Recipe]
    prompts: Mapping[str, str]
    programs: Mapping[str, Program]
    registry: Registry

    @property
    def planned(self) -> Mapping[str, Program]:
        """Those that the Planner may choose."""
        return planned(self.programs)


def planned(programs: Mapping[str, Program]) -> dict[str, Program]:
    return {name: program for name, program in programs.items() if program.planned}


def collect(extra_prompts: Sequence[Path], extra_recipes: Sequence[Path]) -> dict[str, bytes]:
    """The files to pin, by name. A task type whose pattern is broken is left out: it is unavailable.

    Raises ConfigError, with its path, for a recipe or another prompt that cannot be used.
    """
    found: dict[str, bytes] = {}
    for prompt in resources.listing("prompts", "*.md", extra_prompts):
        if not prompt.relative.startswith(PATTERNS) or _compiles(prompt):
            found[f"prompts/{prompt.relative}"] = prompt.read().encode()
    for name in RECIPES:
        recipe = resources.find("recipes", f"{name}.yaml", extra_recipes)
        _recipe(recipe.read(), str(recipe.path))  # here a mistake has the file's own path
        found[f"recipes/{name}.yaml"] = recipe.read().encode()
    return found


def _compiles(pattern: Resource) -> bool:
    """As `gateway.turn.patterns.library` sees it, which also says why not."""
    try:
        program = _program(pattern.read(), pattern.relative)
    except ConfigError:
        return False
    return program.task_type == pattern.relative.rpartition("/")[2].removesuffix(".md")


def assemble(texts: Texts, registry: Registry) -> Parts:
    """The parts of a run from what it pinned. Raises ConfigError where a recipe names a prompt that there is not."""
    recipes: dict[str, Recipe] = {}
    prompts: dict[str, str] = {}
    programs: dict[str, Program] = {}
    for name in texts.names():
        text = texts.text(name)
        if name.startswith("recipes/"):
            recipe = _recipe(text, name)
            recipes[recipe.name] = recipe
        elif name.startswith(f"prompts/{PATTERNS}"):
            program = _program(text, name)
            programs[program.task_type] = program
            prompts[f"prompts/{PATTERNS}{program.task_type}.md"] = program.body
        elif name.startswith("prompts/"):
            prompts[name] = text
    missing = [name for name in RECIPES if name not in recipes]
    if missing:
        raise ConfigError(f"no recipe is called {', '.join(missing)}")
    for recipe in recipes.values():
        for path in (fragment.path for fragment in recipe.prompt_fragments):
            if "{" not in path and path not in prompts:
                raise ConfigError(f"recipe {recipe.name}: there is no {path}", hint="check its prompt_fragments")
    filled = {path: _filled(text, programs, registry) for path, text in prompts.items()}
    return Parts(recipes, filled, programs, registry)


def _filled(text: str, programs: Mapping[str, Program], registry: Registry) -> str:
    """A prompt with what it asks for about the task types; every other brace stands for itself."""
    for name, fill in PLACEHOLDERS.items():
        if name in text:
            text = text.replace(name, fill(planned(programs), registry))
    return text


# Compiling takes longer than the rest of a turn: what was compiled is kept by its text, and does not change.


@lru_cache(maxsize=256)
def _program(text: str, path: str) -> Program:
    return compile_pattern(text, name=Path(path).stem)


@lru_cache(maxsize=64)
def _recipe(text: str, source: str) -> Recipe:
    return recipe_files.parse(text, source=source)
