"""`make demo`: with nothing configured, pull a small model and carry out three requests, shown as a user sees them.

Exits with 1 where one of them did not leave behind what it should.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from echelon.evaluation.attempt import left, prepare
from echelon.evaluation.judges import judge
from echelon.evaluation.suite import Suite, Wording, load_suite

SUITE = Path(__file__).parents[1] / "evals" / "turn.yaml"
FOLDER = Path(".demo").absolute()
SHOWN = ("skill_build-task-groups", "code_modify-ledger", "memory_op-server")


def main() -> int:
    """Run the three, judge what they left behind, and say where their documents are."""
    suite = load_suite(SUITE)
    suite.check_corpus()
    home = FOLDER / "home"
    shutil.rmtree(FOLDER, ignore_errors=True)
    home.mkdir(parents=True)
    models = Path(os.environ.get("ECHELON_HOME") or Path.home() / ".echelon") / "models"
    models.mkdir(parents=True, exist_ok=True)  # a gigabyte that was pulled once is not pulled again
    (home / "models").symlink_to(models)
    missing = []
    for id in SHOWN:
        problem = _show(suite, Wording(suite.request(id), 1), home, FOLDER / id)
        print(f"\n{'FAILED: ' + problem if problem else 'done, as judged by what it left behind'}\n", flush=True)
        missing += [f"{id}: {problem}"] if problem else []
    print("look at the last turn with:  ECHELON_HOME=.demo/home .venv/bin/echelon turns show last")
    return 1 if missing else 0


def _show(suite: Suite, wording: Wording, home: Path, workspace: Path) -> str:
    """Carry it out before the viewer's eyes; what is wrong with what it left behind."""
    request = wording.request
    prepare(suite, request, workspace)
    options = ["--session", request.type, "--workspace", str(workspace), "--corpus", str(suite.corpus_folder), "--yes"]
    environment = {"ECHELON_HOME": str(home), "ECHELON_LIMITS__MAX_TIME_S": "1800"}  # also on a slow machine
    response = ""
    for turn in wording.turns:
        command = ["run", turn, *options]
        print(f"\n$ echelon {' '.join(_quoted(each) for each in command)}", flush=True)
        ran = subprocess.run(
            [sys.executable, "-m", "echelon", *command],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        response = ran.stdout
        print(response, flush=True)
        if ran.returncode != 0:
            return f"echelon run ended with {ran.returncode}"
    return judge(request.judge, left(suite, request, home, workspace, response))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


if __name__ == "__main__":
    sys.exit(main())
