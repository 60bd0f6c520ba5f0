"""skill.generator: an Agent Skill (a folder with SKILL.md) made of the model's steps and the sources' own words."""

from __future__ import annotations

import asyncio
import builtins
import keyword
import re
import shutil
import tempfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, field_validator

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.fence import fenced
from gateway.tools.builtin.research import Found
from gateway.tools.fulltext import terms
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, tool
from gateway.tools.stopwords import OF_THE_TASK
from gateway.tools.undo import replace_file
from gateway.tools.workspace import sha256

DESCRIBED = "Use this skill for "
MAX_NAME = 64  # the standard's
MAX_DESCRIPTION = 400  # the standard allows 1,024; it is read for every request
# a few short words, so that a model that is held to it comes to an end
NAME_PATTERN = "^[a-z][a-z0-9]{1,15}(-[a-z0-9]{1,15}){0,3}$"

FEWEST, MAX_STEP = 3, 500  # steps; characters of one
MAX_SHOWN = 4_000  # characters of what research found, for who writes the steps
NAMED = r"\.[A-Za-z_]\w*|[A-Za-z_]\w*\(|^[A-Za-z_]\w*$"  # in code: an attribute, a call, a name alone
MARKER = re.compile(r"^\s{0,3}(?:\d+[.)]|[-*+])\s+")  # of a list's item

Step = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_STEP)]


class SkillArgs(BaseModel):
    """`source` is what research found: filled in by the pattern, never by a model."""

    name: str = Field(description="lower-case words with hyphens", json_schema_extra={"pattern": NAME_PATTERN})
    description: str = Field(
        min_length=10, max_length=MAX_DESCRIPTION, description="one sentence: what the skill does and when to use it"
    )
    instructions: list[Step] = Field(
        min_length=FEWEST, max_length=8, description="short steps that tell how to do it; or a text that lists them"
    )
    source: list[Found] = Field([], description="passages that research found")

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


def steps_of(text: str) -> list[str]:
    """The items of a Markdown list: what stands below one belongs to it, what stands before the first is left out."""
    steps: list[str] = []
    for line in text.splitlines():
        if MARKER.match(line):
            steps.append(MARKER.sub("", line).strip())
        elif steps and line.strip():
            steps[-1] += f" {line.strip()}"
    return [step[:MAX_STEP] for step in steps[:8]]


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


def grounded(steps: list[str], source: list[Found]) -> tuple[list[str], list[str]]:
    """The steps without those that name something in code that no source has, and these names; three steps at least
    are kept, those with the fewest such names. Small models make functions up."""
    if not source:
        return steps, []
    known = set(re.findall(r"\w+", " ".join(" ".join((each.heading, each.quote, each.code)) for each in source)))
    missing = [[name for name in _named(step) if name not in known] for step in steps]
    best = sorted(range(len(steps)), key=lambda at: (len(missing[at]), at))
    kept = {at for rank, at in enumerate(best) if rank < FEWEST or not missing[at]}
    left_out = [name for at, names in enumerate(missing) if at not in kept for name in names]
    return [step for at, step in enumerate(steps) if at in kept], list(dict.fromkeys(left_out))


def _named(step: str) -> list[str]:
    """The names that a step's code spans call, look up, or consist of; not what Python itself brings."""
    spans = re.findall(r"`([^`]+)`", step)
    names = [match[0].strip(".(") for span in spans for match in re.finditer(NAMED, span)]
    return [name for name in names if not keyword.iskeyword(name) and not hasattr(builtins, name)]


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


@tool("skill.generator", effect=Effect.IDEMPOTENT, narrow=_narrow_skill)
async def skill_generator(args: SkillArgs, ctx: ToolContext) -> ToolResult:
    """Write a skill: a name, a description and short steps; the quotes from the sources are added by themselves.

    data: {name, path: relative to the home, sha256, version, sources, changed: what, for people}. A skill of that name
    with other content becomes the next version, the former is kept under `skills/.versions`.
    """
    return await asyncio.to_thread(_generate, args, ctx.home)


