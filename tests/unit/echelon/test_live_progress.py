"""What stands on a terminal while a turn goes on."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from echelon.progress import Progress
from gateway.engine.events import CALL_ENDED, CALL_INTENDED, NODE_DECIDED, Event

ASKED = {"key": "2/planner#1", "op": "model.complete"}


def terminal(width: int = 100) -> Console:
    return Console(file=StringIO(), force_terminal=True, width=width, color_system=None, highlight=False, markup=False)


def shown(progress: Progress, console: Console) -> list[str]:
    """The two lines that are redrawn."""
    with console.capture() as captured:
        console.print(progress)
    return captured.get().splitlines()


def decided(**counters: float) -> Event:
    record = {"node": "Plan", "outcome": "failure", "decision": "terminal", "counters": counters}
    return Event(3, NODE_DECIDED, record)


def test_the_models_tokens_tick_while_it_answers() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress.progress("node", {"node": "Plan", "visit": 2, "attempt": 1})
    progress.watch("run", Event(1, CALL_INTENDED, ASKED))
    assert "Plan" in shown(progress, console)[0]
    assert "the model reads the prompt" in shown(progress, console)[1]
    for piece in ("{", '"decision"', ":"):
        progress.progress("model.delta", {"role": "planner", "text": piece})
    assert "the model answers · 0 tokens read, 3 written" in shown(progress, console)[1]
    progress.watch("run", Event(2, CALL_ENDED, ASKED))
    progress.watch("run", decided(prompt_tokens=1200, completion_tokens=5))
    assert "1,200 tokens read, 5 written" in shown(progress, console)[1]


def test_a_tool_stands_with_its_arguments_on_one_line() -> None:
    console = terminal(width=60)
    progress = Progress(console=console)
    progress.progress("node", {"node": "Coordinate", "visit": 4, "attempt": 1})
    progress.progress("tool", {"tool": "file.write", "args": {"path": "a.py", "text": "line\n" * 100}})
    first, second = shown(progress, console)
    assert "Execute" in first
    assert "file.write" in second and len(second) <= 60


def test_what_comes_from_outside_cannot_steer_the_terminal() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress.progress("session.busy", {"session": "x", "why": "\x1b[2J\x1b]0;title\x07 [red]busy[/red]"})
    assert isinstance(console.file, StringIO)
    written = console.file.getvalue()
    assert "\x1b[2J" not in written and "\x07" not in written
    assert "[red]busy[/red]" in written


def test_events_of_other_runs_are_not_shown() -> None:
    console = terminal()
    progress = Progress(console=console)
    progress.watch("parent", decided(prompt_tokens=7))
    progress.watch("child", decided(prompt_tokens=9000))
    assert "7 tokens read" in shown(progress, console)[1]
    assert progress.run_id == "parent"
