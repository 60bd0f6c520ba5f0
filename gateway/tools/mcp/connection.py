"""One life of an MCP server: a connection in a task of its own, in which the SDK's scopes are entered and left."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gateway.engine.ports import Json
from gateway.errors import EchelonError, ToolError
from gateway.tools.mcp.declared import MALFORMED
from gateway.tools.mcp.schema import told
from gateway.tools.mcp.trouble import Trouble

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

START_S = 30.0  # until a server has told its tools
MAX_PAGES = 50  # of a list of tools
SETTLE_S = 1.0  # between two looks at a list that is said to have changed
CLOSE_S = 15.0

Offered = list[dict[str, Json]]  # tools, as MCP writes them
Open = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]


class Lost(Exception):
    """The connection ended while a call was under way, or its answer cannot be read: it may have happened or not."""


class NotSent(Exception):
    """The call has not reached the server, or was turned away before anything was done: it can be made again."""


class Connection:
    """Begins to open at once. `offers` is told the server's tools once it is there, and when it says that they have
    changed."""

    def __init__(self, transport: Open, trouble: Trouble, offers: Callable[[Offered], Awaitable[None]]) -> None:
        self.trouble = trouble
        self.answered = 0  # calls
        self._transport = transport
        self._offers = offers
        self._client: Client | None = None
        self._under_way = 0
        self._error: BaseException | None = None
        self._wake = asyncio.Event()
        self._news = False
        self._stopping = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._opened.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting
        self._task = asyncio.create_task(self._live(), name="mcp")

    @property
    def alive(self) -> bool:
        return not (self._task.done() or self._stopping or self.trouble.gone)

    @property
    def silent(self) -> bool:
        """Whether it could not be opened since nobody answered."""
        return isinstance(self._error, TimeoutError)

    async def opened(self) -> None:
        """Returns once it is there and has told its tools. Raises ToolError."""
        await asyncio.shield(self._opened)

    async def call(self, tool: str, args: Mapping[str, Json]) -> CallToolResult:
        """Raises ToolError for what the server says against it, Lost and NotSent."""
        from mcp import MCPError

        client, alone = self._client, self._under_way == 0
        if client is None or not self.alive:
            raise NotSent
        self._under_way += 1
        self.trouble.status = None if alone else self.trouble.status
        try:
            result = await client.call_tool(tool, dict(args))
        except MCPError as error:
            await self._judge(error.error.code, error.error.message, alone and self._under_way == 1)
            raise ToolError(told(error.error.message) or "it refused the call") from None
        except (ValueError, RuntimeError) as error:  # its answer is no result, or not what its own schema says
            if not self.alive:
                raise Lost(self.why) from error
            raise ToolError(f"its answer cannot be used: {told(str(error))}") from None
        except Exception as error:
            raise Lost(self.why) from error
        finally:
            self._under_way -= 1
        self.answered += 1
        return result

    async def _judge(self, code: int, message: str, alone: bool) -> None:
        """Raises what the SDK's errors of its own mean; returns for those of the server."""
        from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

        if message == "Session terminated":  # an HTTP server that began anew
            self.stop()
            raise NotSent
        if code == CONNECTION_CLOSED:
            await asyncio.wait([self._task], timeout=1)
            if alone and any(type(each).__name__ == "ConnectError" for each in _leaves(self._error)):
                raise NotSent
            raise Lost(self.why)
        if code == PARSE_ERROR or message.startswith("Unexpected content type"):
            raise Lost(f"it answered what cannot be read: {told(message)}")
        if message == "Server returned an error response":
            if (self.trouble.status or 500) >= 500:
                raise Lost(self.why)
            raise ToolError(f"it refused the call: {self.why}")

    @property
    def why(self) -> str:
        """What is known about how it ended."""
        if isinstance(self._error, EchelonError):
            return str(self._error)
        said = [_words(each) for each in _leaves(self._error)]
        if self.trouble.status is not None:
            said = [f"HTTP {self.trouble.status}"]
        return str(self.trouble) or "; ".join(dict.fromkeys(filter(None, said))) or "the connection was closed"

    def stop(self) -> None:
        """End it, without waiting."""
        self._stopping = True
        self._wake.set()
        if not self._opened.done():
            self._task.cancel()

    async def close(self) -> None:
        """End it, and wait until nothing of it is left."""
        self.stop()
        await asyncio.wait([self._task], timeout=CLOSE_S)

    async def _live(self) -> None:
        error: BaseException | None = None
        try:
            await asyncio.to_thread(importlib.import_module, "mcp")  # takes seconds
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(START_S):
                    client = await stack.enter_async_context(self._new_client())
                    offered = await _tools(client)
                self._client = client
                await self._offers(offered)
                self._opened.set_result(None)
                await self._watch(client)
        except BaseException as raised:
            error = raised
            if isinstance(raised, asyncio.CancelledError) and not self._stopping:
                raise
        finally:
            self._error, self._client, self._stopping = error, None, True
            if not self._opened.done():
                self._opened.set_exception(self._cannot_start())

    def _cannot_start(self) -> ToolError:
        hint = getattr(self._error, "hint", "")
        if isinstance(self._error, TimeoutError):
            self.trouble.note(f"did not answer within {START_S:g} s")
        if self.trouble.status in (401, 403):
            return ToolError(
                f"it refuses us (HTTP {self.trouble.status})", hint="give it what it asks for in its `headers`"
            )
        return ToolError(self.why, hint=hint)

    def _new_client(self) -> Client:
        import mcp_types
        from mcp import Client

        async def heard(message: Any) -> None:
            if isinstance(message, mcp_types.ToolListChangedNotification):
                self._tell_news()

        info = mcp_types.Implementation(name="echelon", version="0")
        return Client(self._mended(), client_info=info, message_handler=heard, cache=None)

    @asynccontextmanager
    async def _mended(self) -> AsyncIterator[tuple[Any, Any]]:
        async with self._transport() as (reading, writing):
            yield _Mended(reading, self._wake), writing

    def _tell_news(self) -> None:
        self._news = True
        self._wake.set()

    async def _watch(self, client: Client) -> None:
        """Until it is stopped, or the server has ended."""
        listening = asyncio.create_task(self._listen(client))
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._stopping or self.trouble.gone or self.trouble.reason:
                    return
                if self._news:
                    self._news = False
                    with contextlib.suppress(Exception):  # the list that there is stays
                        await self._offers(await _tools(client))
                    await asyncio.sleep(SETTLE_S)
        finally:
            listening.cancel()
            await asyncio.wait([listening])

    async def _listen(self, client: Client) -> None:
        """What newer servers tell only to who asks for it."""
        tools = client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        with contextlib.suppress(Exception):
            async with client.listen(tools_list_changed=True) as news:
                async for _ in news:
                    self._tell_news()


