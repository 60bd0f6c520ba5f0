from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.registry import ToolContext
from gateway.tools.skills import versions as module
from gateway.tools.skills.versions import Versions


def saying(text: str) -> Callable[[int], bytes]:
    return lambda version: f"---\nname: lint\ndescription: d\nmetadata:\n  version: '{version}'\n---\n{text}\n".encode()


def numbers(versions: Versions) -> list[tuple[int, bool]]:
    return [(each.number, each.current) for each in versions.listed()]


def test_what_is_replaced_is_kept_and_can_be_put_back(ctx: ToolContext) -> None:
    versions = Versions(ctx.home, "lint")
    assert not versions.known()
    assert [versions.put(saying(text))[0] for text in ("one", "one", "two", "three")] == [1, 1, 2, 3]
    assert numbers(versions) == [(1, False), (2, False), (3, True)]
    assert [versions.read(number) for number in (1, 2, 3)] == [saying("one")(1), saying("two")(2), saying("three")(3)]
    assert versions.restore(1) == 3
    assert (ctx.home / "skills/lint/SKILL.md").read_bytes() == saying("one")(1)
    assert numbers(versions) == [(1, True), (2, False), (3, False)]
    assert versions.restore(1) == 1
    assert versions.put(saying("four"))[0] == 4, "a number is never used again"
    assert numbers(versions) == [(1, False), (2, False), (3, False), (4, True)]


def test_when_a_version_was_written_stays(ctx: ToolContext) -> None:
    versions = Versions(ctx.home, "lint")
    for text in ("one", "two"):
        versions.put(saying(text))
    written = [each.written for each in versions.listed()]
    versions.restore(1)
    assert [each.written for each in versions.listed()] == pytest.approx(written, abs=1e-3)


@pytest.mark.parametrize(("said", "number"), [("7", 7), ("1.3", 1), ("-2", 1), ("", 1), ("x" * 50, 1)])
def test_a_skill_that_people_wrote_is_kept_with_the_number_that_it_says(
    ctx: ToolContext, said: str, number: int
) -> None:
    file = ctx.home / "skills/lint/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nname: lint\ndescription: d\nmetadata:\n  version: '{said}'\n---\nBy hand.\n")
    versions = Versions(ctx.home, "lint")
    assert versions.put(saying("ours"))[0] == number + 1
    assert b"By hand." in versions.read(number)


def test_a_skill_that_was_deleted_can_be_put_back(ctx: ToolContext) -> None:
    versions = Versions(ctx.home, "lint")
    for text in ("one", "two"):
        versions.put(saying(text))
    (ctx.home / "skills/lint/SKILL.md").unlink()
    assert versions.restore(1) is None
    assert (ctx.home / "skills/lint/SKILL.md").read_bytes() == saying("one")(1)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".versions", "a\0", "-a", "a b"])
def test_a_name_that_is_a_path_is_refused(ctx: ToolContext, name: str) -> None:
    with pytest.raises(ToolError, match="is not a skill's name"):
        Versions(ctx.home, name)


def test_a_version_that_there_is_not_is_an_error_that_names_those_there_are(ctx: ToolContext) -> None:
    versions = Versions(ctx.home, "lint")
    versions.put(saying("one"))
    for call in (versions.read, versions.restore):
        with pytest.raises(ToolError, match="has no version 4") as caught:
            call(4)
        assert caught.value.hint == "there are: 1"


def test_who_waits_too_long_for_another_process_is_told(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr(module, "WAIT_S", 0.01)
    versions = Versions(ctx.home, "lint")
    versions.put(saying("one"))
    with FileLock(ctx.home / "skills/.versions/lint.lock"), pytest.raises(ToolError, match="by another process"):
        versions.put(saying("two"))
    assert numbers(versions) == [(1, True)]


WRITER = """
import sys
from pathlib import Path
from gateway.tools.skills.versions import Versions

for number in range(5):
    text = f"---\\nname: lint\\ndescription: d\\n---\\n{sys.argv[2]}{number}\\n"
    Versions(Path(sys.argv[1]), "lint").put(lambda version: text.encode())
"""


def test_two_processes_that_write_one_skill_at_once_keep_what_both_wrote(ctx: ToolContext) -> None:
    command = [sys.executable, "-c", WRITER, str(ctx.home)]
    started = [subprocess.Popen([*command, who]) for who in "ab"]
    assert [each.wait() for each in started] == [0, 0]
    versions = Versions(ctx.home, "lint")
    texts = [versions.read(each.number).decode().split()[-1] for each in versions.listed()]
    assert sorted(texts) == sorted(f"{who}{number}" for who in "ab" for number in range(5))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.one_of(st.sampled_from("abc"), st.integers(1, 5)), max_size=12))
def test_no_text_is_ever_lost_and_no_number_changes_its_text(
    tmp_path_factory: pytest.TempPathFactory, moves: list[str | int]
) -> None:
    versions = Versions(tmp_path_factory.mktemp("home"), "lint")
    known: dict[int, bytes] = {}
    for move in moves:
        if isinstance(move, str):
            number, document = versions.put(saying(move))
            assert known.setdefault(number, document) == document
        elif move in known:
            versions.restore(move)
            assert (versions._folder / "lint/SKILL.md").read_bytes() == known[move]
    assert {each.number: Path(each.path).read_bytes() for each in versions.listed()} == known
    assert sum(each.current for each in versions.listed()) == bool(known)
