"""What stands on a terminal while a task on a phone goes on."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from echelon.phone_progress import PhoneProgress
from echelon.terminal import duration
from gateway.phone.task.news import (
    ActionChosen,
    DeviceFound,
    ModelDelta,
    NodeFailed,
    NodeStarted,
    Notice,
    StepTaken,
    TaskStarted,
)
from gateway.phone.task.state import Result, Step

TAP = {"action": "tap", "coordinate": {"element": 3}}


def lines(width: int = 200) -> Console:
    return Console(file=StringIO(), width=width, highlight=False, markup=False)


def terminal() -> Console:
    return Console(file=StringIO(), force_terminal=True, width=100, color_system=None, highlight=False, markup=False)


def written(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def shown(progress: PhoneProgress, console: Console) -> list[str]:
    """The lines that are redrawn."""
    with console.capture() as captured:
        console.print(progress)
    return captured.get().splitlines()


def chosen(decision: int, thinking: str = "", target: str = 'button "Wi-Fi"') -> ActionChosen:
    return ActionChosen(decision, 50, thinking, TAP, target)


def taken(decision: int, result: Result = Result(ok=True), thinking: str = "") -> StepTaken:  # noqa: B008
    target = 'button "Wi-Fi"'
    step = Step(number=decision, decision=decision, action=TAP, target=target, result=result, thinking=thinking)
    return StepTaken(step, 50, 290.0)


def test_the_phone_the_thinking_and_each_action_stand_on_a_line_each() -> None:
    console = lines()
    progress = PhoneProgress(console=console, clock=lambda: 0.0)
    for event in (
        TaskStarted("01K"),
        DeviceFound("S1", "Pixel 6", "14"),
        chosen(1, "Wi-Fi is on:\nswitch it off"),
        taken(1, thinking="Wi-Fi is on:\nswitch it off"),
    ):
        progress(event)
    assert progress.run_id == "01K"
    assert [line.split(" s  ", 1)[1] for line in written(console).splitlines()] == [
        "phone   S1, Pixel 6, Android 14",
        "        Wi-Fi is on: switch it off",
        '1/50    ✓ tap button "Wi-Fi" (at most 5 min left)',
    ]


def test_the_phone_is_said_once_also_where_a_question_comes_between() -> None:
    console = lines()
    progress = PhoneProgress(console=console)
    for _ in range(2):
        with progress:
            progress(TaskStarted("01K"))
            progress(DeviceFound("S1", "Pixel 6", "14"))
    assert written(console).count("S1") == 1


def test_what_failed_is_told_with_its_cause() -> None:
    console = lines()
    progress = PhoneProgress(console=console)
    progress(chosen(1))
    progress(taken(1, Result(ok=False, cause="covered", note="the keyboard covers it")))
    progress(taken(2, Result(ok=None, cause="unknown", note="nobody knows")))
    told = written(console)
    assert '✗ tap button "Wi-Fi": the keyboard covers it' in told
    assert '2/50    ? tap button "Wi-Fi": nobody knows' in told


def test_a_prediction_that_could_not_be_used_is_told_with_what_was_said() -> None:
    console = lines()
    progress = PhoneProgress(console=console)
    refused = Result(ok=False, cause="unusable", note="no such action")
    progress(StepTaken(Step(number=1, decision=1, action={}, result=refused, thinking="let me fly"), None, None))
    assert "let me fly" in written(console) and "✗ no action: no such action" in written(console)


def test_on_a_terminal_the_step_the_action_and_the_time_left_are_redrawn() -> None:
    now = [0.0]
    console = terminal()
    progress = PhoneProgress(console=console, clock=lambda: now[0])
    progress(NodeStarted("EnsureDevice", 1))
    assert "looking for the phone" in shown(progress, console)[0]
    progress(chosen(1, "hm"))
    now[0] = 6.0
    progress(taken(1))
    progress(NodeStarted("ChooseAction", 1))
    first, thinking, figures = shown(progress, console)
    assert "step 1 of 50" in first and "the agent decides" in first
    assert thinking.strip() == "hm"
    assert '✓ tap button "Wi-Fi"' in figures and "6 s · at most 5 min left" in figures
    progress(ModelDelta("{"))
    assert "the agent's model answers" in shown(progress, console)[0]
    assert "1 tokens written" in shown(progress, console)[2]


def test_the_time_that_a_person_takes_to_answer_is_not_counted() -> None:
    now = [0.0]
    console = lines()
    progress = PhoneProgress(console=console, clock=lambda: now[0])
    with progress:
        now[0] = 1.0
    now[0] = 100.0
    with progress:
        progress(Notice("an act is in doubt"))
    assert written(console).startswith("   1.0 s  ")


def test_quiet_it_says_only_what_went_wrong() -> None:
    console = lines()
    progress = PhoneProgress(console=console, quiet=True)
    for event in (DeviceFound("S1", "", ""), chosen(1, "hm"), taken(1), NodeFailed("Perceive", 1, "offline", 1.0)):
        progress(event)
    assert written(console).count("\n") == 1
    assert "✗ looking at the screen failed: offline; again in 1.0 s" in written(console)


def test_what_the_phone_and_the_agent_say_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;title\x07 [red]x[/red]"
    for console in (lines(), terminal()):
        progress = PhoneProgress(console=console)
        progress(DeviceFound("S1", evil, evil))
        progress(chosen(1, evil, f'button "{evil}"'))
        progress(taken(1, Result(ok=False, note=evil)))
        told = written(console) + "\n".join(shown(progress, console))
        assert "\x1b[2J" not in told and "\x07" not in told and "\x1b]" not in told
        assert "[red]x[/red]" in told


@pytest.mark.parametrize(("seconds", "words"), [(0, "0 s"), (89.4, "89 s"), (91, "2 min"), (3600 * 1.5, "1 h 30 min")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
