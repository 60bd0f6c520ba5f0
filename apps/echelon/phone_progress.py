"""Live progress of a task on a phone on standard error: a line for each action, and on a terminal what goes on now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from rich.console import Console
from rich.text import Text

from echelon.live import LiveProgress
from echelon.terminal import duration, harmless, one_line
from gateway.phone.task.news import (
    ActionChosen,
    DeviceFound,
    ModelDelta,
    NodeFailed,
    NodeStarted,
    Notice,
    PhoneEvent,
    StepTaken,
    TaskStarted,
    UsageChanged,
)
from gateway.phone.trajectory.words import in_words

SHOWN = 160  # characters of what the agent thinks; with -v five times as many
MARKS = {True: "✓", False: "✗", None: "?"}
DOING = {  # what a node does, in words
    "EnsureDevice": "looking for the phone",
    "ProvisionApp": "installing the app",
    "LaunchOrAttach": "starting the app",
    "WaitIdle": "waiting for the screen to come to rest",
    "Perceive": "looking at the screen",
    "Verify": "checking what came of it",
    "ChooseAction": "the agent decides",
    "AskUser": "asking you",
    "CallTool": "calling a tool",
    "RestartApp": "starting the app again",
}


class PhoneProgress(LiveProgress):
    """Is told the events of one task; as a context manager it shows what goes on meanwhile. Where it is `quiet`, only
    what went wrong is said. `clock` is in seconds."""

    def __init__(
        self,
        *,
        verbose: bool = False,
        quiet: bool = False,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(console, clock, head=7, longest=SHOWN * 5 if verbose else SHOWN)
        self.animated = self.animated and not quiet
        self.run_id: str | None = None
        self._quiet = quiet
        self._device: DeviceFound | None = None
        self._decision = 0
        self._max_steps = 0
        self._time_left = ""
        self._thinking = ""
        self._last = ""
        self._doing = "starting"
        self._deltas = 0
        self._counters: Mapping[str, float] = {}

    def __call__(self, event: PhoneEvent) -> None:
        """What the gateway tells."""
        match event:
            case TaskStarted(run_id=run_id):
                self.run_id = run_id
            case DeviceFound() if event != self._device:
                self._device = event
                known = [event.model, f"Android {event.android}" if event.android else ""]
                self._say("phone", ", ".join(filter(None, (event.serial, *known))))
            case NodeStarted(node=node):
                self._doing, self._deltas = DOING.get(node, self._doing), 0
            case NodeFailed():
                what = DOING.get(event.node, event.node)
                self._say(self._step(), f"✗ {what} failed: {event.error}; again in {event.wait_s:.1f} s", wrong=True)
            case ActionChosen():
                self._chosen(event)
            case StepTaken():
                self._taken(event)
            case ModelDelta():
                self._deltas += 1
            case Notice(text=text):
                self._say(self._step(), text, wrong=True)
            case UsageChanged(counters=counters):
                self._counters = counters

    def _chosen(self, event: ActionChosen) -> None:
        self._decision, self._max_steps = event.decision, event.max_steps
        self._doing = in_words(event.action, event.target)
        self._think(event.thinking)

    def _taken(self, event: StepTaken) -> None:
        step = event.step
        if step.thinking and step.thinking != self._thinking:
            self._think(step.thinking)
        self._decision, self._max_steps = step.decision, event.max_steps or 0
        ends = event.left_s is None or step.action.get("action") == "FINISH"
        self._time_left = "" if ends else f"at most {duration(event.left_s or 0)} left"
        self._last = f"{MARKS[step.result.ok]} {in_words(step.action, step.target)}"
        why = f": {step.result.note}" if step.result.ok is not True and step.result.note else ""
        left = f" ({self._time_left})" if self._time_left and not self.animated else ""
        self._say(self._step(), f"{self._last}{why}{left}", wrong=step.result.ok is False)

    def _think(self, thinking: str) -> None:
        self._thinking = thinking
        if thinking.strip():
            self._say("", thinking, style="dim")

    def _step(self) -> str:
        return f"{self._decision}/{self._max_steps}" if self._max_steps else ""

    def _say(self, head: str, text: str, *, style: str = "", wrong: bool = False) -> None:
        if wrong or not self._quiet:
            self.say(head, text, style=style)

    def doing(self, spinner: Text) -> list[Text]:
        step = f"step {self._decision} of {self._max_steps}" if self._max_steps else ""
        doing = "the agent's model answers" if self._deltas else self._doing
        first = Text.assemble(spinner, " ", (step, "bold"), "  " if step else "", doing)
        second = Text(f"  {' · '.join(part for part in (self._last, *self._figures()) if part)}", style="dim")
        third = [Text(f"  {one_line(harmless(self._thinking), self.longest)}", style="dim")] if self._thinking else []
        return [first, *third, second]

    def _figures(self) -> list[str]:
        written = int(self._counters.get("completion_tokens", 0)) + self._deltas
        return [f"{written:,} tokens written" if written else "", f"{self.elapsed:.0f} s", self._time_left]
