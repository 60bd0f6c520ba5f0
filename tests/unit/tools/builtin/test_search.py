from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.code.search import Search
from gateway.tools.registry import ToolContext, ToolResult
from gateway.tools.workspace import Workspace

RG = shutil.which("rg", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
Call = Callable[..., Awaitable[ToolResult]]

FILES = {
    "pager.py": "import os\n\n\ndef last_page(total):\n    return total // 10\n\n\ndef Go():\n    pass\n",
    "src/cart.py": "def total(xs):\n    return sum(xs)\n",
    "src/cart.ts": "function total() {}\n",
    "docs/notes.md": "The def of a page.\r\nSecond line\r\n",
    ".hidden/x.py": "def hidden(): ...\n",
    ".gitignore": "build/\n*.log\n!keep.log\n/docs/*.tmp\n",
    "build/out.py": "def built(): ...\n",
    "a.log": "def logged\n",
    "keep.log": "def kept\n",
    "docs/x.tmp": "def x\n",
    "src/x.tmp": "def y\n",
    ".git/config": "def z\n",
}


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


@pytest.fixture
def tree(ctx: ToolContext) -> Path:
    plant(ctx.workspace, FILES)
    return ctx.workspace


async def test_lines_are_found_by_file_and_number_without_what_is_ignored(call: Call, tree: Path) -> None:
    result = await call("file.search", pattern=r"def (\w+)")
    assert [(each["path"], each["line"]) for each in result.data["matches"]] == [
        ("keep.log", 1),
        ("pager.py", 4),
        ("pager.py", 8),
        ("docs/notes.md", 1),
        ("src/cart.py", 1),
        ("src/x.tmp", 1),
    ]
    assert result.data["total"] == 6 and result.data["files"] == 5 and result.data["complete"]
    assert "\npager.py\n4: def last_page(total):\n8: def Go():\n" in result.text
    nothing = await call("file.search", pattern="nowhere")
    assert not nothing.ok and nothing.text == "nothing was found in 6 files"


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        ({"globs": ["*.py"]}, ["pager.py", "src/cart.py"]),
        ({"globs": ["*.{py,ts}", "!pager.*"]}, ["src/cart.py", "src/cart.ts"]),
        ({"globs": ["src/**"]}, ["src/cart.py", "src/cart.ts", "src/x.tmp"]),
        ({"globs": ["!src/"]}, ["docs/notes.md", "keep.log", "pager.py"]),
        ({"globs": ["a.log"]}, ["a.log"]),
        ({"path": "./src/../src"}, ["src/cart.py", "src/cart.ts", "src/x.tmp"]),
        ({"path": "docs"}, ["docs/notes.md"]),
        ({"path": "build/out.py"}, ["build/out.py"]),
        ({"hidden": True, "globs": ["*.py"]}, [".hidden/x.py", "pager.py", "src/cart.py"]),
    ],
)
async def test_globs_paths_and_hidden_files(call: Call, tree: Path, args: dict[str, object], paths: list[str]) -> None:
    result = await call("file.search", pattern="def|function", **args)
    assert sorted({each["path"] for each in result.data["matches"]}) == paths


async def test_case_literal_text_and_context(call: Call, tree: Path) -> None:
    assert not (await call("file.search", pattern="go")).ok
    assert (await call("file.search", pattern="go", case="smart")).data["total"] == 1
    assert not (await call("file.search", pattern="GO", case="smart")).ok
    assert (await call("file.search", pattern="GO", case="insensitive")).ok
    assert (await call("file.search", pattern="xs)", literal=True)).data["total"] == 2
    context = await call("file.search", pattern="return", path="pager.py", context=1)
    assert context.text.endswith("pager.py\n4- def last_page(total):\n5:     return total // 10\n6- ")
    ends = await call("file.search", pattern=r"^Second line$")
    assert ends.data["matches"] == [{"path": "docs/notes.md", "line": 2, "text": "Second line"}]


