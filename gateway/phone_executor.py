"""Tasks on phones for programs without an event loop: the library's synchronous face, as specification 000 has it.

    from gateway.phone_executor import TaskExecutor

    executor = TaskExecutor(agent, device="192.168.1.5:5555", max_steps=30, on_step=lambda step: print(step.thinking))
    summary = executor.run("Turn Wi-Fi off")
    print(summary.success, summary.steps_taken, summary.trajectory)

It is thin over `Gateway.phones`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from gateway.config import Settings
from gateway.engine.ports import Effect, Json
from gateway.engine.state import Status, Waiting
from gateway.errors import ConfigError, UsageError
from gateway.gateway import Gateway
from gateway.phone.task.state import MAX_STEPS
from gateway.tools.registry import Registry, Tool, ToolContext, ToolResult, as_result, in_thread

if TYPE_CHECKING:
    from gateway.phone.agents.extensions import CustomAction
    from gateway.phone.task.news import OnPhoneEvent, PhoneEvent
    from gateway.phone.task.state import Step
    from gateway.phones import PhoneTask

    Act = Callable[[Gateway, OnPhoneEvent], Awaitable[PhoneTask]]

SKIP = "skip"
MISUNDERSTOOD = 3  # answers that are none of those which a question offers

Ask = Callable[[str], str | None]


class McpHandler(Protocol):
    """Tools of a program's own, by name, for `mcp_call`."""

    tools: Iterable[str]

    def execute(self, tool: str, args: Mapping[str, Json]) -> Any:
        """What the agent is told; what is raised, it is told as an error."""


@dataclass(frozen=True)
class StepProgress:
    """A step that was taken. `number` counts the agent's decisions, `remaining_s` is what all that are left would take
    at the pace so far."""

    step: Step
    number: int
    max_steps: int
    elapsed_s: float
    remaining_s: float

    @property
    def action(self) -> Mapping[str, Json]:
        return self.step.action

    @property
    def thinking(self) -> str:
        return self.step.thinking


@dataclass(frozen=True)
class TaskSummary:
    """How a task ended: `reason` as in the run's record (`success`, `budget:steps`, `error:device_lost`, …), `error`
    and `hint` where it failed. `question` is open where nobody was there to answer it."""

    success: bool
    status: Status
    reason: str
    steps_taken: int
    duration_s: float
    trajectory: Path
    answer: str
    error: str
    hint: str
    run_id: str
    question: str = ""


