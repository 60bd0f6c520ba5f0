"""Recipes: what goes into the prompt of a model call, and how many tokens each part may have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from gateway import resources
from gateway.errors import ConfigError
from gateway.llm import tokens

_FRAGMENT = re.compile(r"(?P<path>prompts/\S+)\s+\((?P<tokens>[\d_]+) tokens\)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)

DOCUMENT_ORDER = ("0", "1", "2", "3", "4", "5", "6", "state")
"""How sections of `context.md` stand in a prompt: what never changes in a task comes first, as a cached prefix."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fragment(_Strict):
    """A prompt file and the tokens it may have, written `path (N tokens)`. `path` may hold `{task_type}`."""

    path: str
    tokens: int = Field(gt=0)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = _FRAGMENT.fullmatch(value.strip())
        if match is None:
            raise ValueError('a fragment is written "prompts/FILE.md (N tokens)"')
        return match.groupdict()

    def place(self, variables: Mapping[str, str]) -> str:
        """The path with the variables put in; ConfigError for one that is not given."""
        try:
            return self.path.format_map(variables)
        except (KeyError, ValueError, IndexError) as error:
            raise ConfigError(f"{self.path}: no value for the placeholder {error}") from error


class InputDoc(_Strict):
    """A document, or some of its sections, and the tokens it may have.

    `path` is relative to what `path_type` says: the turn's folder, the session's, the home, or the workspace. Sections
    of `context.md` are named by their number or `state`, those of another document by their heading.

    Required ones (`optional: false`) are filled first, then the others by `priority`, 1 before 2. `trim` names what is
    left out where it is too long: its head, its tail, its middle, or the oldest of its entries (tool results).
    """

    path: str
    optional: bool = True
    max_tokens: int = Field(gt=0)
    path_type: Literal["turn", "session", "home", "workspace"] = "turn"
    sections: tuple[Annotated[str, BeforeValidator(lambda value: str(value))], ...] = ()
    priority: int = Field(default=1, ge=1)
    trim: Literal["head", "tail", "middle", "oldest_results"] = "tail"

    @property
    def key(self) -> str:
        """The document among others: `context.md` is the turn's, which is what a path means by itself."""
        return self.path if self.path_type == "turn" else f"{self.path_type}:{self.path}"

    @model_validator(mode="after")
    def _one_section_of_results(self) -> InputDoc:
        if self.trim == "oldest_results" and len(self.sections) != 1:
            raise ValueError("trim: oldest_results needs exactly one section")
        return self


class TokenBudget(_Strict):
    """Tokens of a call. `buffer` is for the question and the chat template's own tokens; `output` is the answer's."""

    total: int = Field(gt=0)
    prompt: int = Field(ge=0)
    input_docs: int = Field(ge=0)
    output: int = Field(gt=0)
    buffer: int = Field(ge=0)

    @property
    def input(self) -> int:
        """What the messages may have."""
        return self.total - self.output


class LLMParams(_Strict):
    """How the model is called; `timeout_s` in seconds for one try."""

    temperature: float = Field(default=0.0, ge=0, le=2)
    timeout_s: float = Field(default=120.0, gt=0)


class Recipe(_Strict):
    """The declaration of one model call; `output_schema` is the type of its decision, or None for text."""

    name: str
    role: str
    phase: str
    description: str = ""
    prompt_fragments: tuple[Fragment, ...] = Field(min_length=1)
    input_docs: tuple[InputDoc, ...] = ()
    token_budget: TokenBudget
    llm_params: LLMParams = LLMParams()
    output_schema: str | None = None


@dataclass(frozen=True)
class RecipeFile:
    """A recipe's file: `recipe`, or `error` where it is none; `problems` are told with the file's path."""

    name: str
    path: Path
    origin: str
    text: str
    recipe: Recipe | None
    problems: tuple[str, ...] = ()
    error: ConfigError | None = None


class Problem(NamedTuple):
    """What is wrong with a recipe, and at which key."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def parse(text: str, source: str) -> Recipe:
    """A recipe from YAML; ConfigError with `source` and the key where it is none."""
    try:
        return Recipe.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        place = f"{source}:{mark.line + 1}" if mark else source
        raise ConfigError(f"{place}: not YAML: {said}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(f"{source}: {key}: {first['msg']}") from error


def load(name: str, recipe_dirs: Sequence[Path] = ()) -> Recipe:
    """The recipe of that name: the user's own in `recipe_dirs`, else the shipped one."""
    found = resources.find("recipes", f"{name}.yaml", recipe_dirs)
    recipe = parse(found.read(), str(found.path))
    if recipe.name != name:
        raise ConfigError(f"{found.path}: name: it says {recipe.name!r}, its file says {name!r}")
    return recipe