async def test_what_is_shown_is_bounded_and_all_is_counted(ctx: ToolContext, call: Call) -> None:
    plant(ctx.workspace, {f"{n:02}.txt": "hit " * 2_000 + "\n" + "hit\n" * 99 for n in range(20)})
    result = await call("file.search", pattern="hit", max_lines=1_000)
    assert result.data["total"] == 2_000 and len(result.data["matches"]) == 1_000
    assert len(result.text) < 25_000
    few = await call("file.search", pattern="hit", max_lines=3)
    assert "… and 1997 more lines" in few.text


async def test_patterns_that_are_none_are_refused_and_none_takes_long(ctx: ToolContext, call: Call) -> None:
    for pattern in ("(", "(?=x)", r"(a)\1"):
        with pytest.raises(ToolError, match="not a regular expression"):
            await call("file.search", pattern=pattern)
    plant(ctx.workspace, {"a.txt": "a" * 200_000 + "!"})  # 2 ** 200000 ways to match it, for an engine that tries them
    assert not (await call("file.search", pattern="^(a+)+$")).ok
    assert (await call("file.search", pattern="(a*)*!")).ok


async def test_binary_wide_old_and_huge_files(ctx: ToolContext, call: Call) -> None:
    root = ctx.workspace
    (root / "a.bin.txt").write_bytes(b"needle\x00")
    (root / "wide.txt").write_bytes("﻿x\nnéedle needle\n".encode("utf-16"))
    (root / "old.txt").write_bytes("ä needle\r".encode("latin-1"))
    with (root / "huge.txt").open("wb") as file:
        file.truncate(100 << 20)  # no block of it is on the disk: read whole, it would still be 100 MB
    result = await call("file.search", pattern="é?.* needle")
    assert [(each["path"], each["line"]) for each in result.data["matches"]] == [("old.txt", 1), ("wide.txt", 2)]
    assert result.data["too_large"] == 1
    for tool, args in (
        ("file.read", {}),
        ("file.edit", {"old": "a", "new": "b"}),
        ("file.write", {"content": "x"}),
        ("file.write", {"content": "x", "append": True}),
    ):
        with pytest.raises(ToolError, match="larger than"):
            await call(tool, path="huge.txt", **args)
    assert (root / "huge.txt").stat().st_size == 100 << 20


async def test_what_may_not_be_read_is_not_shown(ctx: ToolContext, call: Call) -> None:
    plant(ctx.workspace, {"secrets/k.txt": "needle\n", "docs/d.txt": "needle\n", "a.txt": "needle\n"})
    (ctx.workspace / "link.txt").symlink_to("secrets/k.txt")
    rules = {"tools": {"policy": {"file.read": {"deny": ["secrets/*"]}, "file.search": {"deny": ["docs/*"]}}}}
    result = await call("file.search", settings=rules, pattern="needle")
    assert [each["path"] for each in result.data["matches"]] == ["a.txt"]
    assert result.data["withheld"] == 2
    assert not (await call("file.search", settings=rules, pattern="needle", path="link.txt")).ok


async def test_a_search_of_a_folder_above_does_not_pass_by_a_rule_that_asks(ctx: ToolContext, call: Call) -> None:
    plant(ctx.workspace, {"docs/d.txt": "needle\n", "a.txt": "needle\n"})
    rules = {"tools": {"policy": {"file.search": {"ask": ["docs", "docs/*"]}}}}
    result = await call("file.search", settings=rules, pattern="needle")
    assert [each["path"] for each in result.data["matches"]] == ["a.txt"]
    assert result.data["withheld"] == 1
    for path in ("docs", "docs/d.txt"):  # these are run only after somebody was asked
        assert (await call("file.search", settings=rules, pattern="needle", path=path)).ok
    everywhere = {"tools": {"approve": ["file.search"]}}
    assert (await call("file.search", settings=everywhere, pattern="needle")).data["files"] == 2


