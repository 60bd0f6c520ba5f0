"""Live progress of a turn on standard error: a line for what came about, and on a terminal what goes on now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from echelon.event_text import call_line, told
from echelon.terminal import harmless, messages, one_line
from gateway.stream import (
    ModelAnswered,
    ModelAsked,
    ModelDelta,
    PhaseFailed,
    PhaseStarted,
    SessionBusy,
    TaskMoved,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnEvent,
    TurnStarted,
    UsageChanged,
)

REFRESH_PER_S = 4
SHOWN = 100  # characters of a tool's arguments; with -v five times as many
TOOL_PHASES = ("Coordinate", "Undo")  # the tool itself is shown


class Progress:
    """Is told the events of one turn; as a context manager it shows what goes on meanwhile.

    Where `direct`, the turn is one tool call: a line for its end is all that stays. `clock` is in seconds.
    """

    def __init__(
        self,
        *,
        verbose: bool = False,
        direct: bool = False,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._direct = direct
        self._clock = clock
        self.run_id: str | None = None
        self._console = console or messages()
        self._animated = self._console.is_terminal and not self._console.is_dumb_terminal
        self._longest = SHOWN * 5 if verbose else SHOWN
        self._live: Live | None = None
        self._spinner = Spinner("dots")
        self._began = clock()
        self._left: float | None = None
        self._phase = "Starting"
        self._task = ""
        self._doing = ""
        self._deltas = 0
        self._counters: Mapping[str, float] = {}

    def __enter__(self) -> Progress:
        if self._left is not None:  # a person's time to answer is not the turn's
            self._began += self._clock() - self._left
        if self._animated:
            self._live = Live(self, console=self._console, refresh_per_second=REFRESH_PER_S, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left = self._clock()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: TurnEvent) -> None:
        """What the gateway tells."""
        match event:
            case TurnStarted(run_id=run_id):
                self.run_id = run_id
            case SessionBusy(session=session, why=why):
                self._say("Waiting", f"session {session}: {why}")
            case PhaseStarted(phase=phase):
                self._phase, self._doing, self._deltas = phase, "", 0
                if not self._animated and not self._direct and phase not in (*TOOL_PHASES, "Save"):
                    self._say(phase, self._task if phase == "Execute" else "")
            case PhaseFailed():
                wait = f"again in {event.wait_s:.1f} s"
                self._say(event.phase, f"attempt {event.attempt} failed: {event.error}; {wait}")
            case ToolStarted(tool=tool, args=args):
                self._doing = self._call(tool, args)
                if not self._animated and not self._direct:
                    self._say("Execute", self._doing)
            case ToolFinished() if self._direct:
                for _, text in told(event, self._longest):
                    self._console.print(Text(harmless(text)))
            case ToolProgressed(line=line):
                self._doing = one_line(harmless(line), self._longest)
            case ModelAsked():
                self._doing, self._deltas = "the model reads the prompt", 0
            case ModelDelta():
                self._deltas += 1
            case ModelAnswered():
                self._doing, self._deltas = "", 0
            case UsageChanged(counters=counters):
                self._counters = counters
            case TaskMoved():
                self._task = _task(event)
            case _:
                for phase, text in told(event, self._longest):
                    self._say(phase, text)

    def _call(self, tool: str, args: Mapping[str, Any]) -> str:
        return call_line(tool, args, self._longest)

    def _say(self, phase: str, text: str) -> None:
        """A line that stays."""
        longest = self._console.width - 20 if self._animated else self._longest * 3
        line = Text(f"{self._elapsed():6.1f} s  ", style="dim", no_wrap=True)
        line.append(f"{phase:<9} ", style="bold" if self._animated else "")
        line.append(one_line(harmless(text), max(longest, self._longest)), style="none")
        line.rstrip()
        self._console.print(line)

    def _elapsed(self) -> float:
        return self._clock() - self._began

    # what goes on now

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        doing = self._doing
        if self._deltas:
            doing = "the model answers"
        phase = "Execute" if self._phase in TOOL_PHASES else self._phase
        task = f"  {self._task}" if phase == "Execute" else ""
        head = self._spinner.render(console.get_time())
        line = Text.assemble(head if isinstance(head, Text) else "", " ", (phase, "bold"), task)
        second = Text(f"  {' · '.join(part for part in (doing, *self._usage()) if part)}", style="dim")
        for each in (line, second):
            each.truncate(options.max_width, overflow="ellipsis")
            yield each

    def _usage(self) -> list[str]:
        count = self._counters
        read, written = int(count.get("prompt_tokens", 0)), int(count.get("completion_tokens", 0)) + self._deltas
        tokens = [] if self._direct and not (read or written) else [f"{read:,} tokens read, {written:,} written"]
        return [*tokens, f"{self._elapsed():.0f} s"]


def _task(state: TaskMoved) -> str:
    done = f" · done: {', '.join(state.completed)}" if state.completed else ""
    left = f" · pending: {', '.join(state.pending)}" if state.pending else ""
    return f"{state.task_type} {state.step}/{state.max_steps}{done}{left}"
