"""What the nodes of a session have in common."""

from __future__ import annotations

from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.loop.state import LoopContext, LoopState


class SessionNode(Node[LoopState, LoopContext, LoopState, LoopState]):
    """Is given the state, and gives the next one; what fails is not tried again by itself."""

    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: LoopState, context: LoopContext) -> LoopState:
        return state

    def apply_output(self, state: LoopState, output: LoopState) -> LoopState:
        return output
