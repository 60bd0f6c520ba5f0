"""Recipes of model calls: a list of them, one with its text, what is wrong with them."""

from __future__ import annotations

from echelon.output.shape import Shape


class RecipeBudget(Shape):
    """Tokens of a call: in all, and for each part."""

    total: int
    prompt: int
    input_docs: int
    output: int
    buffer: int


class RecipeRow(Shape):
    """A recipe in a list: where its file is, and what it comes from (`origin`). Where it is not `usable`, `problems`
    say why, and what only a recipe that was read has is null."""

    name: str
    origin: str
    path: str
    usable: bool
    role: str | None
    description: str | None
    token_budget: RecipeBudget | None
    problems: tuple[str, ...]


class RecipeShown(RecipeRow):
    """A recipe with its file's `text`."""

    text: str


class RecipeProblem(Shape):
    """What is wrong with which recipe, and the path of its file."""

    recipe: str
    file: str
    message: str


class RecipeProblems(Shape):
    """The paths of the `files` that were checked, and every problem of theirs."""

    files: tuple[str, ...]
    problems: tuple[RecipeProblem, ...]
