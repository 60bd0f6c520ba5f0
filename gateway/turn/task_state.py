"""How far a task has come, for people and for prompts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from gateway.turn.patterns.cursor import Cursor, MoveKind
from gateway.turn.patterns.program import Program


class TaskState(BaseModel):
    """A projection of a cursor; the pattern decides what completes a task, not an empty list.

    `current_step` counts tool calls from 1, as `max_steps` does. The lists and `step_results` (ok, failed) name steps.
    Steps that only decide are not listed, nor are those that a branch went past.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_type: str
    current_step: int
    max_steps: int
    completed_steps: list[str] = []
    pending_steps: list[str] = []
    step_results: dict[str, str] = {}

    @classmethod
    def of(cls, program: Program, cursor: Cursor) -> TaskState:
        ended = cursor.end is MoveKind.DONE
        ahead = program.steps[len(program.steps) if ended else program.step_at(cursor) :]
        pending = [step for step in ahead if step in program.graph.working]
        return cls(
            task_type=program.task_type,
            current_step=min(cursor.calls + 1, program.max_steps),
            max_steps=program.max_steps,
            completed_steps=[step for step, ok in cursor.done if ok and step not in pending],
            pending_steps=pending,
            step_results={step: "ok" if ok else "failed" for step, ok in cursor.done},
        )

    def line(self) -> str:
        """For a prompt: where the task stands."""
        done = ", ".join(self.completed_steps) or "nothing"
        left = ", ".join(self.pending_steps) or "nothing"
        call = f"tool call {self.current_step} of at most {self.max_steps}"
        return f"{self.task_type}: {call}; done: {done}; pending: {left}"
