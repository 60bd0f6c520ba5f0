"""What runs at once: shown by what programs see of each other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from condition_lab import program, project

from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.state import ConditionSetting

# each waits for the other at two pipes; bandit's report is written by whoever plays it
MEETS = """\
#!{python}
import json, sys
def write(): open({pipes!r} + "/{mine}", "w").write("here")
def read(): assert open({pipes!r} + "/{other}").read() == "here"
for each in ({order}): each()
made = sys.argv[sys.argv.index("{option}") + 1]
open(made, "w").write({report!r})
"""
CLEAN = '{"results": [], "errors": [], "metrics": {"_totals": {"loc": 1}}}'

WRITES = """\
import subprocess, sys
def note(what): open("log", "a").write(f"{what} {sys.argv[1]}\\n")
note("begin")
subprocess.run([sys.executable, "-c", "pass"])
note("end")
"""


async def test_those_that_only_read_the_workspace_run_at_once(tmp_path: Path) -> None:
    root = project(tmp_path / "demo")
    for name in ("ruff", "bandit"):
        os.mkfifo(tmp_path / name)
    place = {"python": sys.executable, "pipes": str(tmp_path)}
    ruff = {"mine": "ruff", "other": "bandit", "order": "write, read", "option": "--output-file", "report": ""}
    bandit = {"mine": "bandit", "other": "ruff", "order": "read, write", "option": "-o", "report": CLEAN}
    program(root / ".venv/bin", "ruff", MEETS.format(**place, **ruff))
    program(root / ".venv/bin", "bandit", MEETS.format(**place, **bandit))
    names = ["security_scan_clean", "linting_clean"]
    results = await evaluate(names, root, dict.fromkeys(names, ConditionSetting(timeout_s=60)))
    assert [(each.name, each.met, each.problem) for each in results] == [(each, True, "") for each in names]


async def test_those_that_may_write_run_each_alone_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(WRITES)
    conditions = [f"command:{sys.executable} check.py {number}" for number in range(3)]
    configured = ["linting_clean", "all_tests_pass"]
    settings = {each: ConditionSetting(command=f"{sys.executable} check.py {each}") for each in configured}
    results = await evaluate([*conditions, *configured], tmp_path, settings)
    assert all(each.met for each in results)
    expected = [f"{what} {each}" for each in ["0", "1", "2", *configured] for what in ("begin", "end")]
    assert (tmp_path / "log").read_text().splitlines() == expected


async def test_a_condition_that_is_named_twice_is_evaluated_once(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(WRITES)
    name = f"command:{sys.executable} check.py 0"
    told: list[str] = []
    results = await evaluate([name, name], tmp_path, {}, told=lambda result: told.append(result.name))
    assert results[0] == results[1]
    assert told == [name]
    assert (tmp_path / "log").read_text() == "begin 0\nend 0\n"