def files(recipe_dirs: Sequence[Path] = (), prompt_dirs: Sequence[Path] = ()) -> list[RecipeFile]:
    """Every recipe that there is, by name, the broken ones too; a user's own hides a shipped one."""
    found = []
    for each in resources.listing("recipes", "*.yaml", recipe_dirs):
        name, text, recipe = each.relative.removesuffix(".yaml"), "", None
        try:
            text = each.read()
            recipe = load(name, recipe_dirs)
        except ConfigError as error:
            found.append(RecipeFile(name, each.path, each.origin, text, None, (str(error),), error))
            continue
        problems = tuple(f"{each.path}: {problem}" for problem in check(recipe, prompt_dirs))
        found.append(RecipeFile(name, each.path, each.origin, text, recipe, problems))
    return found


def fragment_texts(recipe: Recipe, variables: Mapping[str, str], prompt_dirs: Sequence[Path] = ()) -> dict[str, str]:
    """The prompt files of a recipe, by path, as a model reads them: what a run pins."""
    paths = [fragment.place(variables) for fragment in recipe.prompt_fragments]
    return {path: prose(resources.find("prompts", _below_prompts(path), prompt_dirs).read()) for path in paths}


def prose(text: str) -> str:
    """A prompt file without its front matter, which is for the gateway."""
    return _FRONT_MATTER.sub("", text).strip()


def check(recipe: Recipe, prompt_dirs: Sequence[Path] = ()) -> list[Problem]:
    """What `echelon recipes check` says: nothing, where every call of this recipe can be packed."""
    return [*_check_sums(recipe), *_check_documents(recipe), *_check_fragments(recipe, prompt_dirs)]


def _check_sums(recipe: Recipe) -> list[Problem]:
    budget, problems = recipe.token_budget, []
    parts = budget.prompt + budget.input_docs + budget.output + budget.buffer
    if parts > budget.total:
        problems.append(Problem("token_budget.total", f"the parts add up to {parts}, more than {budget.total}"))
    fragments = sum(fragment.tokens for fragment in recipe.prompt_fragments)
    if fragments > budget.prompt:
        problems.append(
            Problem("token_budget.prompt", f"the fragments may have {fragments}, more than {budget.prompt}")
        )
    required = sum(doc.max_tokens for doc in recipe.input_docs if not doc.optional)
    if required > budget.input_docs:
        problems.append(
            Problem("token_budget.input_docs", f"the required ones may have {required}, more than {budget.input_docs}")
        )
    return problems


def _check_documents(recipe: Recipe) -> list[Problem]:
    problems = []
    for number, doc in enumerate(recipe.input_docs):
        key = f"input_docs.{number}"
        if doc.max_tokens > recipe.token_budget.input_docs:
            problems.append(Problem(f"{key}.max_tokens", f"more than all documents: {recipe.token_budget.input_docs}"))
        if doc.path == "context.md":
            problems += [
                Problem(f"{key}.sections", f"context.md has no section {section!r}")
                for section in doc.sections
                if section not in DOCUMENT_ORDER
            ]
    order = [section for doc in recipe.input_docs for section in doc.sections if section in DOCUMENT_ORDER]
    if order != sorted(order, key=DOCUMENT_ORDER.index):
        problems.append(Problem("input_docs", f"sections out of order ({', '.join(order)}): no prefix can be cached"))
    return problems


def _check_fragments(recipe: Recipe, prompt_dirs: Sequence[Path]) -> list[Problem]:
    problems = []
    for number, fragment in enumerate(recipe.prompt_fragments):
        key = f"prompt_fragments.{number}"
        glob = re.sub(r"\{\w+\}", "*", _below_prompts(fragment.path))
        files = resources.listing("prompts", glob, prompt_dirs)
        if not files:
            problems.append(Problem(key, f"there is no {fragment.path}"))
        for file in files:
            used = tokens.count(prose(file.read()))
            if used > fragment.tokens:
                problems.append(Problem(key, f"{file.path} has {used} tokens, more than {fragment.tokens}"))
    return problems


def _below_prompts(path: str) -> str:
    return path.removeprefix("prompts/")
