from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import skills_ref

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.registry import ToolContext
from gateway.tools.skills import index
from gateway.tools.skills.library import WORKSPACE_FOLDERS, SkillLibrary
from gateway.tools.skills.skill import MAX_BYTES, MAX_FRONT_MATTER, Facts, Skill

Make = Callable[..., Path]


def library(ctx: ToolContext) -> SkillLibrary:
    return SkillLibrary(ctx.home, ctx.workspace)


def problems(ctx: ToolContext, name: str) -> str:
    return "; ".join(next(skill for skill in library(ctx) if skill.name == name).facts.problems)


def test_there_may_be_none(ctx: ToolContext, tmp_path: Path) -> None:
    assert list(library(ctx)) == list(SkillLibrary(tmp_path / "no", tmp_path / "where")) == []
    assert not (ctx.home / "cache").exists()


def test_they_are_found_in_the_home_and_in_every_folder_of_the_workspace(ctx: ToolContext, make: Make) -> None:
    for number, folder in enumerate(WORKSPACE_FOLDERS):
        make(ctx.workspace / folder, f"w{number}")
    make(ctx.home / "skills", "mine", "Does mine.")
    make(ctx.home / "skills" / ".versions", "hidden")
    (ctx.workspace / "skills/no_skill").mkdir()
    assert [(skill.name, skill.origin) for skill in library(ctx)] == [
        ("mine", "home"), ("w0", "workspace"), ("w1", "workspace"), ("w2", "workspace"), ("w3", "workspace")
    ]  # fmt: skip
    assert library(ctx).get("mine").facts == Facts("Does mine.")
    assert all(skill.usable for skill in library(ctx))


def test_one_of_the_workspace_shadows_one_of_the_home(ctx: ToolContext, make: Make) -> None:
    home, other = make(ctx.home / "skills", "lint"), make(ctx.workspace / "skills", "lint")
    first = make(ctx.workspace / ".agents/skills", "lint")
    found = library(ctx)
    assert found.get("lint").folder == first
    assert [(skill.folder, skill.shadowed_by) for skill in found] == [(first, None), (other, first), (home, first)]
    assert [skill.folder for skill in found.usable()] == [first]


def test_one_that_is_not_valid_shadows_nothing(ctx: ToolContext, make: Make) -> None:
    home = make(ctx.home / "skills", "lint")
    (make(ctx.workspace / "skills", "lint") / "SKILL.md").write_text("no front matter")
    assert library(ctx).get("lint").folder == home


def test_a_home_in_the_workspace_is_the_home(ctx: ToolContext, make: Make) -> None:
    home = ctx.workspace / ".echelon"
    make(home / "skills", "lint")
    assert [skill.origin for skill in SkillLibrary(home, ctx.workspace)] == ["home"]


def test_a_skill_that_two_folders_share_by_a_link_is_one(ctx: ToolContext, make: Make) -> None:
    folder = make(ctx.workspace / ".agents/skills", "lint")
    (ctx.workspace / ".claude/skills").mkdir(parents=True)
    (ctx.workspace / ".claude/skills/lint").symlink_to(folder)
    assert [skill.folder for skill in library(ctx)] == [folder]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no front matter", "must start with YAML frontmatter"),
        (b"---\nname: bad\n", "not properly closed"),
        (b"---\nname: bad\n---\n", "Missing required field in frontmatter: description"),
        (b"---\nname: other\ndescription: d\n---\n", "Directory name 'bad' must match skill name 'other'"),
        (b"---\nname: ../bad\ndescription: d\n---\n", "invalid characters"),
        (b"---\nname: bad\ndescription: d\nmodel: x\n---\n", "Unexpected fields in frontmatter: model"),
        (b"---\nname: bad\ndescription: [\n---\n", "Invalid YAML"),
        (b"---\nname: bad\ndescription: " + b"[" * 5_000 + b"\n---\n", ""),
        (b"---\nname: bad\ndescription: \x07\n---\n", ""),
        (b"---\nname: bad\ndescription: " + b"d" * MAX_FRONT_MATTER + b"\n---\n", "the front matter is longer"),
        (b"---\nname: bad\ndescription: d\n---\n" + b"x" * MAX_BYTES, "larger than"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe\0", "is not UTF-8 text"),
    ],
)
def test_one_that_is_not_valid_is_listed_with_the_reason(ctx: ToolContext, content: bytes, said: str) -> None:
    file = ctx.home / "skills/bad/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert problems(ctx, "bad") and said in problems(ctx, "bad")
    assert library(ctx).usable() == []
    with pytest.raises(ToolError, match="the skill bad is not valid: "):
        library(ctx).get("bad")


