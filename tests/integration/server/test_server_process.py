"""`echelon serve` as a process: killed, interrupted, ended."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ASKED = {"model": "echelon", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


class Server:
    """Starts servers in one folder, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.process: subprocess.Popen[str] | None = None
        self._folder = folder

    def start(self, delay_s: float) -> str:
        """The base URL, with a model that takes so long."""
        answer = {"decision": {"action": "COMPLETE", "response": "Hello!", "reasoning": "x"}}
        (self._folder / "model.yaml").write_text(json.dumps([{"answer": answer, "delay_s": delay_s}]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "echelon", "serve", "--port", "0", "--model", "scripted:model.yaml"],
            cwd=self._folder,
            env=os.environ | {"ECHELON_HOME": str(self._folder / "home")},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.match(r"serving (\S+) to every program on this machine", line):
                return found.group(1)
        raise AssertionError("it did not start")

    def end(self, number: int) -> tuple[int, float]:
        """(exit code, seconds that it took)."""
        assert self.process is not None
        began = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(timeout=60), time.monotonic() - began

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    yield started
    started.close()


def test_a_turn_outlives_the_death_and_the_end_of_its_server(server: Server) -> None:
    runs = []
    for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        with httpx.stream("POST", f"{server.start(60)}/chat/completions", json=ASKED, timeout=60) as response:
            lines = response.iter_lines()
            next(lines)
            runs.append(response.headers["X-Echelon-Run"])
            ended, seconds = server.end(number)
            assert ended == code and seconds < 30  # the model takes longer
            if code == 130:
                rest = list(lines)
                assert '"code": "interrupted"' in rest[-4] and rest[-2] == "data: [DONE]"
    base = server.start(0)
    got = httpx.post(f"{base}/chat/completions", json=ASKED, timeout=60)
    assert [*runs, got.headers["X-Echelon-Run"]] == [runs[0]] * 3 and "Hello!" in got.text
    assert server.end(signal.SIGTERM)[0] == 0


def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "echelon", "serve", "--host", "0.0.0.0", "--port", "0", "--model", "scripted:x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "error: without a token it listens on this machine only, not on 0.0.0.0" in done.stderr
    assert "tokens: {NAME: TOKEN}" in done.stderr
