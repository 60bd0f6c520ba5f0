"""A memory is forgotten in a home, by processes that are killed one step further each time; then it is erased again.

`erasure.py HOME WORKSPACE KEY` prints what became of each, as JSON. Each works on a copy of the home.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gateway import Gateway, Settings
from gateway.engine import erasing, files, graph_type
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.scripted import ScriptedClock, ScriptedRandom
from gateway.engine.store import Store
from gateway.llm.scripted import ScriptedModel
from gateway.tools.builtin.memory import memory_forget, memory_save, memory_search, memory_update
from gateway.tools.memories import Memories
from gateway.tools.registry import Registry

SECRET = b"471199"
STEPS: tuple[tuple[Any, str], ...] = (
    (Store, "write"),
    (Store, "compact"),
    (ArtifactStore, "put"),
    (ArtifactStore, "remove"),
    (ArtifactStore, "show"),
    (Memories, "forget"),
    (Memories, "erased"),
    (erasing, "write_atomically"),
    (graph_type, "write_atomically"),
    (Path, "unlink"),
)


def killed_at(step: int) -> None:
    """From now on the process kills itself before the step of this number."""
    done = 0

    def counted(act: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **more: Any) -> Any:
            nonlocal done
            done += 1
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*args, **more)

        return counting

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))


def gateway(home: Path, workspace: Path) -> Gateway:
    values = {"model": "scripted", "workspace": str(workspace)}
    return Gateway(
        Settings.load(values, cwd=workspace, environ={"ECHELON_HOME": str(home)}),
        model=ScriptedModel([], clock=ScriptedClock()),
        registry=lambda: Registry((memory_forget, memory_save, memory_search, memory_update)),
        clock=ScriptedClock(),
        random=ScriptedRandom(),
    )


async def forget(home: Path, workspace: Path, key: str) -> int:
    async with gateway(home, workspace) as opened:
        return 0 if await opened.forget_memory(key) else 1


async def recover(home: Path, workspace: Path, key: str) -> int:
    """Opening the home goes on with it; where the first process had not even begun, it is forgotten now."""
    async with gateway(home, workspace) as opened:
        if opened.memories():
            await opened.forget_memory(key)
        replayed = [await opened.replay(row.id) for row in opened.turns()]
    return 0 if all(each.finished and not each.differing for each in replayed) and gone_from(home) else 1


def gone_from(home: Path) -> bool:
    return not any(SECRET in path.read_bytes() for path in home.rglob("*") if path.is_file())


def in_process(act: Callable[[], int]) -> int:
    """What a process of its own ends with: its exit code, or the signal that killed it, below 0."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = act()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def tried(home: Path, workspace: Path, key: str, step: int) -> str:
    """What becomes of a copy of the home, where the first process is killed at this step."""
    copy = home.with_name(f"copy{step}")
    shutil.copytree(home, copy)

    def act() -> int:
        killed_at(step)
        return asyncio.run(forget(copy, workspace, key))

    first = in_process(act)
    again = in_process(lambda: asyncio.run(recover(copy, workspace, key)))
    shutil.rmtree(copy)
    ended = {-signal.SIGKILL: "killed", 0: "undisturbed"}.get(first, f"ended with {first}")
    return f"{ended}, then {'erased' if again == 0 else f'not erased ({again})'}" if first else ended


def main(home: Path, workspace: Path, key: str) -> list[str]:
    warm = home.with_name("warm")  # what is imported here, the others need not import again
    shutil.copytree(home, warm)
    asyncio.run(forget(warm, workspace, key))
    asyncio.run(recover(warm, workspace, key))
    outcomes: list[str] = []
    while not outcomes or outcomes[-1].startswith("killed"):
        outcomes.append(tried(home, workspace, key, len(outcomes) + 1))
    return outcomes


if __name__ == "__main__":
    assert files.write_atomically is erasing.write_atomically
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])))
