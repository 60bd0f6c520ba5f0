"""skill.read, skill.run: Agent Skills, read in full once one is chosen; their scripts run under the policy."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from pathlib import Path

from pydantic import BaseModel, Field, field_validator

from gateway.engine.ports import Effect
from gateway.errors import NotNow, ToolError
from gateway.tools.code.source_text import decode
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.sandbox import run_program
from gateway.tools.skills.library import SkillLibrary
from gateway.tools.skills.relevance import bearing
from gateway.tools.skills.skill import Skill
from gateway.tools.workspace import Workspace, sha256

MAX_TEXT = 24_000  # characters of one skill.read, as of one file.read
MAX_OFFERED = 20
DEADLINE_S = 120.0
_SCRIPT_S = 105.0  # what the script gets of it; the rest is for ending it
_OUTPUT_BYTES = 20_000
_INTERPRETERS = {
    ".py": (sys.executable,),
    ".sh": ("bash", "sh"),
    ".bash": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
}


class ReadArgs(BaseModel):
    name: str = Field(description="skill whose instructions are wanted")
    file: str = Field("SKILL.md", description="file of the skill, such as references/x.md; its SKILL.md if left out")
    start_line: int = Field(1, ge=1, description="first line to read; from the beginning if left out")


def _narrow_read(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the skills that there are, the relevant first; other files only of those whose instructions were read, and
    lines only of what was cut. One of which there is nothing more to read is left out."""
    reads = _reads(situation)
    cut = {name for (name, _), following in reads.items() if following}
    files: list[str] = []
    names: list[str] = []
    for skill in _ranked(ctx, situation):
        if all(name != skill.name for name, _ in reads):
            names.append(skill.name)
        elif left := [
            each for each in skill.files() if (skill.name, each) not in reads and not each.startswith("scripts/")
        ]:
            files += left
            names.append(skill.name)
        elif skill.name in cut:
            names.append(skill.name)
    if not names:
        raise NotNow("there is no skill to read")
    given = schema["properties"]
    properties = {"name": _one_of(names[:MAX_OFFERED], given["name"])}
    if files:
        properties["file"] = _one_of(list(dict.fromkeys(["SKILL.md", *files]))[:MAX_OFFERED], given["file"])
    if cut:
        properties["start_line"] = given["start_line"]
    return {**schema, "properties": properties}


