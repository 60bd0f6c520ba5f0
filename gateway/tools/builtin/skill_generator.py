"""skill.generator: an Agent Skill (a folder with SKILL.md) made of the model's steps and the sources' own words."""

from __future__ import annotations

import asyncio
import re
import unicodedata

from pydantic import BaseModel, Field, field_validator

from gateway.engine.ports import Effect
from gateway.fence import fenced
from gateway.tools.fulltext import terms
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.skills.document import FEWEST, Passage, Step, grounded, render, steps_of
from gateway.tools.skills.skill import facts_of
from gateway.tools.skills.versions import Versions
from gateway.tools.stopwords import OF_THE_TASK
from gateway.tools.workspace import sha256

DESCRIBED = "Use this skill for "
MAX_NAME = 64  # the standard's
MAX_DESCRIPTION = 400  # the standard allows 1,024; it is read for every request
# a few short words, so that a model that is held to it comes to an end
NAME_PATTERN = "^[a-z][a-z0-9]{1,15}(-[a-z0-9]{1,15}){0,3}$"
MAX_SHOWN = 4_000  # characters of what research found, for who writes the steps


class SkillArgs(BaseModel):
    """`source` is what research found: filled in by the pattern, never by a model."""

    name: str = Field(description="lower-case words with hyphens", json_schema_extra={"pattern": NAME_PATTERN})
    description: str = Field(
        min_length=10, max_length=MAX_DESCRIPTION, description="one sentence: what the skill does and when to use it"
    )
    instructions: list[Step] = Field(
        min_length=FEWEST, max_length=8, description="short steps that tell how to do it; or a text that lists them"
    )
    source: list[Passage] = Field([], description="passages that research found")

    @field_validator("name")
    @classmethod
    def _slug(cls, name: str) -> str:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME].strip("-")
        if not slug:
            raise ValueError("a skill's name needs at least one letter or digit")
        return slug

    @field_validator("instructions", mode="before")
    @classmethod
    def _listed(cls, instructions: object) -> object:
        return steps_of(instructions) if isinstance(instructions, str) else instructions

    @field_validator("description")
    @classmethod
    def _one_line(cls, description: str) -> str:
        # three dashes would end the front matter
        return re.sub(r"-{3,}", "—", " ".join(description.split()))


def _narrow_skill(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the steps, as a text: `source` is research's, the name follows from the goals, the description from both."""
    given = schema["properties"]
    passages = _passages(situation)
    properties = {"name": given["name"], "description": given["description"]}
    name = name_of(situation)
    if name:
        topic = name.replace("-", " ")
        properties["name"] = {"const": name}
        headings = dict.fromkeys(each["heading"] for each in passages)
        about = f"{DESCRIBED}{topic}: {', '.join(headings)}" if headings else f"{DESCRIBED}{topic}."
        properties["description"] = {"const": about[:MAX_DESCRIPTION]}
    properties["instructions"] = {
        "type": "string",
        "contentMediaType": "text/markdown",
        "description": _brief(topic if name else situation.wanted, passages, situation),
    }
    without = {key: each for key, each in schema.items() if key != "$defs"}
    return {**without, "properties": properties, "required": list(properties)}


def _passages(situation: Situation) -> list[dict[str, str]]:
    """What the last research found, of this task or one before."""
    for result in reversed((*situation.earlier, *situation.results)):
        if result["tool"] == "internet.research" and result["ok"]:
            return list(result["data"]["passages"])
    return []


def _brief(topic: str, passages: list[dict[str, str]], situation: Situation) -> str:
    """The task of writing a skill's steps, in words for a model."""
    found = "\n\n".join(f"{each['heading']}:\n{each['quote']}" for each in passages)[:MAX_SHOWN]
    said = ["What the documentation says:", fenced(found, "")] if found else []
    last = situation.results[-1] if situation.results else None
    if last is not None and last["tool"] == "skill.generator" and not last["ok"]:
        said.append(f"The last try was refused: {last['text'][:300]}")
    source = ", from what stands above" if found else ""
    said.append(
        f"Write down how a programmer works with {topic}: 3 to 5 numbered steps{source}. Each step is one or two "
        "sentences, and names what to write or call in `backticks`. Answer with the numbered list and no other text."
    )
    return "\n\n".join(said)


def name_of(situation: Situation) -> str:
    """The topic's own words as a name; empty where the goals say nothing else than that a skill is wanted."""
    for text in (*situation.goals, situation.request):
        words = [each for each in terms(text) if each not in OF_THE_TASK and re.fullmatch("[a-z0-9]+", each)]
        if words:
            return "-".join(words[:4])[:MAX_NAME].strip("-")
    return ""


@tool("skill.generator", effect=Effect.IDEMPOTENT, touches=(Touches.HOME,), narrow=_narrow_skill)
async def skill_generator(args: SkillArgs, ctx: ToolContext) -> ToolResult:
    """Write a skill: a name, a description and short steps; the quotes from the sources are added by themselves.

    data: {name, path: relative to the home, sha256, version, sources, changed: what, for people}. A skill of that name
    with other content becomes the next version, the former is kept under `skills/.versions`.
    """
    return await asyncio.to_thread(_generate, args, ctx)


def _generate(args: SkillArgs, ctx: ToolContext) -> ToolResult:
    steps, unknown = grounded(args.instructions, args.source)

    def document(version: int) -> bytes:
        return render(args.name, args.description, steps, args.source, version)

    if problems := facts_of(document(1), args.name).problems:
        return ToolResult(ok=False, text="the skill is not valid: " + "; ".join(problems), data={"name": args.name})
    version, written = Versions(ctx.home, args.name).put(document)
    path = f"skills/{args.name}/SKILL.md"
    sources = list(dict.fromkeys(each.source for each in args.source))
    again = f", version {version}" if version > 1 else ""
    quoted = f", quoting {', '.join(sources)}" if sources else ""
    if unknown:
        quoted += f"; left out what the sources know nothing of: {', '.join(unknown)}"
    return ToolResult(
        text=f"wrote the skill {args.name} ({path}){again}, {len(steps)} steps{quoted}",
        data={
            "name": args.name,
            "path": path,
            "sha256": sha256(written),
            "version": version,
            "sources": sources,
            "changed": f"skill {args.name}: {ctx.home / path}",
        },
    )
