"""Tasks on phones: begun, resumed, looked at. `Gateway.phones` is one.

async with Gateway(Settings.load()) as gateway:
    done = await gateway.phones.run("Turn Wi-Fi off", TaskOptions(serial="192.168.1.5:5555"))
    print(done.answer, done.folder / "trajectory.json")
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import RunRow, Store
from gateway.errors import UsageError
from gateway.phone import PHONE
from gateway.phone.task.state import Device, PhoneContext, PhoneState, Step, TaskOptions

if TYPE_CHECKING:
    from gateway.engine.graph import Graph
    from gateway.engine.graph_type import GraphType
    from gateway.engine.ports import Model, Observer
    from gateway.gateway import Gateway
    from gateway.phone.agents.extensions import Extensions
    from gateway.phone.task.news import OnPhoneEvent

OWN_AGENT = "object"  # the name of an agent that a program gave


@dataclass(frozen=True)
class PhoneTask:
    """How a task on a phone ended, or where it is. `answer` is what the agent had to say, `folder` has
    `trajectory.json`; `waiting` is set where it needs an answer. `error` says why it failed, and `hint` what can be
    done about that."""

    run_id: str
    task: str
    status: Status
    stop_reason: str | None
    error: str | None
    hint: str
    answer: str
    folder: Path
    steps: tuple[Step, ...]
    decisions: int
    usage: Mapping[str, float]
    waiting: Waiting | None
    device: Device | None


class Phones:
    """The tasks on phones of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._agents: dict[str, object] = {}
        self._extensions: dict[str, Extensions] = {}

    def type(self, store: Store, model: Model) -> GraphType:
        """The kind of run that a task on a phone is."""
        from gateway.phone.task.graph import phone_type

        gateway = self._gateway
        key = gateway.settings.api_key
        return phone_type(
            gateway.home,
            store,
            gateway.toolbox.pinned,
            model,
            agents=self._agents,
            extensions=self._extensions,
            api_key=key.get_secret_value() if key else "",
        )

    async def run(
        self,
        task: str,
        options: TaskOptions | None = None,
        *,
        agent: object | None = None,
        extensions: Extensions | None = None,
        max_steps: int | None = None,
        max_taps: int | None = None,
        max_time_s: float | None = None,
        on_event: OnPhoneEvent | None = None,
    ) -> PhoneTask:
        """One task, to its end or to a question. `agent` is an object with `predict`, in place of `options.agent`;
        `extensions` are added to what is installed. Limits are those of the contract unless given.

        Raises EchelonError where it cannot begin; once begun, a task that fails is returned with its `error`.
        Cancelling leaves it resumable.
        """
        from gateway.llm.vision import sees
        from gateway.phone.agents import loading
        from gateway.phone.agents.builtin import collect
        from gateway.phone.task.beginning import new_task
        from gateway.phone.task.graph import BUILTIN

        gateway, runs = self._gateway, self._gateway.runs
        options = options or self.options()
        if agent is not None:
            options = options.with_(agent=OWN_AGENT)
        if options.agent not in (BUILTIN, OWN_AGENT):
            loading.find(options.agent)  # raises, before anything is begun
        settings = gateway.settings
        asked = settings.model_for("phone")
        if options.agent == BUILTIN and not options.images and settings.phone.images is None and asked:
            options = options.with_(images=await asyncio.to_thread(sees, asked))
        run_id = runs.random.identifier(runs.clock.now())
        model = settings.model_for("phone")
        root = Path(options.trajectory_dir) if options.trajectory_dir else gateway.home / "trajectories"
        new = new_task(
            task,
            options,
            run_id=run_id,
            folder=root.expanduser().absolute() / run_id,
            workspace=settings.workspace,
            settings=settings.public(),
            models={"phone": model} if model else {},
            assume_yes=gateway.assume_yes,
            max_steps=max_steps,
            max_taps=max_taps,
            max_time_s=max_time_s,
        )
        offered, _ = await gateway.toolbox.offered()
        self._give(run_id, agent, extensions)
        row, owned = await runs.create(
            PHONE,
            new.context,
            new.state,
            title=task,
            limits=new.limits,
            pins={**collect(gateway.folders("prompts"), gateway.folders("recipes")), **offered},
            run_id=run_id,
        )
        return self._ended(row, await runs.drive(row, owned, self._observer(row, on_event)))

    async def resume(
        self,
        run_id: str,
        *,
        agent: object | None = None,
        extensions: Extensions | None = None,
        on_event: OnPhoneEvent | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> PhoneTask:
        """Go on with a task that was interrupted, answered, has reached a limit that `limits` raises ({"steps": 80}:
        for the whole task), or failed for a reason that may be gone. A task that was begun with an object as its agent,
        or with further actions, needs them again in another process."""
        row = self._row(run_id)
        self._give(row.id, agent, extensions)
        observer = self._observer(replace(row, limits={**row.limits, **(limits or {})}), on_event)
        return self._ended(row, await self._gateway.runs.resume(row.id, observer, limits=limits))

    def task(self, run_id: str) -> PhoneTask:
        """Where a task is. Raises RunNotFound, and UsageError for a run of another kind."""
        row = self._row(run_id)
        return self._ended(row, self._gateway.state(row))

    def graph(self) -> Graph:
        """Its nodes and edges, which are the same for every task."""
        from gateway.phone.agents.extensions import Extensions
        from gateway.phone.agents.foreign import ForeignAgent
        from gateway.phone.task.graph import phone_graph
        from gateway.tools.registry import Registry

        context = PhoneContext(
            run_id="", task="", options=TaskOptions(), folder="", workspace="", models={}, settings={}
        )
        return phone_graph(ForeignAgent(), context, Registry(), Extensions())

    def options(self) -> TaskOptions:
        """Those of the configuration."""
        from gateway.phone.task.beginning import options_of

        return options_of(self._gateway.settings.public())

    def _give(self, run_id: str, agent: object | None, extensions: Extensions | None) -> None:
        from gateway.phone.agents.extensions import installed

        if agent is not None:
            self._agents[run_id] = agent
        if extensions is not None:
            self._extensions[run_id] = installed().with_(extensions)

    def _row(self, run_id: str) -> RunRow:
        row = self._gateway.runs.store.run(run_id)
        if row.graph != PHONE:
            raise UsageError(f"run {row.id} is a {row.graph}, not a task on a phone")
        return row

    def _observer(self, row: RunRow, on_event: OnPhoneEvent | None) -> Observer | None:
        if on_event is None:
            return None
        from gateway.phone.task.news import PhoneNarrator

        data = self._gateway.state(row).data
        assert isinstance(data, PhoneState)
        return PhoneNarrator(row.id, on_event, len(data.steps), row.limits)

    def _ended(self, row: RunRow, state: RunState) -> PhoneTask:
        data = state.data
        assert isinstance(data, PhoneState)
        context = PhoneContext.model_validate(row.context)
        status, stop_reason = state.status, state.stop_reason
        if status is Status.RUNNING and row.status == Status.STOPPED:  # interrupted: the state is where it goes on
            status, stop_reason = Status.STOPPED, row.stop_reason
        finished = data.finished
        return PhoneTask(
            run_id=row.id,
            task=context.task,
            status=status,
            stop_reason=stop_reason,
            error=state.error,
            hint=self._gateway.runs.hint(row.id) if state.error is not None else "",
            answer=data.answer or (finished.reason if finished else ""),
            folder=Path(context.folder),
            steps=data.steps,
            decisions=data.decisions,
            usage=dict(state.counters),
            waiting=state.waiting,
            device=data.device,
        )
