"""`mai-phone "TASK"` and `echelon runs` for it, with a simulated phone and an agent that follows a script."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fake_adb import fake_adb
from phone.phone_lab import START_S, OwnAdb, own_adb

from echelon.cli import start
from echelon.output.shapes import json_schema
from echelon.phone import phone
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from simphone.background import PhoneThread
from simphone.phone import PhoneOptions

from .conftest import Cli
from .test_cli_run import SLOW, read_lines, read_until

AGENT = """
import json, pathlib, time

class Scripted:
    def predict(self, instruction, obs):
        print("the agent prints this")
        steps = json.loads(pathlib.Path("script.json").read_text())
        action = dict(steps[min(obs["step_count"], len(steps)) - 1])
        time.sleep(action.pop("sleep", 0))
        return f"<thinking>step {obs['step_count']}</thinking>", action
"""
STUBBORN = """
import asyncio, contextlib, sys, time
from echelon import driving
from gateway import Settings

class Progress(contextlib.nullcontext):
    run_id = None

class Stubborn:
    holding, progress = True, Progress()
    async def begin(self, gateway):
        driving.say("ready")
        await asyncio.to_thread(time.sleep, 20)
    def interrupted(self, gateway, asked):
        return "interrupted"

driving.FREE_S = float(sys.argv[1])
driving.work_on(Settings.load(), Stubborn(), no_input=True)
"""
OPEN = {"action": "open_app", "app": "Settings"}
DONE = {"action": "FINISH", "reason": "The settings are open."}
ASK = {"action": "ask_user", "question": "Which one?"}
SETTINGS = "com.android.settings"

Told = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnAdb]:
    with own_adb(tmp_path_factory.mktemp("adb-home")) as started:
        yield started


@pytest.fixture(scope="module")
def _phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneThread]:
    with PhoneThread(PhoneOptions(folder=tmp_path_factory.mktemp("phone"))) as started:
        yield started


class Task:
    """`echelon phone` with the scripted agent."""

    def __init__(self, cli: Cli, phone: PhoneThread) -> None:
        self.cli = cli
        self.phone = phone
        (cli.folder / "scripted_agent.py").write_text(AGENT)

    def script(self, *actions: dict[str, Any]) -> list[str]:
        """The options with which these actions are done."""
        (self.cli.folder / "script.json").write_text(json.dumps(actions))
        return ["--agent", "scripted_agent:Scripted", "--include-step-info", "--step-delay", "0"]

    def __call__(self, task: str, *actions: dict[str, Any], options: tuple[str, ...] = ()) -> Told:
        return self.cli("phone", *options, task, *self.script(*actions))

    def trajectory(self, ended: Told) -> dict[str, Any]:
        path = ended.stderr.rpartition("trajectory: ")[2].split("\n")[0]
        found: dict[str, Any] = json.loads(Path(path).read_text())
        return found


@pytest.fixture
def adb_only(adb: OwnAdb, monkeypatch: pytest.MonkeyPatch) -> OwnAdb:
    """The tests' own adb server, as the configuration names it."""
    monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", adb.server.address)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return adb


@pytest.fixture
def task(cli: Cli, _phone: PhoneThread, adb_only: OwnAdb) -> Iterator[Task]:
    _phone.reset()
    devices.connect(adb_only.server, _phone.serial, Deadline(START_S))
    yield Task(cli, _phone)
    adb_only.server.disconnect(_phone.serial, Deadline(START_S))


def test_with_one_phone_connected_no_option_is_needed(task: Task) -> None:
    ended = task("Open the settings", OPEN, DONE)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "The settings are open.\n"
    assert f"phone   {task.phone.serial}, Simphone, Android 14" in ended.stderr
    assert '1/50    ✓ open "Settings" (at most ' in ended.stderr
    assert "step 1" in ended.stderr and "step 2" in ended.stderr
    assert "complete · 2 steps · " in ended.stderr
    assert "the agent prints this" not in ended.stdout + ended.stderr
    saved = task.trajectory(ended)
    assert (saved["task_goal"], saved["status"], saved["total_steps"]) == ("Open the settings", "complete", 2)


def test_json_is_one_object_with_everything_a_program_needs(task: Task) -> None:
    ended = task("Open the settings", OPEN, DONE, options=("--json", "--max-steps", "9"))
    told = json.loads(ended.stdout)
    jsonschema.validate(told, json_schema("phone"), cls=jsonschema.Draft202012Validator)
    assert (ended.returncode, told["status"], told["answer"]) == (0, "complete", "The settings are open.")
    assert (told["steps"], told["actions"], told["device"]["serial"]) == (2, 2, task.phone.serial)
    assert Path(told["trajectory"]).is_file()
    assert "1/9 " in ended.stderr


