"""`--json`: every command that gives a result has it, and prints what `echelon schema` says, and nothing else."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import click
import jsonschema
import pytest
import yaml
from fake_adb import fake_adb, prints

from echelon.cli import COMMANDS, echelon
from echelon.output.loop import LoopProgress
from echelon.output.shape import Status
from echelon.output.shapes import BY_LINE, SHAPES, json_schema
from echelon.phone_options import TaskGroup
from gateway.engine import lease, state
from gateway.loop.report import ProgressReport
from gateway.tools.memories import Memories

from .conftest import WORKSPACE, Cli, clarify, complete, remember

TALKS = {"chat", "mcp", "models serve", "serve"}  # they go on until they are ended, and have no result
TELLS_AND_GOES_ON = {"simphone start"}  # tests/integration/simphone has it
SKILL = "---\nname: heron\ndescription: Knows the heron – 苍鹭.\n---\n\n# Heron\n"
PATTERN = "---\ntask_type: release\ndescription: make a release\nmax_steps: 3\n---\n1. CALL file.raed\n"
SUITE = {
    "name": "small",
    "requests": [
        {"id": id, "type": type, "judge": {"response": [word]}, "wordings": ["Say hello"]}
        for id, type, word in (("done", "memory_op", "Hello"), ("not", "research+memory_op", "Goodbye"))
    ],
}


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that is no group, by its whole name; a task beside commands has the group's."""
    if isinstance(command, TaskGroup):
        yield " ".join(path), command.task
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, (*path, name))
    else:
        yield " ".join(path), command


EVERY = dict(leaves(echelon))


