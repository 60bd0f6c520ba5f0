"""The build of a Python project: its source distribution and its wheel."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from gateway.loop.conditions.check import Check, Clock, Verdict, not_met, timed_out
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import end_of, steady
from gateway.loop.conditions.programs import environment, need
from gateway.loop.conditions.sources import copy_sources
from gateway.loop.state import Finding
from gateway.tools.sandbox import run_program

_NOT_HERE = re.compile(
    r"^ERROR (?:(?:Unmet|Missing) dependencies|Backend .* is not available)|Cannot import '", re.MULTILINE
)
_NOT_FETCHED = re.compile(r"^(?:< )?ERROR: ((?:Could not find a version|No matching distribution).*)", re.MULTILINE)
_BUILDABLE = re.compile(r"^\s*\[\s*(?:build-system|project)\s*[.\]]", re.MULTILINE)
_RAISED = re.compile(r"^(?:[\w.]+(?:Error|Exception|Exit|Warning)\b|ERROR\b|error:).*", re.MULTILINE)
_FRAME = re.compile(r'File "([^"/][^"]*)", line (\d+)')
_NOISE = re.compile(r"^TIP pass .*\n?", re.MULTILINE)


def build_check(layout: Layout) -> Check | None:
    if layout.has("setup.py"):
        why = "setup.py"
    elif _BUILDABLE.search(layout.text("pyproject.toml")):
        why = "pyproject.toml"
    else:
        return None
    program = need(layout.root, "pyproject-build", "python -m pip install build")

    async def run(clock: Clock, folder: Path) -> Verdict:
        copy, made = folder / "workspace", folder / "made"
        await asyncio.to_thread(copy_sources, layout.root, copy)
        env = {**environment(layout.root, folder), "COLUMNS": "1000"}  # or paths are wrapped
        # without isolation first: what a build requires is often there, and then needs no network
        for how in (["--no-isolation"], []):
            command = [program, *how, "--outdir", str(made), str(copy)]
            finished = await run_program(command, cwd=copy, deadline_s=clock.left, env=env)
            if finished.code in (0, None) or not _NOT_HERE.search(finished.output):
                break
        output = _NOISE.sub("", steady(_as_in_workspace(finished.output, copy), layout.root, folder))
        if finished.code is None:
            return timed_out(clock, report=output)
        names = sorted(each.name for each in made.iterdir()) if made.is_dir() else []
        if finished.code == 0 and names:
            return Verdict(True, f"built {' and '.join(names)}")
        return _failed(output, layout, why)

    return Check("python -m build", why, run)


def _as_in_workspace(output: str, copy: Path) -> str:
    """With paths in the copy as those of the workspace."""
    for each in (os.path.realpath(copy), str(copy)):
        output = output.replace(f"{each}/", "").replace(each, ".")
    return output


def _failed(output: str, layout: Layout, why: str) -> Verdict:
    lost = _NOT_FETCHED.findall(output)
    raised = [lost[0]] if lost else _RAISED.findall(output)
    places = [(path, line) for path, line in _FRAME.findall(output) if layout.has(path)]
    where = why if lost or not places else ":".join(places[-1])
    message = "\n".join(dict.fromkeys(raised)) or end_of(output)
    # where nothing can be fetched there is nothing to mend; a name that does not exist is a finding all the same
    problem = "what the build requires is not here, and could not be fetched" if lost else ""
    summary = f"the build failed: {(raised or ['(no message)'])[0][:200]}"
    return not_met(summary, [Finding(where=where, message=message)], output, problem=problem)