class TaskExecutor:
    """Carries out tasks with an agent on a phone.

    `agent` is an object with `predict(instruction, obs)`, or "builtin", or "package.module:Class"; `device` the serial
    of the phone, None for the only one. Times in seconds. `user_prompt_handler` is called, in a thread, with each
    question; it gives the answer, or None for none. `mcp_handler` has tools of the program's own: an `McpHandler`, or
    functions by name. What is not given is as the configuration says, `settings`, or what is found as for `echelon`.
    """

    def __init__(
        self,
        agent: object = "builtin",
        device: str | None = None,
        *,
        device_mode: Literal["auto", "usb", "wifi"] | None = None,
        max_steps: int = MAX_STEPS,
        step_delay: float = 0.5,
        max_retries: int = 2,
        retry_delay: float = 0.5,
        use_accessibility_tree: bool = False,
        include_step_info: bool = False,
        validate_screen_change: bool = True,
        trajectory_dir: str | Path | None = None,
        embed_screenshots: bool = False,
        user_prompt_handler: Ask | None = None,
        user_prompt_timeout: float = 120.0,
        mcp_handler: McpHandler | Mapping[str, Callable[..., Any]] | None = None,
        on_step: Callable[[StepProgress], None] | None = None,
        actions: Iterable[CustomAction] = (),
        middleware: Iterable[object] = (),
        settings: Settings | None = None,
    ) -> None:
        from gateway.phone.agents.extensions import Extensions

        self._settings = settings or Settings.load()
        self._agent = agent
        self._max_steps = max_steps
        self._ask = user_prompt_handler
        self._on_step = on_step
        self._tools = _tools(mcp_handler, user_prompt_timeout)
        self._extensions = Extensions.of(actions, middleware)
        found: dict[str, Any] = {"serial": device, "mode": device_mode}
        self._options: dict[str, Any] = {
            **{name: value for name, value in found.items() if value is not None},
            **({"agent": agent} if isinstance(agent, str) else {}),
            "step_delay": step_delay,
            "retries": max_retries,
            "retry_delay": retry_delay,
            "tree": use_accessibility_tree,
            "step_info": include_step_info,
            "screen_change": validate_screen_change,
            "trajectory_dir": str(trajectory_dir or ""),
            "embed_screenshots": embed_screenshots,
            "ask_timeout": user_prompt_timeout,
        }

    def run(self, instruction: str) -> TaskSummary:
        """One task, to its end. Raises EchelonError where it cannot begin; Ctrl-C leaves it resumable, with its
        trajectory."""

        async def begin(gateway: Gateway, tell: OnPhoneEvent) -> PhoneTask:
            options = gateway.phones.options().with_(**self._options)
            given = {"max_steps": self._max_steps, **self._given}
            return await gateway.phones.run(instruction, options, on_event=tell, **given)

        return self._work(begin)

    def resume(self, run_id: str, answer: str | None = None) -> TaskSummary:
        """Go on with a task that was interrupted, or that has asked: then with the answer."""

        async def go_on(gateway: Gateway, tell: OnPhoneEvent) -> PhoneTask:
            if answer is not None:
                await gateway.runs.answer(run_id, answer)
            return await gateway.phones.resume(run_id, on_event=tell, **self._given)

        return self._work(go_on)

    def _work(self, act: Act) -> TaskSummary:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._to_its_end(act))
        raise UsageError("TaskExecutor cannot be used where an event loop runs", hint="await Gateway.phones.run there")

    async def _to_its_end(self, act: Act) -> TaskSummary:
        """With the questions answered that somebody is there to answer."""
        async with Gateway(self._settings, registry=self._registry if self._tools else None) as gateway:
            tell = self._told(time.monotonic())
            task = await act(gateway, tell)
            while task.waiting is not None and self._ask is not None:
                if not await self._settled(gateway, task.run_id, task.waiting, self._ask):
                    break
                task = await gateway.phones.resume(task.run_id, on_event=tell, **self._given)
        return _summary(task)

    async def _settled(self, gateway: Gateway, run_id: str, waiting: Waiting, ask: Ask) -> bool:
        """Whether the question is answered, or out of time."""
        left = None if waiting.deadline is None else waiting.deadline - time.time()
        for _ in range(MISUNDERSTOOD):
            try:
                async with asyncio.timeout(left):
                    said = await in_thread(partial(ask, waiting.question))
                await gateway.runs.answer(run_id, SKIP if said is None else said)
            except TimeoutError:
                return True
            except UsageError:  # none of the options
                continue
            return True
        return False

    def _told(self, began: float) -> OnPhoneEvent:
        from gateway.phone.task.news import StepTaken

        def tell(event: PhoneEvent) -> None:
            if isinstance(event, StepTaken) and self._on_step is not None:
                number, elapsed = event.step.decision, time.monotonic() - began
                left = max(self._max_steps - number, 0) * elapsed / max(number, 1)
                self._on_step(StepProgress(event.step, number, self._max_steps, elapsed, left))

        return tell

    @property
    def _given(self) -> dict[str, Any]:
        return {
            "agent": None if isinstance(self._agent, str) else self._agent,
            "extensions": self._extensions,
        }

    def _registry(self) -> Registry:
        from gateway.tools.discovery import builtin_registry

        registry = builtin_registry(self._settings.home)
        for tool in self._tools:
            registry.add(tool)
        return registry


class _Anything(BaseModel):
    """The arguments of a tool of which only the name is known."""

    model_config = ConfigDict(extra="allow")


def _tools(handler: McpHandler | Mapping[str, Callable[..., Any]] | None, deadline_s: float) -> list[Tool]:
    if handler is None:
        return []
    if isinstance(handler, Mapping):
        return [_tool(name, partial(_called, function), deadline_s) for name, function in handler.items()]
    if not callable(getattr(handler, "execute", None)) or not hasattr(handler, "tools"):
        raise ConfigError(
            f"mcp_handler {type(handler).__name__} needs `tools`, their names, and execute(tool, args)",
            hint="or give functions by name: mcp_handler={'weather': weather}",
        )
    return [_tool(name, partial(handler.execute, name), deadline_s) for name in handler.tools]


def _tool(name: str, call: Callable[[dict[str, Json]], Any], deadline_s: float) -> Tool:
    async def run(args: Any, ctx: ToolContext) -> ToolResult:
        return as_result(await in_thread(partial(call, args.model_dump(mode="json"))))

    return Tool(name, f"{name}, of the program that began the task", _Anything, run, Effect.ONCE, deadline_s)


def _called(function: Callable[..., Any], args: dict[str, Json]) -> Any:
    return function(**args)


def _summary(task: PhoneTask) -> TaskSummary:
    return TaskSummary(
        success=task.status is Status.COMPLETE,
        status=task.status,
        reason=task.stop_reason or "",
        steps_taken=len(task.steps),
        duration_s=task.usage.get("time_s", 0.0),
        trajectory=task.folder / "trajectory.json",
        answer=task.answer,
        error=task.error or "",
        hint=task.hint,
        run_id=task.run_id,
        question=task.waiting.question if task.waiting else "",
    )
