"""What the agent asks of others than the phone: the person, and tools."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node
from gateway.engine.ports import Json
from gateway.errors import UserCancelled
from gateway.phone.harmless import harmless
from gateway.phone.task.choose import recorded
from gateway.phone.task.state import PhoneContext, PhoneState, Plain, Result, TaskOptions
from gateway.tools.calling import ToolCaller

SKIP, CANCEL, DONE = "skip", "cancel", "done"
SHOWN = 2000  # characters of a tool's result that the agent is shown
NOTED = 500  # … and of what stands of it in the trajectory, on one line: it cannot pretend to be more than a note


@dataclass(frozen=True)
class Wanted:
    action: dict[str, Json]
    options: TaskOptions
    number: int


class Told(Plain):
    """What came of it: `said` goes into the next observation."""

    said: Json
    result: Result
    at: float


class AskUser(Node[PhoneState, PhoneContext, Wanted, Told]):
    """Asks the person, or hands over the phone (`takeover`). The process may end meanwhile, and the phone is free."""

    name = "AskUser"
    on_success = "WaitIdle"

    def build_input(self, state: PhoneState, context: PhoneContext) -> Wanted:
        return Wanted(state.queue[0], context.options, state.decisions)

    async def execute(self, asked: Wanted, visit: Visit) -> Told:
        question, takeover = str(asked.action["question"]), bool(asked.action.get("takeover"))
        deadline = asked.options.takeover_timeout if takeover else asked.options.ask_timeout
        if takeover:
            question = f"The phone is yours: {question} Answer `{DONE}` when it may go on."
        words = f"{question} (`{SKIP}` goes on without an answer, `{CANCEL}` ends the task)"
        answer = await visit.ask("user", words, deadline_s=deadline, on_timeout="")
        at = await visit.now()
        match answer.strip().casefold():
            case "cancel":
                raise UserCancelled("the user has cancelled the task")
            case "":
                note = f"the user did not answer within {deadline:g} s: go on without, or ask again"
                return Told(said=None, result=Result(ok=False, cause="no_answer", note=note), at=at)
            case "skip":
                note = "the user does not want to answer: go on without"
                return Told(said=None, result=Result(ok=False, cause="skipped", note=note), at=at)
        note = "the user had the phone, and gave it back" if takeover else f"the user answered: {answer}"
        return Told(said=answer, result=Result(ok=True, note=note), at=at)

    def apply_output(self, state: PhoneState, output: Told) -> PhoneState:
        return _told(state, output)


class CallTool(Node[PhoneState, PhoneContext, Wanted, Told]):
    """Calls a tool of the gateway, an MCP server's too, under the same policy as a turn does. What there is not, is not
    allowed, or fails, is an answer that the agent gets."""

    name = "CallTool"
    on_success = "WaitIdle"

    def __init__(self, caller: ToolCaller) -> None:
        self._caller = caller

    def build_input(self, state: PhoneState, context: PhoneContext) -> Wanted:
        return Wanted(state.queue[0], context.options, state.decisions)

    async def execute(self, asked: Wanted, visit: Visit) -> Told:
        name, args = str(asked.action["tool"]), dict(asked.action.get("args") or {})
        # What stands on a screen was written by strangers: --yes does not answer for them.
        called = await self._caller.call(visit, name, args, strangers=True)
        result, text = called.result, str(called.result["text"])
        said = {"tool": name, "ok": result["ok"], "result": text[:SHOWN]}
        return Told(
            said=said,
            result=Result(
                ok=bool(result["ok"]), cause="" if result["ok"] else "tool_failed", note=harmless(text, NOTED), how=name
            ),
            at=await visit.now(),
        )

    def apply_output(self, state: PhoneState, output: Told) -> PhoneState:
        return _told(state, output)


def _told(state: PhoneState, output: Told) -> PhoneState:
    state = recorded(state, output.result, at=output.at)
    return state.with_(queue=(), tool_result=output.said, note=output.result.note)
