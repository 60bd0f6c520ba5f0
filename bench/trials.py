"""Every task of `bench/tasks.py` with a real model, each try reported.

python -m bench.trials [--model M] [--only TEXT]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from bench.tasks import PYTHON_DOCS, Task, all_tasks
from gateway import Gateway, Settings
from gateway.config import home_of
from gateway.errors import EchelonError

MODEL = "local/qwen2.5-coder-1.5b"


async def attempt(task: Task, model: str, folder: Path) -> dict[str, Any]:
    """One try in a home and a workspace of its own; the models are shared."""
    home, workspace = folder / "home", folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    task.prepare(workspace)
    home.mkdir(parents=True)
    (home / "models").symlink_to(home_of(os.environ) / "models")
    (home / "corpus").symlink_to(shared(folder.parent / "corpus"))
    overrides = {
        "model": model,
        "workspace": str(workspace),
        "research": {"provider": "corpus", "corpus_dir": PYTHON_DOCS},
        "limits": {"max_time_s": 900},  # the machine may be slow: a try ends by what it decides
    }
    settings = Settings.load(overrides, cwd=folder, environ={**os.environ, "ECHELON_HOME": str(home)})
    began, usage, statuses, response, decisions = time.monotonic(), dict[str, float](), [], "", 0
    try:
        async with Gateway(settings) as gateway:
            for request in task.requests:
                turn = await gateway.run(request)
                statuses.append(turn.stop_reason or turn.status.value)
                response = turn.response
                packs = [path.stem for path in (turn.context.parent / "packs").iterdir()]
                decisions += sum(name.endswith(("-task_executor", "_arguments", "_argument")) for name in packs)
                for name, value in turn.usage.items():
                    usage[name] = usage.get(name, 0) + value
        problem = task.judge(home, workspace, response)
    except EchelonError as error:
        problem = f"{type(error).__name__}: {error}"
    return {
        "task": task.name,
        "done": not problem,
        "problem": problem,
        "ended": statuses,
        "model_calls": int(usage.get("model_calls", 0)),
        "executor_decisions": decisions,
        "prompt_tokens": int(usage.get("prompt_tokens", 0)),
        "cached_tokens": int(usage.get("cached_tokens", 0)),
        "completion_tokens": int(usage.get("completion_tokens", 0)),
        "seconds": round(time.monotonic() - began, 1),
    }


def shared(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def table(tries: list[dict[str, Any]]) -> str:
    """All tries, then how many of each kind were done."""
    lines = ["| task | done | model calls | executor decisions | prompt (cached) + completion tokens | s | problem |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for each in tries:
        spent = f"{each['prompt_tokens']} ({each['cached_tokens']}) + {each['completion_tokens']}"
        done = "yes" if each["done"] else "no"
        lines.append(
            f"| {each['task']} | {done} | {each['model_calls']} | {each['executor_decisions']} | {spent}"
            f" | {each['seconds']:g} | {each['problem']} |"
        )
    for kind in dict.fromkeys(each["task"].split("/")[0] for each in tries):
        mine = [each for each in tries if each["task"].startswith(kind)]
        lines.append(f"\n{kind}: {sum(each['done'] for each in mine)} of {len(mine)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--only", default="", help="tasks whose name contains this, e.g. code/pager")
    parser.add_argument("--folder", type=Path, default=Path(".bench/trials"))
    options = parser.parse_args()
    tries = []
    with (shared(options.folder) / "tries.jsonl").open("a") as log:
        for task in all_tasks():
            if options.only in task.name:
                folder = (options.folder / task.name.replace("/", "-")).absolute()
                tries.append(asyncio.run(attempt(task, options.model, folder)))
                log.write(json.dumps(tries[-1]) + "\n")
                log.flush()
                print(json.dumps(tries[-1]), file=sys.stderr, flush=True)
    print(table(tries))


if __name__ == "__main__":
    main()