def told(ended: subprocess.CompletedProcess[str], command: str, code: int = 0) -> Any:
    """What the command printed: valid by its own schema, each line where it prints lines."""
    assert ended.returncode == code, ended.stderr
    lines = ended.stdout.splitlines()
    assert command in BY_LINE or len(lines) == 1, ended.stdout
    found = [json.loads(line) for line in lines]
    for each in found:
        jsonschema.validate(each, json_schema(command), cls=jsonschema.Draft202012Validator)
    return found if command in BY_LINE else found[0]


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object with keys of its own, wherever in it."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for each in schema.values():
            yield from objects(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from objects(each)


class Lived(Cli):
    """A home in which something of everything was done: two turns, a failed one, one that waits, a skill, a pattern."""

    def live(self) -> None:
        for _ in range(2):
            assert self.run("Remember the heron", *remember()).returncode == 0
        Memories(self.home).save("heron", "The heron is grey.", session="default", turn=1, now=0.0, otherwise="")
        refusing = self.script({"error": "ModelRefused"})
        assert self("run", "Fail", "--session", "bad", "--model", refusing).returncode == 5
        asking = self.script(clarify(), complete("Heron it is."), name="asking.yaml")
        assert self("run", "Deploy", "--session", "ask", "--model", asking).returncode == 6
        skill = self.home / "skills/heron/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(SKILL, encoding="utf-8")
        (self.folder / "release.md").write_text(PATTERN)
        (self.folder / "pages").mkdir()
        (self.folder / "pages/index.html").write_text("<p>Hello")
        (self.folder / "suite.yaml").write_text(yaml.safe_dump(SUITE))

    def loop(self, *, executing: bool) -> None:
        """An autonomous session that has reached its limit, or looks as if this process worked on it."""
        arguments = ("--agent", "command:true", "--max-iterations", "2", "--checkpoint-every", "1")
        ended = self("loop", "start", "Mend it", "--exit", "command:false", *arguments, "--workspace", WORKSPACE)
        assert ended.returncode == 3, ended.stderr
        if executing:
            with closing(sqlite3.connect(self.home / "echelon.db", isolation_level=None)) as db:
                db.execute("UPDATE runs SET status = 'running' WHERE graph = 'loop'")
                db.execute("UPDATE leases SET owner = ?, until = 1e12", (f"{lease.this_process()}:lived",))

    def id(self, session: str) -> str:
        found: str = json.loads(self("turns", "list", "--session", session, "--json").stdout)[0]["run"]
        return found


@pytest.fixture
def lived(echelon_home: Path, tmp_path: Path) -> Iterator[Lived]:
    started = Lived(echelon_home, tmp_path)
    started.live()
    yield started
    started.close()


@pytest.fixture
def pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull that says so, and downloads nothing."""
    from gateway.llm.local import pull

    def instead(name: str, home: Path, progress: Any) -> Path:
        progress(pull.PullProgress("done", 1, 1))
        return home / f"models/{name}.gguf"

    monkeypatch.setattr(pull, "pull", instead)


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An adb server with a phone of few words."""
    answers = {"host:devices-l": "S1 device model:Pixel_6", "host-serial:S1:features": "shell_v2"}
    with fake_adb({**answers, "shell,v2,raw:": prints(b"14\n")}) as adb:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", adb.address)
        yield


def test_every_command_that_gives_a_result_has_json_and_a_declared_shape() -> None:
    has = {name for name, command in EVERY.items() if any(each.name == "as_json" for each in command.params)}
    assert has == set(EVERY) - TALKS == set(SHAPES)
    assert {name.split()[0] for name in EVERY} == set(COMMANDS)


@pytest.mark.parametrize("command", SHAPES)
def test_a_shape_has_all_its_keys_and_no_others_and_says_what_they_are(command: str) -> None:
    schema = json_schema(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    for each in objects(schema):
        assert each["additionalProperties"] is False
        assert set(each["required"]) == set(each["properties"])
        assert each["description"]


def test_a_status_is_one_of_the_engines_or_interrupted() -> None:
    assert set(get_args(Status)) == {*state.Status, "interrupted"}


def test_a_report_on_a_session_has_what_the_gateway_says() -> None:
    elsewhere = {"question": "waiting", "folder": "document"}
    assert {elsewhere.get(name, name) for name in ProgressReport.model_fields} == set(LoopProgress.model_fields)


EMPTY = ("turns list", "sessions list", "runs list", "loop list", "skills list", "memory list")


@pytest.mark.parametrize("command", EMPTY)
def test_where_there_is_nothing_the_list_is_empty(cli: Cli, command: str) -> None:
    assert told(cli(*command.split(), "--json"), command) == []


LOOPED = ("--exit", "command:true", "--agent", "command:true", "--workspace", WORKSPACE)
CASES: list[tuple[str, Sequence[str], int, dict[str, Any]]] = [
    ("run", ("Hi", "--model", "scripted:asking.yaml"), 6, {"status": "waiting_for_user", "response": None}),
    ("turns list", (), 0, {}),
    ("turns show", ("2", "--session", "default"), 0, {"turn": 2, "status": "complete"}),
    ("turns show", ("1", "--session", "bad"), 0, {"status": "failed", "results": []}),
    ("turns diff", ("1", "2", "--session", "default"), 0, {"identical": False, "first": 1, "second": 2}),
    ("turns diff", ("1", "1", "--session", "default"), 0, {"identical": True, "lines": []}),
    ("sessions list", (), 0, {}),
    ("sessions title", ("ask", " 苍鹭 "), 0, {"session": "ask", "title": "苍鹭"}),
    ("sessions forget", ("bad", "--yes"), 0, {"session": "bad", "turns": 1}),
    ("runs list", (), 0, {}),
    ("runs show", ("last",), 0, {"status": "waiting_for_user", "question": "Which server?", "children": []}),
    ("runs answer", ("last", "heron"), 0, {"status": "complete", "response": "Heron it is."}),
    ("runs events", ("last",), 0, {}),
    ("runs resume", ("last", "--no-input"), 6, {"waiting": {"question": "Which server?", "deadline": None}}),
    ("runs cancel", ("last",), 0, {"cancelled": True}),
    ("runs replay", ("last",), 0, {"identical": True, "differing": [], "event": None}),
    ("runs graph", (), 0, {"name": "turn", "start": "Gather"}),
    ("patterns list", (), 0, {}),
    ("patterns show", ("memory_op",), 0, {"task_type": "memory_op", "available": True}),
    ("patterns check", (), 0, {"problems": []}),
    ("patterns check", ("release.md",), 2, {"files": ["release.md"]}),
    ("recipes list", (), 0, {}),
    ("recipes show", ("planner",), 0, {"name": "planner", "usable": True}),
    ("recipes check", (), 0, {"problems": []}),
    ("tools list", (), 0, {}),
    ("tools show", ("file.edit",), 0, {"name": "file.edit", "can_be_undone": True}),
    ("tools call", ("file.list", "--workspace", WORKSPACE), 0, {"session": "tools", "status": "complete"}),
    (
        "tools call",
        ("file.read", '{"path": "no"}', "--workspace", WORKSPACE),
        1,
        {"result": {"data": {"error": "tool"}}},
    ),
    ("skills list", (), 0, {}),
    ("skills show", ("heron",), 0, {"text": SKILL, "problems": [], "origin": "home"}),
    ("skills versions", ("heron",), 0, {}),
    ("skills restore", ("heron", "1"), 0, {"skill": "heron", "version": 1, "former": 1}),
    ("memory list", (), 0, {}),
    ("memory search", ("heron",), 0, {}),
    ("memory forget", ("heron", "--yes"), 0, {"key": "heron", "erased": True}),
    ("eval", ("suite.yaml", "--folder", "out", "--model", "scripted:hello.yaml"), 1, {"suite": "small"}),
    ("models list", (), 0, {}),
    ("models pull", ("smollm2-135m",), 0, {"name": "local/smollm2-135m"}),
    ("models remove", ("smollm2-135m",), 0, {"name": "local/smollm2-135m", "freed": 0}),
    ("phone", ("Hi", "--model", "scripted:hello.yaml"), 4, {"status": "failed", "task": "Hi", "steps": 0}),
    ("phone devices", (), 0, {}),
    ("phone doctor", (), 4, {}),
    ("loop start", ("Mend it", *LOOPED), 0, {"status": "completed", "met": 1, "of": 1, "percentage": 2, "error": None}),
    ("loop list", (), 0, {}),
    ("loop status", ("last",), 0, {"status": "iteration_limit_reached", "stop_reason": "budget:iterations", "met": 0}),
    ("loop watch", ("last",), 3, {}),
    ("loop extend", ("last", "--max-iterations", "9"), 0, {"iterations": 9, "time_s": None}),
    ("loop pause", ("last",), 0, {"ordered": "pause", "status": "executing"}),
    ("loop stop", ("last",), 0, {"ordered": "stop", "status": "stopped"}),
    ("loop resume", ("last", "--from", "1"), 3, {"iteration": 2, "status": "iteration_limit_reached"}),
    ("loop checkpoints", ("last",), 0, {}),
    ("loop checkpoints", ("last", "1"), 0, {"number": 1, "iteration": 1, "conditions": {"command:false": False}}),
    ("loop exits", ("last",), 0, {"exits": ["command:false"]}),
    ("simphone apps", (), 0, {}),
    ("simphone pack", ("pages", "a.simapk"), 0, {"file": "a.simapk", "package": "org.simphone.app.pages"}),
    ("simphone faults", (), 0, {}),
    ("doctor", ("--model", "scripted:hello.yaml"), 0, {}),
    ("schema", (), 0, {}),
    ("schema", ("runs", "events"), 0, {"title": "EventRow"}),
]


def test_every_command_is_tried() -> None:
    assert {command for command, *_ in CASES} == set(SHAPES) - TELLS_AND_GOES_ON


@pytest.mark.parametrize(
    ("command", "arguments", "code", "has"), CASES, ids=[" ".join((each[0], *each[1])) for each in CASES]
)
@pytest.mark.usefixtures("pulled", "phone")
def test_what_a_command_prints_is_what_its_schema_says(
    lived: Lived, command: str, arguments: Sequence[str], code: int, has: dict[str, Any]
) -> None:
    lived.script(*([complete()] * 9), name="hello.yaml")
    if command.startswith("loop"):
        lived.loop(executing=command == "loop pause")
    found = told(lived(*command.split(), *arguments, "--json"), command, code)
    assert isinstance(found, list) == bool(not has and command != "schema")
    assert found
    for key, value in has.items():
        if isinstance(value, dict):
            assert found[key].items() >= value.items()
        else:
            assert found[key] == value


def test_a_turn_that_failed_is_a_result(cli: Cli) -> None:
    failed = cli("run", "Hi", "--model", cli.script({"error": "ModelUnavailable"}), "--json")
    outcome = told(failed, "run", 5)
    assert (outcome["status"], outcome["stop_reason"]) == ("failed", "error:model_unavailable")
    assert outcome["error"] and outcome["response"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("runs", "show", "zzz"), 2, "no run with an id"),
        (("turns", "diff", "1", "2"), 2, "no turn"),
        (("sessions", "forget", "work"), 2, "there is no session 'work'"),
        (("patterns", "check", "nowhere.md"), 2, "cannot be read"),
        (("models", "pull", "nonsense"), 2, "nonsense"),
        (("run", "Hi", "--task-type", "dance", "--model", "scripted:x"), 2, "dance"),
        (("schema", "turns lst"), 2, "Did you mean turns list?"),
        (("schema", "chat"), 2, "no command 'chat' has --json"),
    ],
)
def test_an_error_goes_to_stderr_and_nothing_to_stdout(
    cli: Cli, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = cli(*arguments, "--json")
    assert (ended.returncode, ended.stdout) == (code, "")
    assert "error: " in ended.stderr and said in ended.stderr


def test_a_turn_comes_with_the_file_that_was_asked_for(lived: Lived) -> None:
    for more, file in (
        ((), "context.md"),
        (("--pack", "2"), "packs/02-task_executor.md"),
        (("--result", "2"), "results/02-memory.save.json"),
    ):
        turn = told(lived("turns", "show", "1", "--session", "default", *more, "--json"), "turns show")
        path = Path(turn["context"]).parent / file
        assert (turn["file"], turn["document"]) == (str(path), path.read_text())
        assert all((path.parents[1 if more else 0] / "packs" / name).exists() for name in turn["packs"])
        assert turn["results"] == ["01-memory.search.json", "02-memory.save.json"]


def test_a_replay_says_which_file_and_which_event_differ(lived: Lived) -> None:
    run, context = lived.id("default"), lived.home / "turns/default/0002/context.md"
    whole = told(lived("runs", "replay", run, "--json"), "runs replay")
    assert (whole["run"], whole["decisions"], whole["files"], whole["finished"]) == (run, 9, 1, True)
    context.write_text(context.read_text().replace("saved", "lost"))
    changed = told(lived("runs", "replay", run, "--json"), "runs replay", 1)
    assert (changed["identical"], changed["differing"]) == (False, [str(context)])


def test_a_decision_that_is_not_the_same_is_named(lived: Lived, monkeypatch: pytest.MonkeyPatch) -> None:
    from gateway import Gateway
    from gateway.errors import ReplayMismatch

    async def mismatch(self: Gateway, run_id: str) -> None:
        raise ReplayMismatch("Plan went elsewhere", seq=7)

    monkeypatch.setattr(Gateway, "replay", mismatch)
    outcome = told(lived("runs", "replay", "last", "--json"), "runs replay", 1)
    assert (outcome["event"], outcome["problem"], outcome["decisions"]) == (7, "Plan went elsewhere", None)
    assert lived("runs", "replay", "last").stdout == "different at event 7: Plan went elsewhere\n"


def test_problems_of_patterns_and_recipes_come_with_their_place(lived: Lived) -> None:
    found = told(lived("patterns", "check", "release.md", "--json"), "patterns check", 2)
    assert found["problems"] == [
        {
            "file": "release.md",
            "line": 6,
            "message": "there is no tool 'file.raed'. Did you mean file.read?",
            "suggestion": "file.read",
        }
    ]
    folder = lived.home / "recipes"
    folder.mkdir()
    (folder / "responder.yaml").write_text("name: [")
    checked = told(lived("recipes", "check", "--json"), "recipes check", 2)
    (problem,) = checked["problems"]
    assert (problem["recipe"], problem["file"]) == ("responder", str(folder / "responder.yaml"))
    assert "1: not YAML" in problem["message"]
    shown = lived("recipes", "show", "responder", "--json")
    assert told(shown, "recipes show", 2)["text"] == "name: [" and "not YAML" in shown.stderr


def test_what_is_broken_is_shown_all_the_same(lived: Lived) -> None:
    folder = lived.home / "prompts/patterns"
    folder.mkdir(parents=True)
    (folder / "release.md").write_text(PATTERN + "2. GO TO step 9\n")
    shown = lived("patterns", "show", "release", "--json")
    pattern = told(shown, "patterns show", 2)
    assert (pattern["available"], pattern["max_steps"]) == (False, None) and pattern["error"] in shown.stderr


def test_the_graph_is_the_one_that_is_drawn(cli: Cli) -> None:
    graph = told(cli("runs", "graph", "--json"), "runs graph")
    drawn = cli("runs", "graph").stdout
    for node in graph["nodes"]:
        assert all(f"    {node['name']} --> {target}\n" in drawn for target in node["targets"])
        assert (f"    {node['name']} --> stop((end))" in drawn) == node["ends"]


def test_the_schemas_are_listed_and_printed(cli: Cli) -> None:
    assert cli("schema").stdout.splitlines() == list(SHAPES)
    every = json.loads(cli("schema", "--json").stdout)
    for name in SHAPES:
        one = cli("schema", name)
        assert json.loads(one.stdout) == every[name] == json.loads(cli("schema", *name.split()).stdout)
        assert ("each line" in one.stderr) == (name in BY_LINE)
    assert every["turns list"]["type"] == "array"
