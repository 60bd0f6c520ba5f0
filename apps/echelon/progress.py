"""Live progress of a turn on standard error: a line for what came about, and on a terminal what goes on now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from echelon.terminal import harmless, messages, one_line
from gateway.engine.events import CALL_ENDED, CALL_INTENDED, NODE_DECIDED, Event

if TYPE_CHECKING:
    from gateway import Gateway
    from gateway.turn.state import TurnState

REFRESH_PER_S = 4
SHOWN = 100  # characters of a tool's arguments; with -v five times as many
MODEL_CALL = "model.complete"
TOOL_PHASES = ("Coordinate", "Undo")  # the tool itself is shown


class Progress:
    """Watches one turn. `gateway` is set once there is one; as a context manager it shows what goes on meanwhile."""

    def __init__(self, *, verbose: bool = False, console: Console | None = None) -> None:
        self.gateway: Gateway | None = None
        self.run_id: str | None = None
        self._console = console or messages()
        self._animated = self._console.is_terminal and not self._console.is_dumb_terminal
        self._longest = SHOWN * 5 if verbose else SHOWN
        self._live: Live | None = None
        self._spinner = Spinner("dots")
        self._began = time.monotonic()
        self._phase = "Starting"
        self._task = ""
        self._doing = ""
        self._deltas = 0
        self._counters: Mapping[str, float] = {}

    def __enter__(self) -> Progress:
        if self._animated:
            self._live = Live(self, console=self._console, refresh_per_second=REFRESH_PER_S, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    # what is told

    def progress(self, kind: str, data: Mapping[str, Any]) -> None:
        """The Notify port: lossy news."""
        match kind:
            case "node":
                self._phase, self._doing, self._deltas = data["node"], "", 0
                if not self._animated and data["node"] not in (*TOOL_PHASES, "Save"):
                    self._say(data["node"], self._task if data["node"] == "Execute" else "")
            case "tool":
                self._doing = self._call(data["tool"], data["args"])
                if not self._animated:
                    self._say("Execute", self._doing)
            case "model.delta":
                self._deltas += 1
            case "session.busy":
                self._say("Waiting", f"session {data['session']}: {data['why']}")
            case "tool.unavailable":
                self._say(self._phase, f"{data['tool']} cannot be called now: {data['error']}")
            case "in_doubt":
                self._say(self._phase, f"{data['op']} is in doubt: {data['error']}")

    def watch(self, run_id: str, event: Event) -> None:
        """The journal: every event, once it is written."""
        self.run_id = self.run_id or run_id
        if run_id != self.run_id:
            return
        data = event.data
        if event.kind == CALL_INTENDED and data["op"] == MODEL_CALL:
            self._doing, self._deltas = "the model reads the prompt", 0
        elif event.kind == CALL_ENDED and data["op"] == MODEL_CALL:
            self._doing, self._deltas = "", 0
        elif event.kind == NODE_DECIDED:
            self._counters = data["counters"]
            self._decided(data)

    def _decided(self, data: Mapping[str, Any]) -> None:
        if data["decision"] == "tryagain":
            wait = f"again in {data['delay_ms'] / 1000:.1f} s"
            self._say(data["node"], f"attempt {data['attempt']} failed: {data['error'][1]}; {wait}")
        if data["outcome"] != "success" or self.gateway is None or self.run_id is None:
            return
        state = self.gateway.state(self.gateway.runs.store.run(self.run_id)).data
        self._outcome(data["node"], state)  # type: ignore[arg-type]

    def _outcome(self, node: str, state: TurnState) -> None:
        """What a node brought about."""
        if state.task is not None:
            task = state.task
            self._task = f"{task.task_type} {task.current_step}/{task.max_steps}"
            if task.completed_steps:
                self._task += f" · done: {', '.join(task.completed_steps)}"
            if task.pending_steps:
                self._task += f" · pending: {', '.join(task.pending_steps)}"
        if node == "Gather" and state.gathered:
            self._say("Gather", "known: " + ", ".join(item.title for item in state.gathered))
        elif node == "Plan":
            plan = state.plan
            goals = "; ".join(plan.goals)
            self._say("Plan", f"{plan.action} {plan.task_type}: {goals}" if goals else plan.action)
        elif node == "Coordinate":
            entry = state.entries[-1]
            outcome = "✓" if entry.ok else "✗"
            self._say("Execute", f"{outcome} {self._call(entry.tool, entry.args)} · {entry.s:g} s")
        elif node == "Undo":
            self._say("Execute", "the last candidate is undone")
        elif node == "Execute" and state.escalated and state.next == "Plan":
            self._say("Execute", f"escalated to the Planner: {state.escalated}")

    def _call(self, tool: str, args: Mapping[str, Any]) -> str:
        from gateway.turn.sections import arguments

        return f"{tool} {one_line(arguments(args, self._longest), self._longest)}"

    def _say(self, phase: str, text: str) -> None:
        """A line that stays."""
        longest = self._console.width - 20 if self._animated else self._longest * 3
        line = Text(f"{self._elapsed():6.1f} s  ", style="dim", no_wrap=True)
        line.append(f"{phase:<9} ", style="bold" if self._animated else "")
        line.append(one_line(harmless(text), max(longest, self._longest)), style="none")
        line.rstrip()
        self._console.print(line)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

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
        return [f"{read:,} tokens read, {written:,} written", f"{self._elapsed():.0f} s"]
