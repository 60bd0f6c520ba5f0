"""A server that is a program: spoken to in lines of JSON over its standard input and output.

The SDK has a transport for this, too. This one bounds what a server may send (the SDK's keeps a line of any length, and
copies it with each piece that comes), keeps its standard error in a file, and notices at once that it has ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.errors import ToolError
from gateway.tools.mcp.trouble import ENDED, Log, Trouble
from gateway.tools.process import create_process
from gateway.tools.sandbox import clean_environment

if TYPE_CHECKING:
    from asyncio.subprocess import Process

MAX_MESSAGE = 16 << 20  # bytes of one message; between two answers there may be twice as much
MAX_UNASKED = 10_000  # messages between two answers
IGNORED = ("notifications/message", "notifications/progress")  # nobody here reads them
GRACE_S = 2.0  # to end by itself once its input is closed, then after SIGTERM
DRAIN_S = 1.0  # for what is left of its standard error
LOG_PAUSE_S = 0.05  # between reads of a standard error that is not kept any more: so a flood slows itself down


@asynccontextmanager
async def program(
    command: str, args: Sequence[str], env: Mapping[str, str], cwd: Path | None, trouble: Trouble
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a program that is started here, and has ended, with all that it started, afterwards.

    `env` comes on top of the clean environment. Raises ToolError if it cannot be started.
    """
    import anyio

    process = await _started(command, args, env, cwd)
    trouble.watch(process.pid)
    to_client, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, from_client = anyio.create_memory_object_stream[Any](0)
    asked: set[Any] = set()  # the numbers of our requests that have no answer yet
    try:
        async with anyio.create_task_group() as tasks:
            logging = asyncio.create_task(_log(process, trouble.log))
            tasks.start_soon(_read, process, to_client, asked, trouble)
            tasks.start_soon(_write, process, from_client, to_client, asked)
            try:
                yield incoming, outgoing
            finally:
                incoming.close()
                outgoing.close()
                if trouble.gone:  # which nobody may have noticed yet
                    trouble.note(ENDED)
                trouble.closing = True
                with anyio.CancelScope(shield=True):
                    trouble.exit_code = await _stop(process, trouble)
                    await asyncio.wait([logging], timeout=DRAIN_S)
                logging.cancel()
                tasks.cancel_scope.cancel()
    finally:
        _end(process, signal.SIGKILL)  # also where a second cancellation came in between
        process._transport.close()  # type: ignore[attr-defined]  # else it is left to the garbage collector
        for stream in (to_client, incoming, outgoing, from_client):
            stream.close()
        trouble.log.close()


async def _started(command: str, args: Sequence[str], env: Mapping[str, str], cwd: Path | None) -> Process:
    environment = clean_environment(env)
    try:
        return await create_process(
            command,
            *args,
            cwd=cwd,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=MAX_MESSAGE,
        )
    except FileNotFoundError as error:
        if cwd is not None and str(error.filename) == str(cwd):
            raise ToolError(f"there is no folder {cwd}", hint="mend its cwd") from error
        hint = "install it, or give its whole path: it is looked for in PATH"
        if len(command.split()) > 1:
            hint = "`command` is the program alone: write its arguments in `args: [...]`"
        raise ToolError(f"there is no command {command}", hint=hint) from error
    except (OSError, ValueError) as error:
        raise ToolError(f"{command} cannot be started: {getattr(error, 'strerror', None) or error}") from error


async def _read(process: Process, to_client: Any, asked: set[Any], trouble: Trouble) -> None:
    """Messages, until the program ends or sends too much."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

    assert process.stdout is not None
    size = count = 0
    async with to_client:
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                trouble.cut_off(f"sent a message of more than {MAX_MESSAGE >> 20} MB")
                return
            if not line:
                if not trouble.closing:
                    trouble.note(ENDED)
                return
            size, count = size + len(line), count + 1
            if count > MAX_UNASKED or size > 2 * MAX_MESSAGE:
                trouble.cut_off(f"sent {count:,} messages, {size:,} bytes, that nobody asked for")
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                if line.strip():
                    trouble.garbage = line[:200].decode("utf-8", "replace")
                await asyncio.sleep(0)
            else:
                if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in asked:
                    asked.discard(message.id)
                    size = count = 0
                if getattr(message, "method", None) in IGNORED:
                    await asyncio.sleep(0)
                    continue
                try:
                    await to_client.send(SessionMessage(message))
                except (BrokenResourceError, ClosedResourceError):
                    return


async def _write(process: Process, from_client: Any, to_client: Any, asked: set[Any]) -> None:
    assert process.stdin is not None
    try:
        async with from_client:
            async for item in from_client:
                if getattr(item.message, "method", "") and getattr(item.message, "id", None) is not None:
                    asked.add(item.message.id)
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()
    except (OSError, ValueError):
        to_client.close()  # whoever waits for an answer is told


async def _log(process: Process, log: Log) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(1 << 16):
        log.feed(data)
        await asyncio.sleep(LOG_PAUSE_S if log.full and process.returncode is None else 0)


async def _stop(process: Process, trouble: Trouble) -> int | None:
    """Close its input, and wait; then the signals, to the whole group. The exit code of one that needed none."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    if trouble.cut:
        _end(process, signal.SIGKILL)
    for last in (signal.SIGTERM, signal.SIGKILL):
        with suppress(TimeoutError):
            code = await asyncio.wait_for(process.wait(), GRACE_S)
            return code if last is signal.SIGTERM and not trouble.cut else None
        _end(process, last)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE_S)
    return None


def _end(process: Process, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