def test_what_is_no_file_or_leads_out_is_listed_with_the_reason(ctx: ToolContext, make: Make, tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "far")
    skills = ctx.home / "skills"
    for name in ("empty", "folder/SKILL.md", "pipe", "far-file", "loop"):
        (skills / name).mkdir(parents=True)
    os.mkfifo(skills / "pipe/SKILL.md")
    (skills / "far-file/SKILL.md").symlink_to(outside / "SKILL.md")
    (skills / "loop/SKILL.md").symlink_to(skills / "loop/SKILL.md")
    (skills / "far").symlink_to(outside)
    assert {skill.name: skill.usable for skill in library(ctx)} == dict.fromkeys(
        ("empty", "far", "far-file", "folder", "loop", "pipe"), False
    )
    assert "there is no SKILL.md" in problems(ctx, "empty")
    assert "link out of the home" in problems(ctx, "far")
    assert "link out of the skill's folder" in problems(ctx, "far-file")
    assert "not a file that can be read" in problems(ctx, "folder") and "not a file" in problems(ctx, "pipe")
    assert problems(ctx, "loop")


def test_what_is_valid_is_what_the_reference_library_says(ctx: ToolContext, make: Make) -> None:
    for name in ("fine", "x" * 64, "名前", "Upper", "-edge", "two--dashes", "under_score", "y" * 65):
        make(ctx.home / "skills", name)
    for skill in library(ctx):
        assert bool(skill.facts.problems) == bool(skills_ref.validate(skill.folder)), skill.name


def test_the_nearest_name_is_told(ctx: ToolContext, make: Make) -> None:
    make(ctx.home / "skills", "lint")
    with pytest.raises(ToolError, match=r"no skill 'lnit'\. Did you mean lint\?") as caught:
        library(ctx).get("lnit")
    assert caught.value.hint == "there are: lint"


def test_what_was_examined_is_not_examined_again_until_it_changes(
    ctx: ToolContext, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined: list[str] = []
    really = index.examine

    def examine(folder: Path) -> Facts:
        examined.append(folder.name)
        return really(folder)

    monkeypatch.setattr(index, "examine", examine)
    for name in ("a", "b"):
        make(ctx.home / "skills", name)
    first = list(library(ctx))
    assert list(library(ctx)) == first and examined == ["a", "b"]
    make(ctx.home / "skills", "a", "Is new.")
    assert library(ctx).get("a").facts.description == "Is new." and examined == ["a", "b", "a"]


@pytest.mark.parametrize(
    "kept", [b"", b"{", b"[]", b'{"made_by": 1}', b'{"skills": {"x": 1}, "made_by": [1, "0.1.1"]}']
)
def test_an_index_that_is_damaged_is_made_anew(ctx: ToolContext, make: Make, kept: bytes) -> None:
    make(ctx.home / "skills", "lint")
    (ctx.home / "cache").mkdir()
    (ctx.home / "cache/skills.json").write_bytes(kept)
    assert library(ctx).get("lint").usable
    assert (ctx.home / "cache/skills.json").read_bytes() != kept


def test_an_index_that_cannot_be_written_costs_nothing_else(ctx: ToolContext, make: Make) -> None:
    make(ctx.home / "skills", "lint")
    (ctx.home / "cache").write_text("in the way")
    assert library(ctx).get("lint").usable


def test_files_of_a_skill_are_read_and_nothing_else(ctx: ToolContext, make: Make, tmp_path: Path) -> None:
    folder = make(
        ctx.home / "skills", "lint", files={"references/a.md": "A", "scripts/x.py": "", "assets/n/b.txt": "B"}
    )
    (tmp_path / "secret").write_text("s")
    (folder / "references/out.md").symlink_to(tmp_path / "secret")
    (folder / "out").symlink_to(tmp_path)
    skill = library(ctx).get("lint")
    assert skill.files() == ["SKILL.md", "assets/n/b.txt", "references/a.md", "scripts/x.py"]
    assert skill.read("references/a.md") == skill.read("./assets/../references/a.md") == b"A"
    for path in ("references/out.md", "out/secret", "../../skills", "/etc/passwd", "../lint2/SKILL.md"):
        with pytest.raises(OutsideWorkspace, match="leads out of the skill lint"):
            skill.read(path)
    with pytest.raises(ToolError, match=r"has no file b\.md"):
        skill.read("b.md")


def test_a_script_is_one_of_the_scripts_folder(ctx: ToolContext, make: Make) -> None:
    folder = make(ctx.home / "skills", "lint", files={"scripts/x.py": "", "scripts/in/y.sh": "", "lib/z.py": ""})
    (folder / "scripts/z.py").symlink_to(folder / "lib/z.py")
    skill: Skill = library(ctx).get("lint")
    assert skill.scripts() == ["in/y.sh", "x.py"]
    assert skill.script("x.py") == skill.script("scripts/x.py") == skill.script("in/../x.py") == "x.py"
    for wrong in ("../SKILL.md", "z.py", "../lib/z.py", "/bin/sh", "../../other/scripts/x.py"):
        with pytest.raises(OutsideWorkspace):
            skill.script(wrong)
    for missing in ("no.py", "in"):
        with pytest.raises(ToolError, match="has no script"):
            skill.script(missing)
