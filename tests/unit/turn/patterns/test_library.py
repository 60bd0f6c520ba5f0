from pathlib import Path

import pytest

from gateway.errors import PatternError
from gateway.toolbox import LOOP, PHONE
from gateway.tools.discovery import builtin_registry
from gateway.turn.patterns.check import check_pattern
from gateway.turn.patterns.cursor import MoveKind
from gateway.turn.patterns.decision import forced
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.library import PatternLibrary, Source

SHIPPED = Path(__file__).parents[4] / "prompts" / "patterns"
TOOLS = builtin_registry(None, *PHONE, *LOOP).names()


def written(folder: Path, name: str, *, description: str = "d", steps: str = "1. CALL a.b") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(f"---\ntask_type: {name}\ndescription: {description}\n---\n{steps}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", ["skill_build", "code_modify", "memory_op", "code_create", "research", "generic", "phone_navigation"]
)
def test_a_shipped_pattern_compiles_and_has_no_problems(name: str) -> None:
    library = PatternLibrary([Source("shipped", SHIPPED)])
    program = library.get(name)
    assert program.examples
    text = (SHIPPED / f"{name}.md").read_text(encoding="utf-8")
    undoable = ("file.edit", "file.write")
    assert check_pattern(text, file=name, tools=TOOLS, undoable=undoable) == ()


def test_the_shipped_skill_build_researches_only_what_an_earlier_task_has_not() -> None:
    program = PatternLibrary([Source("shipped", SHIPPED)]).get("skill_build")
    for ok, tool in ((False, "internet.research"), (True, "skill.generator")):
        scope = Scope(context={"results": [{"tool": "internet.research", "ok": ok}]})
        move, _ = program.moves(program.resolve(program.start(), scope), scope)
        assert move.tools == (tool,)
    assert program.moves(program.resolve(program.start(), Scope()), Scope())[0].tools == ("internet.research",)


def test_the_shipped_code_modify_begins_with_the_tests_without_asking_a_model() -> None:
    program = PatternLibrary([Source("shipped", SHIPPED)]).get("code_modify")
    moves = program.moves(program.resolve(program.start(), Scope()), Scope())
    found = forced(moves, {"test.run": {"type": "object", "properties": {"target": {}}}})
    assert found is not None
    assert found[1] == "test.run"


def test_a_users_file_comes_before_the_shipped_one(tmp_path: Path) -> None:
    mine = written(tmp_path / "user", "research", description="mine")
    written(tmp_path / "shipped", "research")
    written(tmp_path / "shipped", "other")
    folders = {"project": "none", "user": "user", "shipped": "shipped"}
    library = PatternLibrary([Source(origin, tmp_path / folder) for origin, folder in folders.items()])
    assert [(file.task_type, file.origin) for file in library] == [("other", "shipped"), ("research", "user")]
    assert next(file for file in library if file.origin == "user").path == mine
    assert library.get("research").description == "mine"


def test_a_broken_file_makes_its_type_unavailable_and_says_why(tmp_path: Path) -> None:
    written(tmp_path / "user", "broken", steps="1. CAL a.b")
    written(tmp_path / "user", "good")
    (tmp_path / "user" / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "user" / "folder.md").mkdir()
    written(tmp_path / "user", "named").rename(tmp_path / "user" / "renamed.md")
    written(tmp_path / "shipped", "broken")
    library = PatternLibrary([Source("user", tmp_path / "user"), Source("shipped", tmp_path / "shipped")])
    assert [program.task_type for program in library.available()] == ["good"]
    reasons = {"broken": "broken:5: expected CALL", "binary": "cannot be read", "folder": "cannot be read"}
    for task_type, reason in {**reasons, "renamed": "the task type is 'named'"}.items():
        with pytest.raises(PatternError, match=reason):
            library.get(task_type)


def test_an_unknown_task_type_gets_the_nearest(tmp_path: Path) -> None:
    written(tmp_path / "user", "research")
    with pytest.raises(PatternError, match="Did you mean research"):
        PatternLibrary([Source("user", tmp_path / "user")]).get("reserch")


def test_the_shipped_phone_navigation_gives_up_where_the_task_was_not_done() -> None:
    program = PatternLibrary([Source("shipped", SHIPPED)]).get("phone_navigation")
    move, _ = program.moves(program.start(), Scope())
    assert move.tools == ("phone.navigate",)
    for ok, end in ((True, MoveKind.DONE), (False, MoveKind.ESCALATE)):
        after = program.ran(program.take(program.start(), move), ok)
        assert program.resolve(after, Scope(({"ok": ok, "data": {}},))).end is end