def test_options_may_stand_before_and_after_the_task(task: Task) -> None:
    for before, after in ((("--max-steps", "1"), ()), ((), ("--max-steps", "1"))):
        ended = task.cli("phone", *before, "Open the settings", *after, *task.script(OPEN, OPEN, DONE))
        assert ended.returncode == 3, ended.stderr
        assert "the budget for steps is used up" in ended.stderr and "1/1 " in ended.stderr
        assert f"echelon runs resume {task.cli.last_run()['id']} --limit steps=TOTAL" in ended.stderr


def test_a_task_that_has_used_up_its_steps_goes_on_with_more(task: Task) -> None:
    assert task("Open the settings", OPEN, DONE, options=("--max-steps", "1")).returncode == 3
    ended = task.cli("runs", "resume", "last", "--limit", "steps=2")
    assert (ended.returncode, "2/2 " in ended.stderr) == (0, True), ended.stderr
    events = task.cli("runs", "events", "last").stdout
    assert "run.resumed      after stopped, limits: " in events and "steps 2" in events


def test_a_task_that_the_agent_gives_up_exits_with_1_and_its_reason(task: Task) -> None:
    ended = task("Fly", {"action": "FINISH", "success": False, "reason": "I have no wings."})
    assert ended.returncode == 1
    assert "error: I have no wings." in ended.stderr and "runs resume" not in ended.stderr


def test_a_question_exits_with_6_and_its_answer_goes_on(task: Task) -> None:
    asked = task("Ask", ASK, DONE)
    assert asked.returncode == 6
    assert "Which one?" in asked.stderr and "`skip`" in asked.stderr and "`cancel`" in asked.stderr
    run = task.cli.last_run()
    assert run["status"] == "waiting_for_user"
    assert f'echelon runs answer {run["id"]} "…"' in asked.stderr
    answered = task.cli("runs", "answer", "last", "the red one")
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout == "The settings are open.\n"
    assert "the red one" in json.dumps(task.trajectory(answered))
    again = task.cli("runs", "resume", "last", "--json")
    told = json.loads(again.stdout)
    jsonschema.validate(told, json_schema("runs resume"), cls=jsonschema.Draft202012Validator)
    assert told["answer"] == "The settings are open."


def test_a_question_is_left_by_skip_and_by_cancel(task: Task) -> None:
    assert task("Ask", ASK, DONE).returncode == 6
    assert task.cli("runs", "answer", "last", "skip").returncode == 0
    assert task("Ask", ASK, DONE).returncode == 6
    cancelled = task.cli("runs", "answer", "last", "cancel")
    assert cancelled.returncode == 130
    assert task.cli.last_run()["stop_reason"] == "user_cancelled"


def test_on_a_terminal_the_question_is_asked_in_place(task: Task) -> None:
    ours, theirs = pty.openpty()
    process = task.cli.start("phone", "Ask", *task.script(ASK, DONE), stdin=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_until(ours, "> ")
    assert "Which one?" in shown and "(until " in shown
    os.write(ours, b"the red one\n")
    read_until(ours, "trajectory: ")
    out, _ = process.communicate(timeout=SLOW)
    assert (process.returncode, out) == (0, "The settings are open.\n")
    os.close(ours)


def test_interrupted_it_saves_what_it_has_frees_the_phone_and_can_be_resumed(task: Task) -> None:
    process = task.cli.start("phone", "Open the settings", *task.script(OPEN, {**DONE, "sleep": 8.0}))
    seen = read_lines(process, '✓ open "Settings"')
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SLOW)
    assert process.returncode == 130, seen + err
    assert out == "" and "Traceback" not in err
    run = task.cli.last_run()
    assert (run["status"], run["stop_reason"]) == ("stopped", "user_cancelled")
    assert f"interrupted; resume with: echelon runs resume {run['id']}" in err
    saved = json.loads(Path(run["trajectory"]).read_text())
    assert (saved["status"], saved["total_steps"]) == ("stopped", 1)
    checked = task.cli("phone", "doctor", "--json")
    assert checked.returncode == 0, checked.stderr + checked.stdout
    lease = {each["name"]: each for each in json.loads(checked.stdout)}["lease"]
    assert lease["status"] == "ok"
    task.script(OPEN, DONE)
    resumed = task.cli("runs", "resume", run["id"])
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == "The settings are open.\n"
    assert '✓ open "Settings"' not in resumed.stderr
    assert task.cli("runs", "replay", "last").stdout.startswith("identical: ")


