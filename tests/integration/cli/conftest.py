"""The command line with a home of its own and a scripted model: as a process, as people start it, or in this one."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from echelon.cli import start

TIMEOUT_S = 60
WORKSPACE = "workspace"


class Cli:
    """`echelon` in `folder`, which holds scripts and the workspace.

    A process takes most of a second to start, so only what is about processes and terminals starts one.
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []
        (folder / WORKSPACE).mkdir()

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end, in this process."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            patch.setenv("ECHELON_VALIDATE", "false")  # one answer of the model less in every script
            for name, value in environment.items():
                patch.setenv(name, value)
            code = start(arguments)
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end in a process, without a terminal."""
        return subprocess.run(
            self._command(arguments),
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )

    def start(self, *arguments: str, **streams: Any) -> subprocess.Popen[str]:
        """Start it in a process group of its own, as a shell does."""
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        process = subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self._environment(),
            text=True,
            start_new_session=True,
            **given,
        )
        self._started.append(process)
        return process

    def script(self, *entries: Mapping[str, Any], name: str = "model.yaml") -> str:
        """A model that answers with these entries (JSON is YAML)."""
        (self.folder / name).write_text(json.dumps(entries))
        return f"scripted:{self.folder / name}"

    def run(self, request: str, *entries: Mapping[str, Any], **environment: str) -> subprocess.CompletedProcess[str]:
        """`echelon run` with a scripted model, in this process."""
        return self("run", request, "--model", self.script(*entries), "--workspace", WORKSPACE, **environment)

    def last_run(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("runs", "show", "last", "--json").stdout)
        return found

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "echelon", *arguments]

    def _environment(self) -> dict[str, str]:
        return os.environ | {"ECHELON_HOME": str(self.home), "PYTHONUNBUFFERED": "1", "ECHELON_VALIDATE": "false"}


@pytest.fixture
def cli(echelon_home: Path, tmp_path: Path) -> Iterator[Cli]:
    started = Cli(echelon_home, tmp_path)
    yield started
    started.close()


def decision(action: str, **more: Any) -> dict[str, Any]:
    return {"decision": {"action": action, "reasoning": "because", **more}}


def complete(response: str = "Hello!", **more: Any) -> dict[str, Any]:
    """An answer of the Planner that ends the turn."""
    return {"answer": decision("COMPLETE", response=response), **more}


def clarify(question: str = "Which server?") -> dict[str, Any]:
    return {"answer": decision("CLARIFY", question=question)}


def remember() -> list[dict[str, Any]]:
    """A turn with two tool calls: memory.search, memory.save. What is saved is the request."""
    save = {"name": "memory.save", "args": {}}
    return [
        {"role": "planner", "answer": decision("EXECUTE", task_type="memory_op", goals=["save it"])},
        {"role": "executor", "answer": decision("CALL_TOOL", tool=save)},
        {"role": "responder", "answer": "I have saved that."},
    ]
