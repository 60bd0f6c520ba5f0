"""The end of a task: its answer, or why it is not done."""

from __future__ import annotations

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.errors import TaskUnfinished
from gateway.phone.task.state import Finished, PhoneContext, PhoneState


class Stop(Node[PhoneState, PhoneContext, Finished, None]):
    """Ends the run: complete where the agent says that the task is done, else failed with the agent's reason."""

    name = "Stop"
    on_success = None
    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: PhoneState, context: PhoneContext) -> Finished:
        assert state.finished is not None
        return state.finished

    async def execute(self, finished: Finished, visit: Visit) -> None:
        if not finished.success:
            raise TaskUnfinished(
                finished.reason or "the agent gave the task up", hint="the trajectory shows how far it came"
            )

    def apply_output(self, state: PhoneState, output: None) -> PhoneState:
        return state
