"""Asking the phone's model by recipe: packed within its budget, kept as an artifact, sent by the journal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.ports import Json
from gateway.errors import ConfigError, DecisionInvalid
from gateway.llm import decisions, packer
from gateway.llm import recipes as recipe_files
from gateway.llm.model import ModelRequest
from gateway.llm.packer import Section
from gateway.llm.recipes import Recipe
from gateway.phone.agents.agent import Unusable

ROLE = "phone"
HEADING = re.compile(r"^(?=#+ )", re.MULTILINE)


@dataclass
class Questions:
    """The questions of one decision. `asked` counts the model calls, `packs` and `said` are of the last one."""

    recipes: Mapping[str, Recipe]
    prompts: Mapping[str, str]
    model: str
    visit: Visit
    before: int
    image: str | None = None
    asked: int = 0
    pack: str | None = None
    said: list[str] = field(default_factory=list)

    async def ask(
        self, recipe: str, documents: Mapping[str, str], question: str, schema: dict[str, Any], type: str
    ) -> dict[str, Any]:
        """An answer that fits the schema; `documents` by title. Raises Unusable where there is none."""
        declared = self.recipes[recipe]
        sections = {
            f"{title.lower()}.md": [Section(title, title, (_within(text),))]
            for title, text in documents.items()
            if text
        }
        packed = packer.pack(declared, fragments=self.prompts, documents=sections, question=_within(question))
        messages = list(packed.messages)
        if self.image is not None:
            messages[-1] = messages[-1].model_copy(update={"images": [self.image]})
        request = ModelRequest(
            role=ROLE,
            model=self.model,
            messages=messages,
            max_tokens=declared.token_budget.output,
            temperature=declared.llm_params.temperature,
            timeout_s=declared.llm_params.timeout_s,
            ordinal=self.before + self.asked + 1,
            schema_name=type,
        )
        self.pack = self.visit.artifacts.put(packed.text.encode())
        try:
            value, responses = await decisions.decide(self._call, request, schema=schema, name=recipe)
        except DecisionInvalid as error:
            raise Unusable(str(error), hint=error.hint) from error
        self.said.append(responses[-1].text)
        return value

    async def _call(self, asked: Json, name: str) -> Json:
        self.asked += 1
        return await self.visit.call("model.complete", asked, name=f"{name}.{self.asked}")


def _within(text: str) -> str:
    """A task may hold what strangers wrote, such as "## Screen" on a line of its own: it begins no section."""
    return HEADING.sub(" ", text)


def read(texts: Mapping[str, str], names: tuple[str, ...]) -> tuple[dict[str, Recipe], dict[str, str]]:
    """The recipes of those names, and every prompt, of what a run pinned. Raises ConfigError where one is missing."""
    found: dict[str, Recipe] = {}
    for name in names:
        path = f"recipes/{name}.yaml"
        if path not in texts:
            raise ConfigError(f"no recipe is called {name}", hint="this run did not pin it: start a new one")
        found[name] = recipe_files.parse(texts[path], path)
    prompts = {path: recipe_files.prose(text) for path, text in texts.items() if path.startswith("prompts/")}
    return found, prompts
