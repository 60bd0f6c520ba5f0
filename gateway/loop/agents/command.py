"""`command:` agents: any program that works in the workspace and ends is an agent that can be looped.

What it is to do comes on its standard input; `ECHELON_SESSION`, `ECHELON_ITERATION`, `ECHELON_MAX_ITERATIONS` and
`ECHELON_EVALUATION` (a JSON file, the last `Evaluation`) are in its environment, which is otherwise as bare as that of
every program of the gateway. Where it ends with 0 its iteration is done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gateway.engine.files import write_atomically
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Json, Operation, Scope
from gateway.engine.runs import GraphType, Pinned, Projection
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.errors import BudgetExhausted, ConfigError, StoreError, ToolError
from gateway.loop.agents.agent import Assignment, Told, ended, in_a_line
from gateway.loop.assignment import full
from gateway.loop.command import program_of
from gateway.loop.state import Evaluation, LoopContext, Plain
from gateway.tools.child import Caller, ChildRun
from gateway.tools.sandbox import run_program

NAME = "command"  # the kind of run
RUN = "command.run"
LAST = 500  # characters of the end of the output that a summary may be made from
EVALUATION, OUTPUT = "evaluation.json", "output.txt"


class CommandContext(Plain):
    """A program with its arguments, where it runs, and what it is told. `env` are names of variables that it is given
    from the gateway's environment; their values are nowhere written down. `folder` is the run's own."""

    command: tuple[str, ...]
    workspace: str
    folder: str
    request: str
    session: str
    iteration: int
    max_iterations: int
    evaluation: Evaluation | None
    env: tuple[str, ...]
    timeout_s: float


class CommandState(Plain):
    """How the program ended: its exit code, negative for a signal, None where it did not end in time; the end of what
    it printed; and all of it, as far as it was kept, as an artifact."""

    code: int | None = None
    last: str = ""
    output: str = ""


class Run(Node[CommandState, CommandContext, None, CommandState]):
    """Runs the program to its end. However it ends, the run has done what it was for: what that means for the session
    is the session's to say."""

    name = "Run"
    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: CommandState, context: CommandContext) -> None:
        return None

    async def execute(self, given: None, visit: Visit) -> CommandState:
        done = await visit.call(RUN, {})
        output: str = done["output"]
        return CommandState(code=done["code"], last=output[-LAST:].strip(), output=visit.artifacts.put(output.encode()))

    def apply_output(self, state: CommandState, output: CommandState) -> CommandState:
        return output


def command_type() -> GraphType:
    """The kind of run that an iteration of a `command:` agent is."""

    def operations(row: RunRow, context: CommandContext, pinned: Pinned) -> Mapping[str, Operation]:
        async def run(args: Json, scope: Scope) -> Json:
            return await _run(context, scope)

        # After a crash the program is run again: it works from what it finds in the workspace.
        return {RUN: Operation(RUN, run, Effect.IDEMPOTENT)}

    graph = Graph(NAME, [Run()], start="Run")
    return GraphType(NAME, CommandContext, CommandState, lambda *_: graph, operations, _shown)


def _shown(row: RunRow, context: CommandContext, state: RunState, artifacts: object) -> Projection:
    data = state.data
    assert isinstance(data, CommandState)
    return Projection(Path(context.folder), artifacts={OUTPUT: data.output} if data.output else {})


async def _run(context: CommandContext, scope: Scope) -> Json:
    """{code, output}. Raises BudgetExhausted where the session's own time was up before the iteration's."""
    evaluation = Path(context.folder) / EVALUATION
    found = context.evaluation.model_dump_json(indent=1) if context.evaluation else "null"
    try:
        write_atomically(evaluation, found.encode())
    except OSError as error:
        raise StoreError(
            f"cannot write {evaluation}: {error.strerror}", hint="free some disk space, then resume the session"
        ) from error
    env = {name: os.environ[name] for name in context.env if name in os.environ}
    env |= {
        "ECHELON_SESSION": context.session,
        "ECHELON_ITERATION": str(context.iteration),
        "ECHELON_MAX_ITERATIONS": str(context.max_iterations),
        "ECHELON_EVALUATION": str(evaluation),
    }
    left = scope.limits.get("time_s", context.timeout_s)
    finished = await run_program(
        context.command,
        cwd=Path(context.workspace),
        deadline_s=min(left, context.timeout_s),
        env=env,
        stdin=context.request.encode(),
        memory_bytes=None,
    )
    if finished.code is None and left < context.timeout_s:
        raise BudgetExhausted("time_s", left, left)
    return {"code": finished.code, "output": finished.output}


class CommandAgent:
    """The agent of one session. Raises ConfigError where its name has no program."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        try:
            self._command = tuple(program_of(context.options.agent))
        except ToolError as error:
            raise ConfigError(f"the agent {context.options.agent!r}: {error}", hint=error.hint) from None

    async def pins(self) -> dict[str, bytes]:
        return {}

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        session, options = self._context, self._context.options
        context = CommandContext(
            command=self._command,
            workspace=session.workspace,
            folder=str(caller.folder / caller.run_id),
            request=full(given),
            session=session.run_id,
            iteration=given.iteration,
            max_iterations=given.max_iterations,
            evaluation=given.evaluation,
            env=options.agent_env,
            timeout_s=options.iteration_timeout_s,
        )
        title = f"iteration {given.iteration}: {' '.join(self._command)}"
        return ChildRun(NAME, context, CommandState(), title=title, limits={}, pins={})

    def told(self, state: RunState, hint: str) -> Told:
        data = state.data
        assert isinstance(data, CommandState)
        if state.status is Status.FAILED and state.stop_reason == f"error:{ToolError.kind}":
            hint = "name a program that is there and may be executed: in the workspace (./mend.sh), or on PATH"
            return Told(outcome="failed", summary=str(state.error), error_kind=ToolError.kind, hint=hint, fatal=True)
        if state.status is not Status.COMPLETE or data.code == 0:
            return ended(state, hint, _last_line(data) or "it printed nothing")
        if data.code is None:
            why, kind = f"it did not end within {self._context.options.iteration_timeout_s:g} s", "timeout"
        else:
            how = f"ended with code {data.code}" if data.code > 0 else f"was ended by signal {-data.code}"
            why, kind = f"the command {how}", "exit"
        said = in_a_line(data.last)
        return Told(outcome="failed", summary=f"{why}: {said}" if said else why, error_kind=kind)


def _last_line(data: CommandState) -> str:
    return next(filter(None, map(in_a_line, reversed(data.last.splitlines()))), "")
