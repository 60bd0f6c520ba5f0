"""The tools of one gateway as an MCP server: which there are, and how a call of one is a turn."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from echelon.mcp_server import results
from echelon.mcp_server.lanes import Lanes
from echelon.mcp_server.offer import RUN, Offer, RunArguments, Selection
from echelon.mcp_server.progress import Progress
from echelon.mcp_server.questions import ANSWER, Question, Unanswered, asked_before, can_be_asked
from echelon.mcp_server.works import Act, Left, Works
from gateway import Gateway, Turn
from gateway.errors import EchelonError, UsageError
from gateway.sessions import check_session
from gateway.stream import OnEvent

NAME = "echelon"
ANSWERED_S = 86_400.0  # for so long a question that was put can be answered through the client

Context = ServerRequestContext[Any]
Result = types.CallToolResult | types.InputRequiredResult
Say = Callable[[str], None]


class ToolServer:
    """Serves the tools of one gateway; `say` is told a line for each call: never its arguments."""

    def __init__(self, gateway: Gateway, session: str, selection: Selection, say: Say) -> None:
        check_session(session)
        self.works = Works()
        self._gateway = gateway
        self._offer = Offer(gateway, selection, say)
        self._lanes = Lanes(gateway.runs, session)
        self._say = say

    def protocol(self) -> Server[Any]:
        """The SDK's server, for any transport and any number of clients."""
        server: Server[Any] = Server(
            NAME,
            title="Echelon",
            version=importlib.metadata.version("echelon-gateway"),
            instructions=f"Paths of files are relative to the workspace, {self._gateway.settings.workspace}.",
            get_tool_input_schema=self._offer.schema,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # What a client says it was asked is what it was asked, and by this process.
        server.middleware.append(
            RequestStateBoundary(RequestStateSecurity.ephemeral(ttl=ANSWERED_S), default_audience=NAME)
        )
        return server

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await self._offer.listed())

    async def _call(self, ctx: Context, params: types.CallToolRequestParams) -> Result:
        try:
            name = await self._offer.tool(params.name)
        except KeyError as error:
            raise MCPError(types.INVALID_PARAMS, str(error.args[0])) from None
        call = _Call(self._gateway, self._lanes, self.works, ctx, name)
        began, outcome = time.monotonic(), "cancelled"
        try:
            found = await call.result(params)
            outcome = "asks" if isinstance(found, types.InputRequiredResult) else "failed" if found.is_error else "ok"
            return found
        finally:
            self._say(f"{name}{call.place} {outcome} {time.monotonic() - began:.1f} s")


class _Call:
    """One request of a client, which may ask the client in turn."""

    def __init__(self, gateway: Gateway, lanes: Lanes, works: Works, ctx: Context, name: str) -> None:
        self.place = ""  # " session/turn", once that is known
        self._gateway = gateway
        self._lanes = lanes
        self._works = works
        self._ctx = ctx
        self._name = name
        self._progress = Progress(ctx.session)

    async def result(self, params: types.CallToolRequestParams) -> Result:
        try:
            turn = await self._begun(params)
            while turn.waiting is not None:
                question = Question.of(self._gateway, turn)
                if not can_be_asked(self._ctx.session.client_capabilities):
                    raise Unanswered(turn)
                if self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:  # there the client sends the call again
                    asked = types.ElicitRequest(params=question.form())
                    return types.InputRequiredResult(input_requests={ANSWER: asked}, request_state=question.state())
                turn = await self._answered(question, await self._said(question))
        except Unanswered as unanswered:
            return results.unanswered(self._gateway, unanswered.turn)
        except Left:
            return results.failed("the server ends: what was under way is left, see `echelon runs list`")
        except EchelonError as error:
            return results.of_error(error)
        return results.of_run(turn) if self._name == RUN else results.of_call(self._gateway, turn)

    async def _begun(self, params: types.CallToolRequestParams) -> Turn:
        """The turn, up to its end or its first question; the one that the client was asked about, with its answer."""
        if params.request_state is None:
            return await self._worked_on(self._act(params.arguments or {}))
        turn, question = asked_before(self._gateway, params.request_state)
        if question is None:  # it was answered elsewhere
            return turn
        return await self._answered(question, (params.input_responses or {}).get(ANSWER))

    def _act(self, arguments: dict[str, Any]) -> Act:
        """A whole turn in the session that knows of those before it, or a call in whichever is free."""
        if self._name != RUN:
            return partial(_calling, self._gateway, self._lanes, self._name, arguments)
        try:
            request = RunArguments.model_validate(arguments).request
        except ValidationError as error:
            raise UsageError(f"{RUN}: {error.errors()[0]['msg']}: expected {{request}}") from None
        return lambda tell: self._gateway.run(request, session=self._lanes.first, on_event=tell)

    async def _said(self, question: Question) -> object:
        """What the person said; None where the client did not ask."""
        form = question.form()
        try:
            return await self._ctx.session.elicit_form(form.message, form.requested_schema, self._ctx.request_id)
        except MCPError:
            return None

    async def _answered(self, question: Question, said: object) -> Turn:
        """The turn with the answer; as it is where its question was answered elsewhere meanwhile. Raises Unanswered."""
        answer = question.answer(said)
        now, still = asked_before(self._gateway, question.state())
        if still is None:
            return now
        return await self._worked_on(lambda tell: self._gateway.answer(now.run_id, answer, on_event=tell))

    async def _worked_on(self, act: Act) -> Turn:
        turn = await self._works.carry_out(act, self._progress.tell)
        self.place = f" {turn.session}/{turn.number}"
        return turn


async def _calling(gateway: Gateway, lanes: Lanes, name: str, arguments: dict[str, Any], tell: OnEvent) -> Turn:
    async with lanes.free() as session:
        return await gateway.call_tool(name, arguments, session=session, on_event=tell)
