"""Running the tests that judge a workspace: with pytest, within bounds, by no configuration but this."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from gateway.errors import ConfigError

DEADLINE_S = 60.0


def run_tests(workspace: Path, tests: Path) -> str:
    """Empty where the tests pass, else what pytest's last line says. Raises ConfigError where pytest is not there."""
    from gateway.tools.sandbox import run_program

    if not tests.exists():
        return f"there is no {tests.name}"
    # without these, a project around the workspace, or what a model wrote there, would configure pytest
    bounds = ["-c", os.devnull, f"--rootdir={workspace}", f"--confcutdir={workspace}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", *bounds, "--", str(tests)]
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    finished = asyncio.run(run_program(command, cwd=workspace, deadline_s=DEADLINE_S, env=env))
    if finished.code is None:
        return f"{tests.name} did not end within {DEADLINE_S:g} s"
    if "No module named pytest" in finished.output:
        raise ConfigError("pytest is not installed, and the suite judges by tests", hint="pip install pytest")
    if finished.code == 0:
        return ""
    last = (finished.output.strip().splitlines() or ["no output"])[-1]
    return f"{tests.name}: {re.sub(r' in [0-9.]+s.*', '', last)}"
