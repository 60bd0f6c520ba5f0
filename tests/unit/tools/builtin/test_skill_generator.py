from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import skills_ref
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.engine.artifacts import MemoryArtifacts
from gateway.errors import OutsideWorkspace
from gateway.tools.builtin import skill_generator
from gateway.tools.builtin.skill_generator import SkillArgs
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult
from gateway.tools.skills.document import Passage, grounded, steps_of

Call = Callable[..., Awaitable[ToolResult]]

STEPS = ["1. Open a group", "- Create the tasks", "Let the block end"]
CODE = "async with g:\n    pass"
SOURCE = [
    {
        "title": "Tasks",
        "source": "lib/tasks.html#g",
        "heading": "Groups",
        "quote": "Groups wait\n\nfor all.",
        "code": "",
    },
    {
        "title": "Tasks",
        "source": "lib/tasks.html#e",
        "heading": "Tasks",
        "quote": f"So:\n\n```x```\n{CODE}",
        "code": CODE,
    },
]


def _args(**changed: Any) -> dict[str, Any]:
    usual = {"name": "task-groups", "description": "Run tasks together: when all must end.", "instructions": STEPS}
    return usual | {"source": SOURCE} | changed


async def test_a_skill_is_valid_and_quotes_its_sources_word_for_word(ctx: ToolContext, call: Call) -> None:
    result = await call("skill.generator", **_args())
    assert result.ok
    assert result.data["path"] == "skills/task-groups/SKILL.md"
    assert result.data["sources"] == ["lib/tasks.html#g", "lib/tasks.html#e"]
    folder = ctx.home / "skills" / "task-groups"
    assert skills_ref.validate(folder) == []
    assert skills_ref.read_properties(folder).description == "Run tasks together: when all must end."
    text = (folder / "SKILL.md").read_text()
    assert "1. Open a group\n2. Create the tasks\n3. Let the block end\n" in text
    assert all(each["quote"] in text and each["source"] in text for each in SOURCE)
    assert "## Example\n\nFrom Tasks (`lib/tasks.html#e`):\n\n```python\nasync with g:\n    pass\n```" in text
    assert "````text\nSo:\n\n```x```" in text, "a fence in a quote does not end it"


async def test_the_same_skill_again_is_the_same_and_another_is_a_version(ctx: ToolContext, call: Call) -> None:
    first = await call("skill.generator", **_args())
    assert await call("skill.generator", **_args()) == first
    old = (ctx.home / "skills/task-groups/SKILL.md").read_bytes()
    second = await call("skill.generator", **_args(source=[]))
    assert (first.data["version"], second.data["version"]) == (1, 2)
    assert await call("skill.generator", **_args(source=[])) == second
    assert (ctx.home / "skills/.versions/task-groups/1.md").read_bytes() == old
    assert [each.name for each in (ctx.home / "skills/task-groups").iterdir()] == ["SKILL.md"]


async def test_a_skill_that_is_not_valid_leaves_nothing_behind(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_generator, "render", lambda *args: b"no front matter")
    result = await call("skill.generator", **_args())
    assert not result.ok
    assert "must start with YAML frontmatter" in result.text
    assert not (ctx.home / "skills").exists()


def test_models_are_not_asked_for_sources(ctx: ToolContext, registry: Registry) -> None:
    schema = registry.get("skill.generator").schema(ctx, Situation("?"))
    assert list(schema["properties"]) == ["name", "description", "instructions"]
    assert "$defs" not in schema


def test_only_the_steps_are_asked_for_with_what_research_found(ctx: ToolContext, registry: Registry) -> None:
    found = {"tool": "internet.research", "args": {}, "ok": True, "text": "", "data": {"passages": SOURCE}}
    situation = Situation("I want a skill about task groups", ("make a skill of task groups",), (found,))
    properties = registry.get("skill.generator").schema(ctx, situation)["properties"]
    assert properties["name"] == {"const": "task-groups"}
    assert properties["description"] == {"const": "Use this skill for task groups: Groups, Tasks"}
    steps = properties["instructions"]
    assert steps["contentMediaType"] == "text/markdown"
    assert "````\nGroups:\nGroups wait\n\nfor all." in steps["description"], "a fence that no quote can close"
    assert "works with task groups: 3 to 5 numbered steps" in steps["description"]
    refused = {"tool": "skill.generator", "args": {}, "ok": False, "text": "too short", "data": {}}
    again = registry.get("skill.generator").schema(ctx, Situation("?", ("task groups",), (found, refused)))
    assert "The last try was refused: too short" in again["properties"]["instructions"]["description"]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "Here:\n\n1. **Open**: `open()`.\n2. Write\n   more.\n\n3) End",
            ["**Open**: `open()`.", "Write more.", "End"],
        ),
        ("- a b c\n  - d\n* e f g\n+ h i j", ["a b c", "d", "e f g", "h i j"]),
        ("no list at all", []),
    ],
)
def test_steps_are_taken_from_a_markdown_list(text: str, steps: list[str]) -> None:
    assert steps_of(text) == steps


