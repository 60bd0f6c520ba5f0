"""Whether a server's prefix cache holds from one executor call of a turn to the next, with a real model.

python -m bench.prefix [--model M]

A call's prompt is compared with the one before it of the same kind (the same system prompt): what stands behind the
part that both have in common was newly appended. A call is fine where the server had to read that and at most 64 tokens
more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gateway import Gateway, Settings
from gateway.config import home_of
from gateway.engine.ports import Json
from gateway.llm import tokens
from gateway.llm.model import ModelRequest, ModelResponse
from gateway.llm.providers import Providers, model_of

MODEL = "local/qwen2.5-coder-1.5b"
PROJECTS = Path(__file__).parents[1] / "evals" / "projects"
SURPLUS = (
    64  # tokens that may be read besides what is new: chat templates, and tokens that differ where texts are joined
)
TASKS = (
    (
        "generic",
        "ledger",
        "Read accounts.py, then transfers.py, then the test, and say in one sentence what each is for.",
    ),
    ("code_modify", "ledger", "Fix the failing test in tests/test_transfers.py."),
)


@dataclass(frozen=True)
class Call:
    """A model call: its prompt as one text, and what the server says that it read; counts are tokens."""

    kind: str
    text: str
    prompt: int
    cached: int


class Listening:
    """The real model, with its executor calls kept."""

    def __init__(self, model: Providers) -> None:
        self.calls: list[Call] = []
        self._model = model

    async def complete(self, asked: Json) -> Json:
        answer = await self._model.complete(asked)
        request, usage = ModelRequest.model_validate(asked), ModelResponse.model_validate(answer).usage
        if request.role == "executor":
            text = "\n".join(message.content for message in request.messages)
            self.calls.append(Call(request.messages[0].content, text, usage.prompt_tokens, usage.cached_tokens))
        return answer


def rows(calls: list[Call]) -> list[list[str | int]]:
    """For each call that has one of its kind before it: prompt, read, newly appended, and what was read besides."""
    found: list[list[str | int]] = []
    for at, call in enumerate(calls):
        before = [each for each in calls[:at] if each.kind == call.kind]
        if before:
            new = tokens.count(call.text[_common(call.text, before[-1].text) :])
            read = call.prompt - call.cached
            found.append([at + 1, call.prompt, read, new, read - new])
    return found


def _common(one: str, other: str) -> int:
    """How many characters they begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


async def measure(task_type: str, project: str, request: str, model: str, folder: Path) -> list[list[str | int]]:
    """The rows of one turn in a home and workspace of its own."""
    home, workspace = folder / "home", folder / "work"
    home.mkdir(parents=True)
    shutil.copytree(PROJECTS / project, workspace, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    (home / "models").symlink_to(home_of(os.environ) / "models")
    environ = {**os.environ, "ECHELON_HOME": str(home), "ECHELON_LIMITS__MAX_TIME_S": "900"}
    settings = Settings.load({"model": model, "workspace": str(workspace)}, cwd=workspace, environ=environ)
    providers = model_of(settings)
    listening = Listening(providers)
    async with Gateway(settings, model=listening) as gateway:
        await gateway.run(request, task_type=task_type)
    await providers.close()
    return rows(listening.calls)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=MODEL)
    options = parser.parse_args()
    print("| task | executor call | prompt | read | newly appended | besides |\n|---|--:|--:|--:|--:|--:|")
    most = 0
    for task_type, project, request in TASKS:
        with tempfile.TemporaryDirectory(prefix="echelon-prefix-") as folder:
            for row in asyncio.run(measure(task_type, project, request, options.model, Path(folder))):
                print(f"| {task_type} | " + " | ".join(map(str, row)) + " |", flush=True)
                most = max(most, int(row[-1]))
    print(f"\nread besides what was new: {most} tokens at most; {SURPLUS} are allowed")
    return 0 if most <= SURPLUS else 1


if __name__ == "__main__":
    sys.exit(main())
