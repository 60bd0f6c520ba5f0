"""An operator at another terminal: `operator_lab.py HOME WORKSPACE TERM ORDERS` does one thing after the other to the
last session, once it is told to begin (a line on its standard input), and prints what each came to.

ORDERS is JSON: names of methods of `Gateway.loops` with their arguments. Leases are for TERM seconds.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from loop_lab import gateway_in

import gateway.gateway
from gateway.engine.lease import TERM_S
from gateway.engine.store import Store
from gateway.errors import EchelonError
from gateway.loop.state import LoopOptions

Orders = list[tuple[str, dict[str, Any]]]


async def carry_out(home: Path, workspace: Path, term_s: float, orders: Orders) -> None:
    gateway.gateway.Store = partial(Store, term_s=term_s)  # type: ignore[assignment,misc]
    async with gateway_in(home, workspace) as opened:
        opened.loops.all()  # with everything open
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for name, args in orders:
            try:
                if name == "start":
                    args = {**args, "options": LoopOptions.model_validate(args["options"])}
                    done = await opened.loops.start(**args)
                elif name == "watch":
                    done = [each.status async for each in opened.loops.watch("last")]
                else:
                    done = await getattr(opened.loops, name)("last", **args)
            except EchelonError as error:
                done = f"{type(error).__name__}: {error}"
            print(json.dumps(getattr(done, "status", done), default=str), flush=True)


class Operator:
    """One that is ready to begin."""

    def __init__(
        self, home: Path, workspace: Path, *orders: tuple[str, dict[str, Any]], term_s: float = TERM_S
    ) -> None:
        program = [sys.executable, __file__, str(home), str(workspace), str(term_s), json.dumps(orders)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    async def ready(self) -> Operator:
        assert self.process.stdout is not None
        line = await asyncio.to_thread(self.process.stdout.readline)
        assert line == "ready\n", self.process.communicate()[1]
        return self

    def begin(self) -> Operator:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self

    async def said(self) -> list[Any]:
        """What each order came to; the process has ended then."""
        out, errors = await asyncio.to_thread(self.process.communicate)
        assert not errors, errors
        return [json.loads(line) for line in out.splitlines()]

    async def killed(self) -> None:
        self.process.kill()
        await asyncio.to_thread(self.process.communicate)


if __name__ == "__main__":
    asyncio.run(carry_out(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4])))
