"""The built-in agent: code does what code can decide, a small model chooses the rest among the moves of a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway import resources
from gateway.engine.journal import Visit
from gateway.llm import recipes as recipe_files
from gateway.phone.agents import asking
from gateway.phone.agents.agent import Chosen, Moment
from gateway.phone.agents.asking import Questions
from gateway.phone.agents.deciding import RECIPES, Deciding

__all__ = ["BuiltinAgent", "collect"]


class BuiltinAgent:
    """Chooses by the recipes `phone_*`. `texts` are what the run pinned, by name; `model` is the role's; with `images`
    it is shown the screen, too."""

    def __init__(self, texts: Mapping[str, str], model: str, *, images: bool = False) -> None:
        self._recipes, self._prompts = asking.read(texts, RECIPES)
        self._model = model
        self._images = images

    async def choose(self, moment: Moment, visit: Visit) -> Chosen:
        image = moment.seen.png if self._images and not moment.seen.secure else None
        questions = Questions(self._recipes, self._prompts, self._model, visit, moment.asked, image)
        return await Deciding(moment, questions).decide()


def collect(extra_prompts: Sequence[Path], extra_recipes: Sequence[Path]) -> dict[str, bytes]:
    """The recipes and their prompts, by name, for a run to pin. Raises ConfigError for what cannot be used."""
    found: dict[str, bytes] = {}
    for name in RECIPES:
        file = resources.find("recipes", f"{name}.yaml", extra_recipes)
        found[f"recipes/{name}.yaml"] = file.read().encode()
        for fragment in recipe_files.parse(file.read(), str(file.path)).prompt_fragments:
            prompt = resources.find("prompts", fragment.path.removeprefix("prompts/"), extra_prompts)
            found[fragment.path] = prompt.read().encode()
    return found
