"""`make demo`: with nothing configured, pull a small model and carry out three requests, shown as a user sees them.

Exits with 1 where one of them did not leave behind what it should.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.tasks import PYTHON_DOCS, Task, all_tasks

FOLDER = Path(".demo").absolute()
SHOWN = ("skill/task-groups/1", "code/ledger/1", "memory/server/1")


def main() -> int:
    """Run the three, judge what they left behind, and say where their documents are."""
    home = FOLDER / "home"
    shutil.rmtree(FOLDER, ignore_errors=True)
    home.mkdir(parents=True)
    models = Path(os.environ.get("ECHELON_HOME") or Path.home() / ".echelon") / "models"
    models.mkdir(parents=True, exist_ok=True)  # a gigabyte that was pulled once is not pulled again
    (home / "models").symlink_to(models)
    missing = []
    for name in SHOWN:
        task = next(each for each in all_tasks() if each.name == name)
        problem = _show(task, home, FOLDER / name.replace("/", "-"))
        print(f"\n{'FAILED: ' + problem if problem else 'done, as judged by what it left behind'}\n", flush=True)
        missing += [f"{name}: {problem}"] if problem else []
    print("look at the last turn with:  ECHELON_HOME=.demo/home .venv/bin/echelon turns show last")
    return 1 if missing else 0


def _show(task: Task, home: Path, workspace: Path) -> str:
    task.prepare(workspace)
    response = ""
    for request in task.requests:
        command = [
            "run",
            request,
            "--session",
            task.kind,
            "--workspace",
            str(workspace),
            "--corpus",
            PYTHON_DOCS,
            "--yes",
        ]
        print(f"\n$ echelon {' '.join(_quoted(each) for each in command)}", flush=True)
        ran = subprocess.run(
            [sys.executable, "-m", "echelon", *command],
            env={
                **os.environ,
                "ECHELON_HOME": str(home),
                "ECHELON_LIMITS__MAX_TIME_S": "1800",
            },  # also on a slow machine
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        response = ran.stdout
        print(response, flush=True)
        if ran.returncode != 0:
            return f"echelon run ended with {ran.returncode}"
    return task.judge(home, workspace, response)


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


if __name__ == "__main__":
    sys.exit(main())