@tool("skill.read", effect=Effect.READ, touches=(Touches.HOME, Touches.WORKSPACE), narrow=_narrow_read)
def skill_read(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Read the instructions of a skill, or another file of it.

    data: {name, origin: workspace or home, file, sha256 of the whole file, lines: how many it has, next_line: to read
    on with, null at the end, files: the other files of the skill}.
    """
    skill = SkillLibrary(ctx.home, ctx.workspace).get(args.name)
    file = skill.canonical(skill.path.name if args.file == "SKILL.md" else args.file)
    data = skill.read(file)
    lines = decode(data, file).text.splitlines()
    if args.start_line > max(1, len(lines)):
        raise ToolError(f"{file} has {len(lines)} lines: there is no line {args.start_line}")
    shown, size, following = [], 0, None
    for number in range(args.start_line, len(lines) + 1):
        line = lines[number - 1][:MAX_TEXT]
        if size + len(line) > MAX_TEXT:
            following = number
            break
        size += len(line) + 1
        shown.append(line)
    files = [each for each in skill.files() if each != file]
    head = f"skill {skill.name}, {file}" + (f"; it also has {', '.join(files[:MAX_OFFERED])}" if files else "")
    cut = f"\n… cut before line {following} of {len(lines)}; read on with start_line={following}" if following else ""
    return ToolResult(
        text=f"{head}\n\n" + "\n".join(shown) + cut,
        data={
            "name": skill.name,
            "origin": skill.origin,
            "file": file,
            "sha256": sha256(data),
            "lines": len(lines),
            "next_line": following,
            "files": files,
        },
    )


class RunArgs(BaseModel):
    name: str = Field(description="skill whose script is run")
    script: str = Field(description="file in the skill's scripts folder")
    args: list[str] = Field([], max_length=100, description="the script's arguments, one by one")

    @field_validator("args")
    @classmethod
    def _passable(cls, args: list[str]) -> list[str]:
        if any("\0" in each for each in args):
            raise ValueError("an argument cannot hold a NUL")
        return args


def _narrow_run(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the scripts of the skills whose instructions have been read."""
    known = {name for name, _ in _reads(situation)}
    skills = {skill.name: skill.scripts() for skill in _ranked(ctx, situation) if skill.name in known} if known else {}
    skills = {name: scripts for name, scripts in skills.items() if scripts}
    if not skills:
        raise NotNow("no skill with scripts has been read")
    given = schema["properties"]
    scripts = list(dict.fromkeys(script for each in skills.values() for script in each))
    narrowed = {"name": _one_of(list(skills), given["name"]), "script": _one_of(scripts, given["script"])}
    return {**schema, "properties": {**given, **narrowed}}


def _subject(args: RunArgs, ctx: ToolContext) -> str:
    """`name/script arguments`, quoted as in a shell; `workspace:` before a skill of the workspace, so that what is
    allowed to a skill of one's own is not allowed to one of the same name that came with a project."""
    skill = SkillLibrary(ctx.home, ctx.workspace).get(args.name)
    whose = "" if skill.origin == "home" else f"{skill.origin}:"
    return whose + shlex.join([f"{skill.name}/{skill.script(args.script)}", *args.args])


async def _which(args: RunArgs, ctx: ToolContext) -> str:
    skill, script = await asyncio.to_thread(_script_of, args, ctx)
    return f"It is {skill.folder / 'scripts' / script}, of the {skill.origin}."


@tool(
    "skill.run",
    effect=Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.PROGRAMS,),
    ask=True,
    subject=_subject,
    preview=_which,
    narrow=_narrow_run,
)
async def skill_run(args: RunArgs, ctx: ToolContext) -> ToolResult:
    """Run a script of a skill, in the workspace.

    It gets no input, no secrets, and 105 s; what it leaves running is ended. ok: it ended with code 0. data: {name,
    origin, script, code: null if the deadline ended it}.
    """
    skill, script = await asyncio.to_thread(_script_of, args, ctx)
    path = skill.folder / "scripts" / script
    finished = await run_program(
        [*_interpreter(path), str(path), *args.args],
        cwd=Workspace(ctx.workspace).root,
        deadline_s=_SCRIPT_S,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
        output_bytes=_OUTPUT_BYTES,
    )
    if finished.code is None:
        ended = f"did not end within {_SCRIPT_S:g} s and was stopped"
    else:
        ended = f"ended with code {finished.code}"
    output = finished.output.rstrip() or "(no output)"
    return ToolResult(
        ok=finished.code == 0,
        text=f"{skill.name}/{script} {ended}\n{output}",
        data={"name": skill.name, "origin": skill.origin, "script": script, "code": finished.code},
    )


def _script_of(args: RunArgs, ctx: ToolContext) -> tuple[Skill, str]:
    skill = SkillLibrary(ctx.home, ctx.workspace).get(args.name)
    return skill, skill.script(args.script)


def _interpreter(path: Path) -> list[str]:
    """What the suffix names; nothing where the file says it itself, in its first line, and may be executed."""
    names = _INTERPRETERS.get(path.suffix.lower(), ())
    for name in names:
        if found := shutil.which(name):
            return [found]
    if names:
        raise ToolError(f"{path.name} needs {names[0]}, which is not installed", hint=f"install {names[0]}")
    with path.open("rb") as file:
        if file.read(2) == b"#!" and os.access(path, os.X_OK):
            return []
    known = ", ".join(_INTERPRETERS)
    raise ToolError(
        f"it is not known how {path.name} is run",
        hint=f"name it {known}; or begin it with #! and make it executable",
    )


def _ranked(ctx: ToolContext, situation: Situation) -> list[Skill]:
    """Every skill that may be offered, the ones that bear on the request before the others."""
    usable = SkillLibrary(ctx.home, ctx.workspace).usable()
    first = bearing(usable, "\n".join([situation.request, *situation.goals]))
    return [*first, *(each for each in usable if each not in first)]


def _reads(situation: Situation) -> dict[tuple[str, str], int | None]:
    """What was read in this turn, by skill and file: the line to read on with, None where it was read to its end."""
    results = (*situation.earlier, *situation.results)
    read = [each["data"] for each in results if each["tool"] == "skill.read" and "next_line" in each["data"]]
    return {(data["name"], data["file"]): data["next_line"] for data in read}


def _one_of(values: list[str], given: Schema) -> Schema:
    return {"type": "string", "enum": values, "description": given["description"]}
