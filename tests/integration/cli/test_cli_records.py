"""`echelon turns` and `echelon runs`: reading, comparing and replaying what was done."""

from __future__ import annotations

import json
import subprocess

from .conftest import Cli, complete, remember


def test_without_turns_there_is_an_empty_list(cli: Cli) -> None:
    assert json.loads(cli("turns", "list", "--json").stdout) == []
    missing = cli("turns", "show")
    assert missing.returncode == 2 and "turns list" in missing.stderr
    missing = cli("runs", "show", "last")
    assert missing.returncode == 2 and "there is no run yet" in missing.stderr


def test_turns_are_listed_and_shown(cli: Cli) -> None:
    assert cli.run("Remember the heron", *remember()).returncode == 0
    assert "Remember the heron" in cli("turns", "list").stdout
    whole = cli("turns", "show", "last").stdout
    assert whole == (cli.home / "turns/default/0001/context.md").read_text()
    assert "## §4 Execution" in whole
    pack = cli("turns", "show", "1", "--pack", "2").stdout
    assert pack.startswith("# Pack task_executor") and "| **total** |" in pack and "## system" in pack
    result = cli("turns", "show", "--result", "2").stdout
    assert result.startswith('memory.save {"text": "Remember the heron"} · ok\n\nremembered: ')
    raw = json.loads(cli("turns", "show", "--result", "2", "--raw").stdout)
    assert raw["tool"] == "memory.save"


def test_what_a_turn_does_not_have_is_said(cli: Cli) -> None:
    cli.run("Hi", complete())
    for arguments, said in (
        (["show", "7"], "no turn 7"),
        (["show", "first"], "not a turn's number"),
        (["show", "--pack", "9"], "it has 1: 01-planner"),
        (["show", "--result", "1"], "it has none"),
        (["show", "--session", "other"], "no turn in session 'other'"),
    ):
        ended = cli("turns", *arguments)
        assert ended.returncode == 2 and said in ended.stderr, (arguments, ended.stderr)


def test_diff_shows_what_was_done_otherwise(cli: Cli) -> None:
    for text in ("It is heron", "It is egret"):
        assert cli.run(text, *remember()).returncode == 0
    other = cli("turns", "diff", "1", "2").stdout
    assert '+Arguments: `{"text": "It is egret"}`' in other
    for left_out in ("usage:", "started:", "run:", "+# Turn"):
        assert left_out not in other


def test_diff_leaves_out_usage_and_times(cli: Cli) -> None:
    cli.run("Remember it", *remember())
    folder = cli.home / "turns/default"
    text = (folder / "0001/context.md").read_text()
    cli.run("Remember it", *remember())
    slower = text.replace(" · 0 s", " · 7.5 s").replace("turn: 1", "turn: 2").replace("wall_s: ", "wall_s: 9")
    assert slower != text
    (folder / "0002/context.md").write_text(slower)
    assert cli("turns", "diff", "1", "2").stdout.startswith("identical: ")


def test_runs_are_named_by_their_beginning_or_last(cli: Cli) -> None:
    cli.run("Hi", complete())
    run = cli.last_run()["id"]
    assert run in cli("runs", "list").stdout
    for name in (run, run[:20], run.lower(), "last"):
        assert json.loads(cli("runs", "show", name, "--json").stdout)["id"] == run
    assert cli("runs", "show", "zzz").returncode == 2


def test_events_are_lines_for_people_or_for_programs(cli: Cli) -> None:
    cli.run("Remember it", *remember())
    lines = cli("runs", "events", "last").stdout.splitlines()
    told = [json.loads(line) for line in cli("runs", "events", "last", "--json").stdout.splitlines()]
    assert [each["seq"] for each in told] == list(range(1, len(lines) + 1))
    assert "run.started" in lines[0]
    assert any("tool.memory.save" in line and "IDEMPOTENT" in line for line in lines)
    assert lines[-1].endswith("Save (visit 9, attempt 1): success → terminal: complete, success")


def test_following_a_run_ends_with_it(cli: Cli) -> None:
    running = cli.start("run", "Hi", "--model", cli.script(complete(delay_s=0.5)))
    assert running.stderr is not None
    while "Plan" not in running.stderr.readline():
        pass
    followed = cli("runs", "events", "last", "--follow")
    assert "terminal: complete" in followed.stdout.splitlines()[-1]
    running.communicate(timeout=60)


def test_a_replay_is_identical_until_something_was_changed(cli: Cli) -> None:
    cli.run("Remember it", *remember())
    assert cli("runs", "replay", "last").stdout == "identical: 9 decisions, 1 file\n"
    context = cli.home / "turns/default/0001/context.md"
    context.write_text(context.read_text().replace("saved", "lost"))
    changed = cli("runs", "replay", "last")
    assert changed.returncode == 1 and changed.stdout == f"different: {context}\n"


def test_the_turn_is_printed_as_mermaid(cli: Cli) -> None:
    shown = cli("runs", "graph").stdout
    assert shown.startswith("flowchart TD") and "Execute --> Coordinate" in shown
    assert cli("runs", "graph", "dance").returncode == 2


def test_a_finished_run_cannot_be_cancelled_and_resuming_it_changes_nothing(cli: Cli) -> None:
    cli.run("Hi", complete())
    assert cli("runs", "cancel", "last").returncode == 2
    resumed = cli("runs", "resume", "last")
    assert resumed.returncode == 0 and resumed.stdout == "Hello!\n"


def test_a_damaged_database_is_an_error_of_two_lines(cli: Cli) -> None:
    (cli.home / "echelon.db").write_text("nonsense, " * 1000)
    ended = cli("turns", "list")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 2 and "move it away" in ended.stderr


def test_a_reader_that_has_enough_is_no_error(cli: Cli) -> None:
    cli.run("Remember it", *remember())
    process = cli.start("runs", "events", "last", "--json", "--follow", stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 1


def test_sessions_are_listed_titled_and_forgotten_with_all_that_only_they_have(cli: Cli) -> None:
    secret = "the pelican's password"
    for session, said in (("work", secret), ("home", "nothing else")):
        cli("run", said, "--session", session, "--model", cli.script(complete(f"Noted, {said}.")))
    assert cli("sessions", "title", "work", "The pelican project").returncode == 0
    listed = json.loads(cli("sessions", "list", "--json").stdout)
    assert [(each["name"], each["title"], each["turns"]) for each in listed] == [
        ("home", "nothing else", 1),
        ("work", "The pelican project", 1),
    ]
    refused = cli("sessions", "forget", "work")
    assert refused.returncode == 2 and "needs a yes" in refused.stderr
    assert cli("sessions", "forget", "work", "--yes").stderr == "forgotten: 1 turn of session work\n"
    kept = [path for path in cli.home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert kept == []
    assert [each["name"] for each in json.loads(cli("sessions", "list", "--json").stdout)] == ["home"]
    assert cli("runs", "replay", "last").stdout.startswith("identical")  # what the other session shares is still there
    assert cli("sessions", "forget", "work", "--yes").returncode == 2
