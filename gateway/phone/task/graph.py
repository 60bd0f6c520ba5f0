"""A task on a phone as a graph: EnsureDevice → ProvisionApp → LaunchOrAttach → WaitIdle → Perceive → ChooseAction →
Act → WaitIdle → Perceive → Verify → ChooseAction … → Stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.engine.graph import AnyNode, Graph
from gateway.engine.ports import Model, Operation, Scope
from gateway.engine.runs import GraphType, Pinned
from gateway.engine.store import RunRow, Store
from gateway.llm.model import model_operation
from gateway.phone import PHONE
from gateway.phone.agents.agent import Agent
from gateway.phone.agents.builtin import BuiltinAgent
from gateway.phone.agents.extensions import Extensions, installed
from gateway.phone.agents.foreign import ForeignAgent, predict_operation
from gateway.phone.judging.consequential import words
from gateway.phone.task.act import Act
from gateway.phone.task.choose import ChooseAction
from gateway.phone.task.consult import AskUser, CallTool
from gateway.phone.task.ending import Stop
from gateway.phone.task.hands import Hands
from gateway.phone.task.operations import device_operations
from gateway.phone.task.perceive import Perceive, WaitIdle
from gateway.phone.task.setup import EnsureDevice, LaunchOrAttach, ProvisionApp, RestartApp
from gateway.phone.task.state import PhoneContext, PhoneState
from gateway.phone.task.verify import Verify
from gateway.phone.trajectory.projection import project
from gateway.tools.calling import ToolCaller
from gateway.tools.operations import context_of, tool_operations
from gateway.tools.registry import Registry, ToolContext, Touches

BUILTIN = "builtin"


def phone_graph(agent: Agent, context: PhoneContext, registry: Registry, extensions: Extensions) -> Graph:
    """The nodes of a task, with what shapes it."""
    careful = words(context.options.languages, context.options.consequential)
    nodes: list[AnyNode] = [
        EnsureDevice(),
        ProvisionApp(),
        LaunchOrAttach(),
        WaitIdle(),
        Perceive(),
        ChooseAction(agent, registry.names(), context.max_steps),
        Act(careful, extensions),
        Verify(),
        AskUser(),
        CallTool(ToolCaller(registry, context.settings.get("tools", {}), what="task")),
        RestartApp(),
        Stop(),
    ]
    return Graph(PHONE, nodes, start="EnsureDevice")


def phone_type(
    home: Path,
    store: Store,
    registry: Callable[[Pinned], Registry],
    model: Model,
    *,
    agents: Mapping[str, object],
    extensions: Mapping[str, Extensions],
    api_key: str = "",
) -> GraphType:
    """The kind of run that a task on a phone is. `registry` gives the tools of a run from what it pinned; the phone's
    own are left out, since the task has the phone. `agents` and `extensions` are what a program has given to runs, by
    their ids: an agent object of its own, further actions and middleware."""
    hands = Hands(store)

    def tools(pinned: Pinned) -> Registry:
        return Registry(each for each in registry(pinned) if Touches.PHONE not in each.touches)

    def agent_of(context: PhoneContext, pinned: Pinned) -> Agent:
        if context.options.agent == BUILTIN:
            texts = {name: pinned.text(name) for name in pinned.names() if not name.startswith("mcp/")}
            return BuiltinAgent(texts, context.models[PHONE], images=context.options.images)
        return ForeignAgent()

    def build(context: PhoneContext, pinned: Pinned) -> Graph:
        added = extensions.get(context.run_id) or installed()
        return phone_graph(agent_of(context, pinned), context, tools(pinned), added)

    def operations(row: RunRow, context: PhoneContext, pinned: Pinned) -> Mapping[str, Operation]:
        added = extensions.get(row.id) or installed()
        hand, there = hands.of(row.id, context.options), tools(pinned)

        def told(scope: Scope) -> ToolContext:
            return context_of(scope, workspace=Path(context.workspace), home=home, settings=context.settings)

        found = [
            model_operation(model),
            *device_operations(hand, added, context.options.patience),
            *tool_operations(there, told),
        ]
        if context.options.agent != BUILTIN:
            spec = agents.get(row.id, context.options.agent)
            offered = [
                {"name": each.name, "description": each.description, "parameters": each.schema()} for each in there
            ]
            found.append(predict_operation(spec, context, row.id, added, tools=offered, api_key=api_key))
        return {operation.name: operation for operation in found}

    return GraphType(PHONE, PhoneContext, PhoneState, build, operations, project, hands.let_go)
