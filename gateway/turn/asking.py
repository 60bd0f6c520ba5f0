"""Asking a model by recipe: the prompt is packed within its budget, kept as an artifact, and sent by the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.ports import Json
from gateway.errors import ConfigError
from gateway.llm import decisions, packer
from gateway.llm.model import ModelRequest, ModelResponse
from gateway.llm.packer import Section
from gateway.llm.prose import tidied, whole_sentences
from gateway.llm.recipes import Recipe
from gateway.turn.parts import Parts
from gateway.turn.state import Pack, TurnContext, TurnState

CONTEXT = "context.md"


@dataclass(frozen=True)
class Asked:
    """An answer, the prompt that it came from, and how many model calls it took."""

    value: Any
    pack: Pack
    calls: int


def counted(state: TurnState, *asked: Asked | None) -> TurnState:
    """The state with what was asked: the packs, and how many model calls it took."""
    made = [each for each in asked if each is not None]
    if not made:
        return state
    packs = (*state.packs, *(each.pack for each in made))
    return state.with_(packs=packs, asked=state.asked + sum(each.calls for each in made))


class Asker:
    """Calls models for one kind of turn; holds nothing that changes."""

    def __init__(self, parts: Parts, context: TurnContext) -> None:
        self._recipes = parts.recipes
        self._context = context
        self._prompts = parts.prompts

    async def decide(
        self,
        visit: Visit,
        state: TurnState,
        recipe: str,
        sections: Sequence[Section],
        question: str,
        schema: dict[str, Any],
        *,
        type: str,
        variables: Mapping[str, str] | None = None,
        check: decisions.Check | None = None,
        temperature: float | None = None,
    ) -> Asked:
        """A decision of the given type (`PLANNER_DECISION`, …) that fits the schema."""
        request, pack = await self._request(visit, state, recipe, sections, question, variables or {}, temperature)
        request = request.model_copy(update={"schema_name": type})

        value, responses = await decisions.decide(_by(visit), request, schema=schema, name=recipe, check=check)
        return Asked(value, pack, len(responses))

    async def write(
        self,
        visit: Visit,
        state: TurnState,
        recipe: str,
        sections: Sequence[Section],
        question: str,
        *,
        code: bool = False,
        judged: bool = False,
        temperature: float | None = None,
        stop: Sequence[str] = (),
    ) -> Asked:
        """Free text, up to one of `stop`; with `code`, what stands in its block of code, or whatever came where it is
        `judged` anyway."""
        request, pack = await self._request(visit, state, recipe, sections, question, {}, temperature)

        if code:
            text, responses = await decisions.write_code(_by(visit), request, name=recipe, judged=judged)
            return Asked(text, pack, len(responses))
        request = request.model_copy(update={"stop": list(stop)})
        response = ModelResponse.model_validate(await _by(visit)(request.model_dump(), recipe))
        text = tidied(response.text, cut=response.finish_reason == "length")
        return Asked(whole_sentences(text) if stop else text, pack, 1)

    async def _request(
        self,
        visit: Visit,
        state: TurnState,
        name: str,
        sections: Sequence[Section],
        question: str,
        variables: Mapping[str, str],
        temperature: float | None,
    ) -> tuple[ModelRequest, Pack]:
        recipe = self._recipes[name]
        packed = packer.pack(
            recipe,
            fragments=self._prompts,
            documents={**await self._documents(visit, recipe), CONTEXT: sections},
            question=question,
            variables=variables,
        )
        params = recipe.llm_params
        if recipe.role not in self._context.models:
            roles = ", ".join(self._context.models)
            raise ConfigError(f"recipe {name}: role: expected one of {roles}, not {recipe.role!r}")
        request = ModelRequest(
            role=recipe.role,
            model=self._context.models[recipe.role],
            messages=list(packed.messages),
            max_tokens=recipe.token_budget.output,
            temperature=params.temperature if temperature is None else temperature,
            ordinal=state.asked + 1,
            timeout_s=params.timeout_s,
        )
        return request, Pack(recipe=name, sha256=visit.artifacts.put(packed.text.encode()))

    async def _documents(self, visit: Visit, recipe: Recipe) -> dict[str, list[Section]]:
        """The documents besides `context.md` that the recipe names, as they are now."""
        wanted = {doc.key: doc for doc in recipe.input_docs if doc.key != CONTEXT}
        if not wanted:
            return {}
        asked = [{"key": key, "path": doc.path, "path_type": doc.path_type} for key, doc in wanted.items()]
        texts: dict[str, str] = await visit.call("turn.documents", {"documents": asked})
        return {key: packer.sections_of(wanted[key].path, text) for key, text in texts.items()}


def _by(visit: Visit) -> decisions.Ask:
    """The journal's call of the model."""

    async def ask(asked: Json, name: str) -> Json:
        return await visit.call("model.complete", asked, name=name)

    return ask