@pytest.mark.parametrize("again", [True, False], ids=["by a second interrupt", "by itself, soon"])
def test_what_holds_the_phone_too_long_is_left_behind(again: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN, "20" if again else "0.3"], stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == b"interrupted\n"
        if again:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SLOW / 2) == 130


def test_runs_show_what_was_done_as_a_table(task: Task) -> None:
    assert task("Open the settings", OPEN, DONE).returncode == 0
    listed = task.cli("runs", "list").stdout
    assert "phone" in listed and "Open the settings" in listed
    shown = task.cli("runs", "show", "last").stdout
    assert "trajectory.json" in shown
    assert 'open "Settings"' in shown and "median ms" in shown and "perceive" in shown
    assert "device.act" in task.cli("runs", "events", "last").stdout
    told = json.loads(task.cli("runs", "show", "last", "--json").stdout)
    jsonschema.validate(told, json_schema("runs show"), cls=jsonschema.Draft202012Validator)


def test_a_task_of_another_process_can_be_cancelled(task: Task) -> None:
    process = task.cli.start("phone", "Wait", *task.script(OPEN, {**DONE, "sleep": 8.0}))
    read_lines(process, '✓ open "Settings"')
    cancelled = task.cli("runs", "cancel", "last")
    assert cancelled.returncode == 0 and "ends within a second" in cancelled.stderr
    process.communicate(timeout=SLOW)
    assert process.returncode == 130


def test_an_animated_picture_is_made_where_it_is_wanted(task: Task) -> None:
    task("Open the settings", OPEN, DONE, options=("--gif", "done.gif", "--trajectory-dir", "kept"))
    assert (task.cli.folder / "done.gif").read_bytes().startswith(b"GIF89a")
    assert len(list((task.cli.folder / "kept").glob("*/trajectory.json"))) == 1
    beside = task.cli("phone", "--gif", "Open the settings", *task.script(OPEN, DONE))
    assert beside.returncode == 0, beside.stderr
    picture = beside.stderr.rpartition("picture: ")[2].strip()
    assert Path(picture).read_bytes().startswith(b"GIF89a")


def test_the_configuration_of_mai_phone_is_used(task: Task) -> None:
    folder = Path(os.environ["MAI_PHONE_HOME"])
    folder.mkdir()
    execution = "execution: {max_steps: 7, screenshot_delay: 0, retry_attempts: 1}"
    file = folder / "config.yaml"
    file.write_text(f"{execution}\nlogging: {{output_dir: '{folder}/logs'}}\nmodel: {{history_n: 2}}\n")
    ended = task("Open the settings", OPEN, DONE)
    assert ended.returncode == 0 and "1/7 " in ended.stderr
    options = _context(task.cli)["options"]
    assert (options["retries"], options["history"]) == (0, 2)
    assert len(list((folder / "logs").glob("*/trajectory.json"))) == 1
    file.write_text("execution: {max_stepz: 7}")
    wrong = task("Open the settings", OPEN, DONE)
    assert wrong.returncode == 2
    assert wrong.stderr.splitlines() == [
        f"error: {file}: execution.max_stepz is not a setting; did you mean execution.max_steps?"
    ]


def test_options_reach_the_task(task: Task) -> None:
    given = "--retry-delay 0.1 --max-retries 4 --careful Order --careful Buy --confirm --embed-screenshots".split()
    more = "--use-accessibility-tree --no-validate-screen-change --device-mode wifi --app Settings".split()
    ended = task("Open the settings", DONE, options=(*given, *more))
    assert ended.returncode == 0, ended.stderr
    options = _context(task.cli)["options"]
    assert (options["retry_delay"], options["retries"], options["step_delay"]) == (0.1, 4, 0)
    assert (options["consequential"], options["confirm"], options["tree"]) == (["Order", "Buy"], True, True)
    assert (options["screen_change"], options["step_info"], options["mode"]) == (False, True, "wifi")
    assert task.trajectory(ended)["steps"][0]["screenshot"].startswith("iVBOR")


def test_a_simulated_phone_is_there_as_long_as_the_task(cli: Cli, adb_only: OwnAdb) -> None:
    task = Task(cli, None)  # type: ignore[arg-type]
    ended = task("Open the settings", OPEN, DONE, options=("--simulated",))
    assert ended.returncode == 0, ended.stderr
    assert devices.listed(adb_only.server, Deadline(START_S)) == []
    asked = task("Ask", ASK, DONE, options=("--simulated",))
    assert asked.returncode == 6
    assert "cannot be resumed" in asked.stderr and "echelon runs answer" not in asked.stderr
    resumed = cli("runs", "answer", "last", "skip")
    assert resumed.returncode == 2 and "its simulated phone ended" in resumed.stderr
    assert cli.last_run()["status"] == "waiting_for_user"