def _generate(args: SkillArgs, home: Path) -> ToolResult:
    steps, unknown = grounded(args.instructions, args.source)
    args = args.model_copy(update={"instructions": steps})
    document = render(args)
    if problems := _problems(args.name, document):
        return ToolResult(ok=False, text="the skill is not valid: " + "; ".join(problems), data={"name": args.name})
    file = home / "skills" / args.name / "SKILL.md"
    kept = home / "skills" / ".versions" / args.name
    try:
        former = file.read_bytes() if file.exists() else None
        if former is not None and former != document:
            # kept first and under its hash: interrupted anywhere and done again, nothing is lost and nothing kept twice
            replace_file(kept / f"{sha256(former)[:16]}.md", former)
        if former != document:
            replace_file(file, document)
        version = 1 + sum(1 for each in kept.glob("*.md") if each.stem != sha256(document)[:16])
    except OSError as error:
        raise ToolError(f"the skill cannot be written: {error.strerror}", hint=f"check {file.parent}") from error
    path = f"skills/{args.name}/SKILL.md"
    sources = list(dict.fromkeys(each.source for each in args.source))
    quoted = f", quoting {', '.join(sources)}" if sources else ""
    if unknown:
        quoted += f"; left out what the sources know nothing of: {', '.join(unknown)}"
    return ToolResult(
        text=f"wrote the skill {args.name} ({path}), {len(args.instructions)} steps{quoted}",
        data={
            "name": args.name,
            "path": path,
            "sha256": sha256(document),
            "version": version,
            "sources": sources,
            "changed": f"skill {args.name}: {file}",
        },
    )


def render(args: SkillArgs) -> bytes:
    """The skill's SKILL.md: what it is for, the steps, an example from the sources, what they say word for word."""
    import yaml

    front = yaml.safe_dump(
        {"name": args.name, "description": args.description}, allow_unicode=True, sort_keys=False, width=10_000
    )
    title = args.name.replace("-", " ").capitalize()
    parts = [f"---\n{front}---", f"# {title}", f"## When to use\n\n{args.description}"]
    steps = (re.sub(r"^(\d+[.)]|[-*])\s+", "", " ".join(each.split())) for each in args.instructions)
    parts.append("## Steps\n\n" + "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)))
    example = next((each for each in args.source if each.code), None)
    if example:
        parts.append(f"## Example\n\nFrom {_reference(example)}:\n\n{fenced(example.code, _language(example.code))}")
    if args.source:
        quotes = [f"### {_reference(each)}\n\n{fenced(each.quote, 'text')}" for each in args.source]
        parts.append("## Sources\n\nQuoted word for word.\n\n" + "\n\n".join(quotes))
    return ("\n\n".join(parts) + "\n").encode()


@dataclass(frozen=True)
class SkillFile:
    """A skill that was written; `problems` are what the standard's checker finds wrong with it."""

    name: str
    path: Path
    description: str
    problems: tuple[str, ...]


def written(home: Path) -> list[SkillFile]:
    """The skills of a home, by name."""
    from skills_ref import read_properties, validate  # type: ignore[import-untyped]

    found = []
    for path in sorted((home / "skills").glob("[!.]*/SKILL.md")):
        problems = tuple(str(each) for each in validate(path.parent))
        description = "" if problems else str(read_properties(path.parent).description)
        found.append(SkillFile(path.parent.name, path, description, problems))
    return found


def _reference(found: Found) -> str:
    where = found.title if found.heading == found.title else f"{found.title}, {found.heading}"
    return f"{where} (`{found.source}`)"


def _language(code: str) -> str:
    if code.lstrip().startswith((">>>", "$ ")):
        return "pycon" if code.lstrip().startswith(">>>") else "console"
    return "python" if re.search(r"^(\s*)(import |from \w|def |class |async |@|\w+ = )", code, re.MULTILINE) else "text"


def _problems(name: str, document: bytes) -> list[str]:
    """What the standard's own checker finds wrong with the skill; it is tried out in a temporary folder."""
    from skills_ref import validate

    folder = Path(tempfile.mkdtemp(prefix="echelon-skill-"))
    try:
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_bytes(document)
        return [str(each) for each in validate(folder / name)]
    except OSError as error:
        raise ToolError(f"the skill cannot be checked: {error.strerror}", hint="check the temporary folder") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