class _Mended:
    """A server's messages; tools that do not even have the form of one, for which the SDK would refuse the whole list,
    are made into such that are left out later, with the reason."""

    def __init__(self, stream: Any, ended: asyncio.Event) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return _mended(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _Mended:
        return self

    async def __anext__(self) -> Any:
        try:
            return _mended(await self._stream.__anext__())
        except StopAsyncIteration:
            self._ended.set()
            raise

    async def __aenter__(self) -> _Mended:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(*raised)
        return ended


def _mended(item: Any) -> Any:
    result = getattr(getattr(item, "message", None), "result", None)
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = [_well_formed(each) for each in result["tools"] if isinstance(each, dict)]
    return item


def _well_formed(tool: dict[str, Json]) -> dict[str, Json]:
    from mcp_types import methods

    schema = tool.get("inputSchema")
    if isinstance(schema, dict) and "type" not in schema:
        tool = {**tool, "inputSchema": {"type": "object", **schema}}
    try:
        methods.validate_server_result("tools/list", "2025-06-18", {"tools": [tool]})
        return tool
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][2:])  # below `tools` and its number
        why = {"type": "object", MALFORMED: f"{place}: {first['msg']}"}
        return {"name": str(tool.get("name"))[:64], "inputSchema": why}


async def _tools(client: Client) -> Offered:
    found: Offered = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in page.tools]
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """The errors of a group, and what they come of."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    elif error is not None:
        yield error


def _reason(error: BaseException) -> str:
    """What the operating system says, below what libraries make of it."""
    while below := error.__cause__ or error.__context__:
        error = below
    said = getattr(error, "strerror", None) or str(error)
    if isinstance(error, ConnectionError) and error.errno:  # asyncio puts the address in the place of the reason
        said = os.strerror(error.errno)
    return told(str(said), 200)


def _words(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return ""
    if type(error).__name__ == "ConnectError":
        return f"it cannot be reached: {_reason(error)}"
    return told(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, 200)