def test_a_task_may_be_called_like_a_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_adb({"host:devices-l": ""}) as server:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
        for arguments in (("--", "devices"), ("--json", "--", "doctor")):
            assert "no device is connected" in cli("phone", *arguments).stderr
        mixed, misspelt = cli("phone", "--json", "devices"), cli("phone", "device")
    assert (mixed.returncode, misspelt.returncode) == (2, 2)
    assert "'devices' is a command" in mixed.stderr
    assert "'device' looks like the command devices" in misspelt.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Usage: echelon phone"),
        ([" "], 2, "error: the request is empty"),
        (["Hi", "--nonsense"], 2, "No such option"),
        (["Hi", "--max-steps", "0"], 2, "--max-steps"),
        (["Hi", "--apk", "nowhere.apk"], 2, "nowhere.apk"),
        (["Hi", "--device-mode", "bluetooth"], 2, "bluetooth"),
        (["Hi", "--agent", "nonsense"], 2, "expected builtin, or package.module:Class"),
        (["Hi", "--agent", "no_such_module:Agent"], 2, "no module no_such_module"),
        (["Hi", "--simulated", "--device", "S1"], 2, "--simulated brings a phone of its own"),
        (["Hi", "--no-use-accessibility-tree"], 2, "lives on the elements"),
        (["Hi", "--config", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["Hi"], 4, "no device is connected"),
        (["Hi", "--device", "S9"], 4, "no device S9"),
        (["Hi", "--device-mode", "usb"], 4, "no device is connected by USB"),
    ],
)
def test_what_is_wrong_is_said_in_two_lines(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    with fake_adb({"host:devices-l": ""}) as server:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
        ended = cli("phone", *arguments)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert said in ended.stderr
    if arguments:
        assert 1 <= len(ended.stderr.splitlines()) <= 2 and ended.stderr.startswith("error: ")
    assert not (cli.home / "echelon.db").exists()


def test_without_a_model_it_is_said_how_to_get_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_adb({"host:devices-l": "S1 device"}) as server:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
        ended = cli("phone", "Hi")
    assert ended.returncode == 5
    assert "`echelon models pull qwen2.5-coder-1.5b`" in ended.stderr and "--model" in ended.stderr


def test_of_several_phones_one_has_to_be_chosen(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_adb({"host:devices-l": "S1 device\nS2 device"}) as server:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
        ended = cli("phone", "Hi")
    assert ended.returncode == 4
    assert "2 devices are connected: S1 (usb), S2 (usb)" in ended.stderr and "--device" in ended.stderr


def test_without_adb_it_is_said_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.phone.adb.program", _missing)
    with fake_adb({}) as server:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
    ended = cli("phone", "Hi")
    assert ended.returncode == 4
    assert "install" in ended.stderr


def test_without_chromium_it_is_said_what_a_simulated_phone_needs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (cli.folder / "model.yaml").write_text("[]")
    with fake_adb({}) as server, monkeypatch.context() as patch:
        patch.setenv("ECHELON_DEVICE__ADB_SERVER", server.address)
        patch.setattr("shutil.which", lambda name: None)
        ended = cli("phone", "Hi", "--simulated", "--model", "scripted:model.yaml")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[1:] == [
        "error: Chromium is not installed: install the package `chromium`",
        "  apt-get install chromium",
    ]


def test_mai_phone_is_the_same_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert start(["--help"], phone, "mai-phone") == 0
    assert "Usage: mai-phone [OPTIONS] TASK" in capsys.readouterr().out
    assert start(["doctor", "--help"], phone, "mai-phone") == 0
    assert "Usage: mai-phone doctor" in capsys.readouterr().out


def test_help_shows_the_task_and_the_commands(cli: Cli) -> None:
    told = cli("phone", "--help").stdout
    assert "Usage: echelon phone [OPTIONS] TASK" in told
    assert "devices" in told and "doctor" in told and "Examples:" in told and "Exit codes:" in told
    assert "Usage: echelon phone devices" in cli("phone", "devices", "--help").stdout


def _missing(*_: object) -> str:
    from gateway.errors import AdbMissing

    raise AdbMissing("there is no adb", hint="apt-get install adb")


def _context(cli: Cli) -> dict[str, Any]:
    """What the last run was given."""
    from gateway.engine.store import Store

    store = Store(cli.home / "echelon.db")
    try:
        return store.run(cli.last_run()["id"]).context
    finally:
        store.close()