def test_steps_with_names_that_no_source_has_are_left_out() -> None:
    source = [Passage(title="T", source="s", heading="tasks.Group", quote="Call create_task(x).", code="g.wait()")]
    steps = ["Make a `tasks.Group()`", "Use `create_task`", "End by `g.wait()` and `print(1)`", "Then `g.remove(x)`"]
    assert grounded(steps, source) == (steps[:3], ["remove"])
    assert grounded(steps[1:], source) == (steps[1:], []), "three are kept"
    assert grounded([*steps[2:], "Plain words"], source) == ([*steps[2:], "Plain words"], [])
    assert grounded(steps, []) == (steps, []), "there is nothing to hold them against"


async def test_steps_may_come_as_a_text(call: Call) -> None:
    assert (await call("skill.generator", **_args(instructions="1. Open it\n2. Use it\n3. Close it"))).ok
    with pytest.raises(ValidationError):
        SkillArgs(**_args(instructions="Open it."))


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Task Groups!", "task-groups"), ("--Été--2 ", "ete-2"), ("a" * 80, "a" * 64), ("x_y/../z", "x-y-z")],
)
def test_names_are_made_to_fit_the_standard(name: str, slug: str) -> None:
    assert SkillArgs(**_args(name=name)).name == slug


def test_a_name_without_letters_and_too_few_steps_are_refused() -> None:
    for wrong in ({"name": "!!"}, {"instructions": ["one step", "two steps"]}, {"description": "short"}):
        with pytest.raises(ValidationError):
            SkillArgs(**_args(**wrong))


WORDS = st.text(min_size=1, max_size=60)


@settings(deadline=None, max_examples=50)
@given(
    name=st.text(min_size=1, max_size=80),
    description=st.text(min_size=10, max_size=80),
    steps=st.lists(st.text(min_size=3, max_size=60), min_size=3, max_size=8),
    source=st.lists(st.fixed_dictionaries(dict.fromkeys(("title", "source", "heading", "quote", "code"), WORDS))),
)
async def test_whatever_a_skill_is_made_of_it_is_valid_and_cites_its_passages(
    name: str, description: str, steps: list[str], source: list[dict[str, str]]
) -> None:
    try:
        args = SkillArgs(name=name, description=description, instructions=steps, source=source)  # type: ignore[arg-type]
    except ValidationError:
        return  # nothing but white space, or no letter
    with tempfile.TemporaryDirectory() as folder:
        ctx = ToolContext(Path(folder), Path(folder), MemoryArtifacts())
        result = await skill_generator.skill_generator.run(args, ctx)
        assert result.ok, result.text
        written = Path(folder, "skills", args.name)
        assert skills_ref.validate(written) == []
        assert skills_ref.read_properties(written).metadata == {"version": "1"}
        text = (written / "SKILL.md").read_bytes().decode()
        assert all(each["quote"] in text for each in source)


async def test_a_version_has_its_number_in_the_front_matter_and_in_the_result(ctx: ToolContext, call: Call) -> None:
    for number in (1, 2, 3):
        result = await call("skill.generator", **_args(description=f"Run tasks together, try {number}."))
        assert result.data["version"] == number
        folder = ctx.home / "skills/task-groups"
        assert skills_ref.read_properties(folder).metadata == {"version": str(number)}
    assert "version 3" in result.text
    assert sorted(each.name for each in (ctx.home / "skills/.versions/task-groups").iterdir()) == ["1.md", "2.md"]


async def test_one_skill_written_many_times_at_once_loses_nothing(ctx: ToolContext, call: Call) -> None:
    made = [_args(description=f"Run tasks together, by {number}.") for number in range(6)]
    results = await asyncio.gather(*(call("skill.generator", **each) for each in made))
    assert sorted(each.data["version"] for each in results) == [1, 2, 3, 4, 5, 6]  # type: ignore[type-var]


async def test_a_skill_that_is_a_link_out_of_the_home_is_not_written_through(
    ctx: ToolContext, call: Call, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (ctx.home / "skills").mkdir()
    (ctx.home / "skills/task-groups").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideWorkspace):
        await call("skill.generator", **_args())
    assert list((tmp_path / "elsewhere").iterdir()) == []
