"""A session of three iterations that says what it did, and the processes that work on it until they are killed.

Its agent writes the number of each iteration into a file. As a program, `killed_session.py HOME PLAN` carries it out
once for each list of moments in PLAN (JSON; a moment is [which touch, "before" or "after"]), in processes that kill
themselves at these moments, and prints what became of each. A touch is an append to a log, its own or a child's, a
file that gets its name (of a checkpoint, the document, an artifact), or a program that is started, git among them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

import errand
from errand import Hook, HookedStore
from loop_lab import script

import gateway.gateway
from gateway import Gateway, Settings
from gateway.errors import UsageError
from gateway.loop.state import LoopOptions

ITERATIONS = 3
EXITS = ("command:test -e done", f"command:grep -qx {ITERATIONS} done")
AGENT = 'cat > /dev/null\necho "$ECHELON_ITERATION" >> done'
GIT = ("git", "-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main")


def prepare(home: Path) -> Path:
    """The workspace, a repository with one commit; and the agent, beside it."""
    workspace = home / "work"
    if not workspace.exists():
        (making := home / "making").mkdir()
        script(home / "agent.sh", AGENT)
        (making / "README").write_text("A project.\n")
        for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "begin")):
            subprocess.run([*GIT, *command], cwd=making, check=True, capture_output=True)
        making.rename(workspace)
    return workspace


def open_gateway(home: Path) -> Gateway:
    settings = Settings.load({"workspace": home / "work"}, environ={"ECHELON_HOME": str(home / "home")}, cwd=home)
    return Gateway(settings)


def watched(hook: Hook) -> None:
    """Have the hook told before and after each touch of the outside."""
    gateway.gateway.Store = lambda path: HookedStore(path, hook)  # type: ignore[assignment,misc]
    replace, start = os.replace, asyncio.create_subprocess_exec

    def replaced(*args: Any, **settings: Any) -> None:
        hook("before")
        replace(*args, **settings)
        hook("after")

    async def started(*args: Any, **settings: Any) -> Any:
        hook("before")
        process = await start(*args, **settings)
        hook("after")
        return process

    os.replace, asyncio.create_subprocess_exec = replaced, started


async def work(home: Path, hook: Hook) -> int:
    """What one process does: begin the session, or go on with it."""
    workspace = prepare(home)
    watched(hook)
    async with open_gateway(home) as opened:
        begun = opened.loops.all()
        if begun:
            with suppress(UsageError):  # it was complete
                await opened.loops.resume("last")
            (session,) = opened.loops.all()
        else:
            options = LoopOptions(agent=f"command:{workspace.parent / 'agent.sh'}", checkpoint_every=2)
            session = await opened.loops.start("Count", exits=EXITS, options=options)
    return int(session.status != "completed")


def git(workspace: Path, *arguments: str) -> list[str]:
    done = subprocess.run([*GIT, *arguments], cwd=workspace, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


async def result(home: Path) -> dict[str, Any]:
    """What is left behind, and whether a replay is identical. `begun` are the times that the agent was started, by
    iteration, and `late` those where it was although the iteration had ended."""
    async with open_gateway(home) as opened:
        (session,) = opened.loops.all()
        state, store = session.state, opened.runs.store
        replayed = await opened.replay(session.run_id)
        again = [*replayed.differing, *(each for one in replayed.children for each in one.differing)]
        seqs = [[event.seq for event in store.events(each.id)] for each in store.runs()]
        checkpoints = opened.loops.checkpoints(session.run_id)
        kept = {each.number: checkpoints.load(each.number) for each in checkpoints.all()}
        begun: Counter[str] = Counter()
        late = 0
        for child in store.runs(parent=session.run_id, limit=-1):
            kinds = [each.kind for each in store.events(child.id) if each.data.get("op") == "command.run"]
            begun[str(child.context["iteration"])] += kinds.count("call.intended")
            late += "call.intended" in kinds[kinds.index("call.ended") :] if "call.ended" in kinds else 0
    refs = git(home / "work", "for-each-ref", "--format=%(objectname) %(refname)", "refs/echelon")
    return {
        "status": session.status,
        "said": [session.error, *state.troubles],
        "iterations": [[each.number, each.outcome, each.changes.all] for each in state.iterations],
        "checkpoints": [[each.number, each.iteration, each.why, bool(each.commit)] for each in state.checkpoints],
        "kept": {number: each.iteration for number, each in kept.items()},
        "refs": sorted(refs) == sorted(f"{each.commit} {each.ref}" for each in kept.values()),
        "git": git(home / "work", "status", "--short"),
        "met": state.evaluation.met if state.evaluation else 0,
        "done": (home / "work" / "done").read_text().split(),
        "begun": begun,
        "late": late,
        "replay": [len(again), replayed.finished, len(replayed.children)],
        "gapless": all(seq == list(range(1, len(seq) + 1)) for seq in seqs),
        "left": [str(each) for kind in ("checkpoints", "workspace") for each in (session.folder / kind).glob(".*")],
    }


def warm_up(home: Path) -> None:
    """Once in this process, so that those that it forks have imported, read and compiled everything."""
    home.mkdir(parents=True)

    async def once() -> None:
        workspace = prepare(home)
        async with open_gateway(home) as opened:
            options = LoopOptions(agent=f"command:{workspace.parent / 'agent.sh'}", checkpoint_every=2)
            await opened.loops.start("Count", exits=EXITS, options=options)

    asyncio.run(once())
    asyncio.run(result(home))


if __name__ == "__main__":
    base = Path(sys.argv[1])
    warm_up(base / "warm")
    for index, plan in enumerate(json.loads(sys.argv[2])):
        left = errand.carry_out(base / str(index), plan, work, result)
        print(json.dumps({"kills": plan, **left}), flush=True)
