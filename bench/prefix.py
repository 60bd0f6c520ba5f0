"""Whether a server's prefix cache held from one executor call to the next, in turns that a real model has carried out.

python -m bench.prefix FOLDER        # of `echelon eval … --folder FOLDER`, or any folder with homes in it

A call's prompt is compared with the one before it of the same kind (the same system prompt) in its turn: what stands
behind the part that both have in common was newly appended. A call is fine where the server had to read that and at
most 64 tokens more. The figures come from the event logs: what the server said that it read, and the prompts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import CALL_ENDED, CALL_INTENDED
from gateway.engine.ports import Json
from gateway.engine.store import Store
from gateway.llm import tokens
from gateway.llm.model import ModelRequest, ModelResponse

MODEL_CALL = "model.complete"
SURPLUS = (
    64  # tokens that may be read besides what is new: chat templates, and tokens that differ where texts are joined
)


@dataclass(frozen=True)
class Call:
    """A model call: its system prompt, its whole prompt as one text, and what the server read; counts are tokens."""

    kind: str
    text: str
    prompt: int
    cached: int


@dataclass(frozen=True)
class Row:
    """The `number`-th executor call of a turn, counted from 1; `read` and `new` in tokens."""

    number: int
    prompt: int
    read: int
    new: int

    @property
    def besides(self) -> int:
        return self.read - self.new


def rows(calls: list[Call]) -> Iterator[Row]:
    """For each call that has one of its kind before it."""
    for at, call in enumerate(calls):
        before = [each for each in calls[:at] if each.kind == call.kind]
        if before:
            new = tokens.count(call.text[_common(call.text, before[-1].text) :])
            yield Row(at + 1, call.prompt, call.prompt - call.cached, new)


def _common(one: str, other: str) -> int:
    """How many characters they begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def executor_calls(home: Path) -> Iterator[list[Call]]:
    """Of each turn of a home, oldest first."""
    store, artifacts = Store(home / "echelon.db"), ArtifactStore(home / "artifacts")

    def whole(kept: Json) -> Json:
        named = isinstance(kept, dict) and set(kept) == {"artifact", "bytes"}
        return json.loads(artifacts.get(kept["artifact"])) if named else kept

    for run in reversed(store.runs(limit=-1)):
        asked: dict[str, ModelRequest] = {}
        calls: list[Call] = []
        for event in store.events(run.id):
            data = event.data
            if event.kind == CALL_INTENDED and data["op"] == MODEL_CALL:
                asked[data["key"]] = ModelRequest.model_validate(whole(data["args"]))
            elif event.kind == CALL_ENDED and data["key"] in asked and "ok" in data:
                request = asked[data["key"]]
                usage = ModelResponse.model_validate(whole(data["ok"])).usage
                text = "\n".join(message.content for message in request.messages)
                if request.role == "executor":
                    calls.append(Call(request.messages[0].content, text, usage.prompt_tokens, usage.cached_tokens))
        yield calls
    store.close()


def main() -> int:
    """The exit code: 1 where a call had to read more."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print("| home | executor call | prompt | read | newly appended | besides |\n|---|--:|--:|--:|--:|--:|")
    found: list[Row] = []
    for database in sorted(Path(sys.argv[1]).rglob("echelon.db")):
        for calls in executor_calls(database.parent):
            for row in rows(calls):
                found.append(row)
                shown = (database.parent.parent.name, row.number, row.prompt, row.read, row.new, row.besides)
                print(f"| {' | '.join(map(str, shown))} |")
    fine = sum(row.besides <= SURPLUS for row in found)
    most = max((row.besides for row in found), default=0)
    print(f"\n{fine} of {len(found)} calls read at most what was new and {SURPLUS} tokens; {most} besides at most")
    return 0 if fine == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
