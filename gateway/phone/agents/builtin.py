"""The built-in agent: code does what code can decide, a small model chooses the rest among the moves of a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway import resources
from gateway.engine.journal import Visit
from gateway.llm import recipes as recipe_files
from gateway.phone.agents import asking, errand
from gateway.phone.agents.agent import Chosen, Moment
from gateway.phone.agents.asking import Questions
from gateway.phone.agents.decision import JUDGEMENT, MOVE, TEXTS, Decision, Memory
from gateway.phone.agents.errand import Errand, Goal
from gateway.phone.agents.getting import Getting
from gateway.phone.agents.looking import Answering, Switching
from gateway.phone.agents.writing import Writing
from gateway.phone.judging.launchers import is_launcher

ERRAND = "phone_errand"
RECIPES = (ERRAND, MOVE, TEXTS, JUDGEMENT)
KINDS: Mapping[Goal, type[Decision]] = {
    "switch on": Switching,
    "switch off": Switching,
    "find out": Answering,
    "write": Writing,
    "get things": Getting,
    "other": Getting,
}


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
        memory = Memory.model_validate(moment.memory or {})
        read = memory.errand or await _read(moment, questions)
        return await KINDS[read.goal](moment, questions, memory.with_(errand=read)).decide()


async def _read(moment: Moment, questions: Questions) -> Errand:
    """What the task is about: asked once."""
    apps = [moment.app] if moment.app else [each for each in moment.apps if not is_launcher(each)]
    schema = errand.schema(moment.task, apps)
    documents = {"Task": moment.task, "Apps": ", ".join(apps)}
    return errand.errand_of(await questions.ask(ERRAND, documents, "", schema, "PHONE_ERRAND"), moment.task)


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
