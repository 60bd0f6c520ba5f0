"""What stands on a terminal while a turn goes on."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from echelon.progress import Progress
from gateway.stream import (
    ModelAnswered,
    ModelAsked,
    ModelDelta,
    PhaseStarted,
    SessionBusy,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    UsageChanged,
)


def terminal(width: int = 100) -> Console:
    return Console(file=StringIO(), force_terminal=True, width=width, color_system=None, highlight=False, markup=False)


def shown(progress: Progress, console: Console) -> list[str]:
    """The two lines that are redrawn."""
    with console.capture() as captured:
        console.print(progress)
    return captured.get().splitlines()


def test_the_models_tokens_tick_while_it_answers() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress(PhaseStarted("Plan", 1))
    progress(ModelAsked())
    assert "Plan" in shown(progress, console)[0]
    assert "the model reads the prompt" in shown(progress, console)[1]
    for piece in ("{", '"decision"', ":"):
        progress(ModelDelta("planner", piece))
    assert "the model answers · 0 tokens read, 3 written" in shown(progress, console)[1]
    progress(ModelAnswered())
    progress(UsageChanged({"prompt_tokens": 1200, "completion_tokens": 5}))
    assert "1,200 tokens read, 5 written" in shown(progress, console)[1]


def test_a_tool_stands_with_its_arguments_on_one_line() -> None:
    console = terminal(width=60)
    progress = Progress(console=console)
    progress(PhaseStarted("Coordinate", 1))
    progress(ToolStarted("file.write", {"path": "a.py", "text": "line\n" * 100}))
    first, second = shown(progress, console)
    assert "Execute" in first
    assert "file.write" in second and len(second) <= 60


def test_what_comes_from_outside_cannot_steer_the_terminal() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress(SessionBusy("x", "\x1b[2J\x1b]0;title\x07 [red]busy[/red]"))
    assert isinstance(console.file, StringIO)
    written = console.file.getvalue()
    assert "\x1b[2J" not in written and "\x07" not in written
    assert "[red]busy[/red]" in written


def test_the_time_that_a_person_takes_to_answer_is_not_counted() -> None:
    now = [0.0]
    console = Console(file=StringIO(), width=100)
    progress = Progress(console=console, clock=lambda: now[0])
    for waited in (1.0, 120.0, 2.0):
        if waited == 120.0:
            now[0] += waited
            continue
        with progress:
            now[0] += waited
    progress(ToolFinished("shell.run", {"command": "id"}, True, 2.0))
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().startswith("   3.0 s  Execute   ✓ shell.run")


def test_of_one_call_its_end_alone_is_told() -> None:
    console = Console(file=StringIO(), width=100)
    progress = Progress(console=console, direct=True)
    for phase in ("Gather", "Coordinate", "Respond", "Save", "Unfinished"):
        progress(PhaseStarted(phase, 1))
        if phase == "Coordinate":
            progress(ToolStarted("shell.run", {"command": "id"}))
            progress(ToolFinished("shell.run", {"command": "id"}, False, 2.0))
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue() == '✗ shell.run {"command": "id"} · 2 s\n'
    assert "tokens" not in "".join(shown(Progress(console=terminal(), direct=True), terminal()))


def test_how_far_a_tool_is_takes_the_place_of_its_arguments() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress(PhaseStarted("Coordinate", 1))
    progress(ToolStarted("internet.research", {"query": "herons"}))
    progress(ToolProgressed("25 of 500 documents are\x1b[2J indexed"))
    assert "25 of 500 documents are" in shown(progress, console)[1] and "\x1b" not in shown(progress, console)[1]
    progress(PhaseStarted("Execute", 1))
    assert "documents" not in shown(progress, console)[1]