async def test_an_ignore_file_with_very_many_lines_is_obeyed(ctx: ToolContext, call: Call) -> None:
    rules = [f"some/folder-{number}/*.log{number}" for number in range(6_000)]
    rules[3] = "first.txt"
    rules[2_999:3_001] = ["*.md", "!kept.md"]
    rules[-1] = "last.txt"
    names = ("first.txt", "last.txt", "x.md", "kept.md", "other.txt", "some/folder-70/x.log70")
    plant(ctx.workspace, {".gitignore": "\n".join(rules), **dict.fromkeys(names, "needle\n")})
    result = await call("file.search", pattern="needle")
    assert [each["path"] for each in result.data["matches"]] == ["kept.md", "other.txt"]


@pytest.mark.parametrize("globs", [["{a,b}" * 20], ["{a}" * 2_000], ["*.py"] * 101, ["!"]])
async def test_globs_that_stand_for_very_many_or_for_none_are_refused(call: Call, tree: Path, globs: list[str]) -> None:
    with pytest.raises(ToolError, match="globs") as refused:
        await call("file.search", pattern="x", globs=globs)
    assert refused.value.hint


async def test_the_search_stays_inside(ctx: ToolContext, call: Call) -> None:
    (ctx.home / "x.txt").write_text("needle")
    (ctx.workspace / "out").symlink_to(ctx.home)
    (ctx.workspace / "x.txt").symlink_to(ctx.home / "x.txt")
    assert not (await call("file.search", pattern="needle", hidden=True)).ok
    for path in ("out", "../home", "x.txt"):
        with pytest.raises(OutsideWorkspace):
            await call("file.search", pattern="needle", path=path)


def found(root: Path, pattern: str = "x", **options: object) -> set[str]:
    return {each.path for each in Search(Workspace(root), pattern, hidden=True, **options).run()}  # type: ignore[arg-type]


names = st.sampled_from(["a", "b", "a.py", "keep", "c d"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
rules = st.lists(
    st.builds(
        lambda negated, anchored, parts, folder: f"{negated}{anchored}{'/'.join(parts)}{folder}",
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", "/", "**/"]),
        st.lists(st.sampled_from(["a", "b", "*.py", "*", "keep", "a*", "**", "[ab]", "c\\ d"]), min_size=1, max_size=2),
        st.sampled_from(["", "", "/"]),
    ),
    max_size=4,
)


@given(st.sets(paths, max_size=8), rules, rules)
def test_what_is_ignored_is_what_git_ignores(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], above: list[str], below: list[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in sorted(files):
        if not any((root / parent).is_file() for parent in Path(name).parents) and not (root / name).is_dir():
            plant(root, {name: "x\n"})
    plant(root, {".gitignore": "\n".join(above)})
    if (root / "a").is_dir():
        plant(root, {"a/.gitignore": "\n".join(below)})
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = {each for each in listed.stdout.split("\0") if each and not each.endswith(".gitignore")}
    assert {each for each in found(root) if not each.endswith(".gitignore")} == expected
    shutil.rmtree(root)


@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
@given(
    st.lists(st.text("abAB é_-\n", max_size=20), min_size=1, max_size=3),
    st.sampled_from(
        [r"a+b", r"^a", r"b$", r"\ba", r"[^a]b", r"a\s+b", r"(?i)ab", r"é.", r"^$", r"a|B", r"\w-\w", "x*"]
    ),
    st.sampled_from(["sensitive", "insensitive", "smart"]),
)
def test_lines_are_those_that_ripgrep_finds(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], pattern: str, case: str
) -> None:
    if "\\" in pattern:  # RE2's classes are about ASCII
        texts = [each.replace("é", "e") for each in texts]
    root = tmp_path_factory.mktemp("lines")
    plant(root, {f"{number}.txt": text for number, text in enumerate(texts)})
    option = {"sensitive": "-s", "insensitive": "-i", "smart": "-S"}[case]
    command = [str(RG), "--no-config", "--no-heading", "--line-number", "--sort=path", option, "-e", pattern, "."]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    expected = re.findall(r"^\./(\d\.txt):(\d+):", shown.stdout, re.MULTILINE)
    search = Search(Workspace(root), pattern, case=case)
    assert [(each.path, str(number)) for each in search.run() for number in each.numbers] == expected
    shutil.rmtree(root)
