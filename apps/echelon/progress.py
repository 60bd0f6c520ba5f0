"""Live progress of a turn on standard error: a line for what came about, and on a terminal what goes on now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from echelon.event_text import call_line, told
from echelon.live import LiveProgress
from echelon.terminal import harmless, one_line
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

SHOWN = 100  # characters of a tool's arguments; with -v five times as many
TOOL_PHASES = ("Coordinate", "Undo")  # the tool itself is shown


class Progress(LiveProgress):
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
        super().__init__(console, clock, head=9, longest=SHOWN * 5 if verbose else SHOWN)
        self._direct = direct
        self.run_id: str | None = None
        self._phase = "Starting"
        self._task = ""
        self._doing = ""
        self._deltas = 0
        self._counters: Mapping[str, float] = {}

    def __call__(self, event: TurnEvent) -> None:
        """What the gateway tells."""
        match event:
            case TurnStarted(run_id=run_id):
                self.run_id = run_id
            case SessionBusy(session=session, why=why):
                self.say("Waiting", f"session {session}: {why}")
            case PhaseStarted(phase=phase):
                self._phase, self._doing, self._deltas = phase, "", 0
                if not self.animated and not self._direct and phase not in (*TOOL_PHASES, "Save"):
                    self.say(phase, self._task if phase == "Execute" else "")
            case PhaseFailed():
                wait = f"again in {event.wait_s:.1f} s"
                self.say(event.phase, f"attempt {event.attempt} failed: {event.error}; {wait}")
            case ToolStarted(tool=tool, args=args):
                self._doing = self._call(tool, args)
                if not self.animated and not self._direct:
                    self.say("Execute", self._doing)
            case ToolFinished() if self._direct:
                for _, text in told(event, self.longest):
                    self.console.print(Text(harmless(text)))
            case ToolProgressed(line=line):
                self._doing = one_line(harmless(line), self.longest)
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
                for phase, text in told(event, self.longest):
                    self.say(phase, text)

    def _call(self, tool: str, args: Mapping[str, Any]) -> str:
        return call_line(tool, args, self.longest)

    def doing(self, spinner: Text) -> list[Text]:
        doing = self._doing
        if self._deltas:
            doing = "the model answers"
        phase = "Execute" if self._phase in TOOL_PHASES else self._phase
        task = f"  {self._task}" if phase == "Execute" else ""
        line = Text.assemble(spinner, " ", (phase, "bold"), task)
        return [line, Text(f"  {' · '.join(part for part in (doing, *self._usage()) if part)}", style="dim")]

    def _usage(self) -> list[str]:
        count = self._counters
        read, written = int(count.get("prompt_tokens", 0)), int(count.get("completion_tokens", 0)) + self._deltas
        tokens = [] if self._direct and not (read or written) else [f"{read:,} tokens read, {written:,} written"]
        return [*tokens, f"{self.elapsed:.0f} s"]


def _task(state: TaskMoved) -> str:
    done = f" · done: {', '.join(state.completed)}" if state.completed else ""
    left = f" · pending: {', '.join(state.pending)}" if state.pending else ""
    return f"{state.task_type} {state.step}/{state.max_steps}{done}{left}"
