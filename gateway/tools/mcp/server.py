"""One MCP server of the configuration: started when first needed, again after it died, and what it offers."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gateway.config import McpServer
from gateway.engine.files import write_atomically
from gateway.engine.ports import Effect, Json, LinkLost
from gateway.engine.records import plain
from gateway.errors import ToolError
from gateway.tools.mcp.connection import Connection, Lost, NotSent, Offered
from gateway.tools.mcp.declared import Declaration, Declared, declare
from gateway.tools.mcp.site import address
from gateway.tools.mcp.trouble import Log, Trouble

if TYPE_CHECKING:
    from mcp_types import CallToolResult

FIRST_DELAY_S = 0.5  # before it is started again, twice as long each time
SILENT_DELAY_S = 60.0  # after one that did not answer, which every try would wait for
MAX_DELAY_S = 300.0
PATIENCE_S = 2.0  # a longer delay is not waited for


class Server:
    """`label` is its part of tools' and files' names: `<folder>/<label>.json` is what it offered when it was last
    started, `<label>.log` what it wrote to its standard error."""

    def __init__(
        self, name: str, label: str, config: McpServer, folder: Path, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self.name = name
        self.label = label
        self.config = config
        self._cache = folder / f"{label}.json"
        self._log = folder / f"{label}.log"
        self._redact = redact
        self._current: Connection | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._why = ""
        self._declared: Declared | None = None
        self._at = f" ({redact(address(config.url))})" if config.url is not None else ""

    async def declared(self) -> Declared:
        """What it offers: as it is known here, else as it was when it was last started, else it is started now.
        Raises ToolError."""
        if self._declared is None:
            self._declared = await asyncio.to_thread(self._cached)
        return self._declared or await self.ask()

    async def ask(self) -> Declared:
        """What it offers, by its own word. Raises ToolError."""
        await self._connection()
        assert self._declared is not None
        return self._declared

    async def call(self, declaration: Declaration, args: Mapping[str, Json]) -> CallToolResult:
        """A call of its tool, within the configured deadline once the server is there. One that changes nothing, or
        may be repeated, is made again where the connection was lost; any other is in doubt then.

        Raises ToolError, LinkLost.
        """
        repeatable = declaration.effect is not Effect.ONCE
        connection = await self._connection()
        try:
            async with asyncio.timeout(self.config.deadline_s):
                try:
                    return await connection.call(declaration.tool, args)
                except (NotSent, Lost) as error:
                    if isinstance(error, Lost) and (not repeatable or connection.trouble.cut):
                        raise
                connection = await self._connection(connection)
                return await connection.call(declaration.tool, args)
        except TimeoutError:
            why = f"{declaration.name} did not answer within {self.config.deadline_s:g} s"
            if not repeatable:
                raise LinkLost(why) from None
            raise ToolError(why, hint=f"raise tools.mcp_servers.{self.name}.deadline_s") from None
        except Lost as error:
            why = f"the MCP server {self.name} was lost in the middle of the call: {error}"
            if not repeatable:
                raise LinkLost(why) from None
            raise ToolError(why, hint=self._hint()) from None
        except NotSent:
            raise ToolError(f"the MCP server {self.name} cannot be used: {connection.why}{self._at}") from None
        except ToolError as error:
            raise ToolError(f"{declaration.name}: {error}", hint=error.hint) from None

    async def close(self) -> None:
        """End it; nothing of it is left afterwards."""
        if self._current is not None:
            self._end(self._current)
            self._current = None
        if self._ending:
            await asyncio.wait(self._ending)

    async def _connection(self, broken: Connection | None = None) -> Connection:
        """The one that there is, else a new one. Raises ToolError."""
        async with self._lock:
            current = self._current
            if current is not None and (not current.alive or current is broken):
                was_useful = current.answered > 0 or self.config.url is not None  # to connect again costs little
                self._failures = 0 if was_useful else self._failures + 1
                self._put_off(current.why, 0.0 if was_useful else FIRST_DELAY_S)
                self._end(current)
                current = self._current = None
            if current is None:
                await self._wait()
                current = self._current = Connection(self._transport(trouble := self._trouble()), trouble, self._learn)
            try:
                await current.opened()
            except ToolError as error:
                self._failures += 1
                self._put_off(f"{error}{self._at}", SILENT_DELAY_S if current.silent else FIRST_DELAY_S)
                self._end(current)
                self._current = None
                raise ToolError(
                    f"the MCP server {self.name} cannot be used: {error}{self._at}", hint=error.hint or self._hint()
                ) from None
            return current

    def _put_off(self, why: str, delay_s: float) -> None:
        self._why = why
        self._not_before = time.monotonic() + min(MAX_DELAY_S, delay_s * 2 ** min(max(0, self._failures - 1), 20))

    async def _wait(self) -> None:
        left = self._not_before - time.monotonic()
        if left > PATIENCE_S:
            raise ToolError(
                f"the MCP server {self.name} cannot be used: {self._why}; it is tried again in {left:.0f} s",
                hint=self._hint(),
            )
        await asyncio.sleep(max(0.0, left))

    def _end(self, connection: Connection) -> None:
        task = asyncio.create_task(connection.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _hint(self) -> str:
        where = f"; {self._log} has what it wrote" if self._log.exists() else ""
        return f"see tools.mcp_servers.{self.name} in the configuration{where}"

    def _trouble(self) -> Trouble:
        return Trouble(Log(self._log, self._redact))

    def _transport(self, trouble: Trouble) -> Callable[[], Any]:
        from gateway.tools.mcp.program import program
        from gateway.tools.mcp.site import site

        config = self.config
        if config.url is not None:
            headers = {key: value.get_secret_value() for key, value in config.headers.items()}
            return lambda: site(str(config.url), headers, config.deadline_s, trouble)
        env = {key: value.get_secret_value() for key, value in config.env.items()}
        return lambda: program(str(config.command), config.args, env, config.cwd, trouble)

    async def _learn(self, offered: Offered) -> None:
        """What it offers now: for the turns that begin from now on, also of other processes."""
        self._declared = await asyncio.to_thread(self._keep, offered)

    def _keep(self, offered: Offered) -> Declared:
        declared = declare(self.name, self.label, plain(offered, self._redact))
        kept = {"config": self._digest(), "declared": declared.model_dump(mode="json")}
        with contextlib.suppress(OSError):  # then it is asked again
            write_atomically(self._cache, json.dumps(kept).encode())
        return declared

    def _cached(self) -> Declared | None:
        try:
            kept = json.loads(self._cache.read_bytes())
            return Declared.model_validate(kept["declared"]) if kept["config"] == self._digest() else None
        except (OSError, ValueError, TypeError, KeyError, ValidationError):
            return None

    def _digest(self) -> str:
        """Of what it is, without what is secret."""
        config = self.config
        names = [sorted(config.env), sorted(config.headers)]
        what = [self.name, config.command, config.args, str(config.cwd), config.url, *names]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()
