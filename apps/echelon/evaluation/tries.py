"""What each try came to, one JSON object a line: an interrupted evaluation goes on where it was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.errors import ConfigError

Key = tuple[str, int, str, str]
"""Request, wording, runner, model."""


class Try(BaseModel):
    """One try of a wording. `ended` says how each turn ended, `problem` what the judges found; `prompt_tokens` include
    the cached ones; `executor_decisions` are model calls that chose a tool call or wrote its arguments."""

    model_config = ConfigDict(extra="forbid")

    id: str
    type: str
    wording: int
    runner: str
    model: str
    done: bool
    problem: str
    ended: list[str]
    model_calls: int
    executor_decisions: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float

    @property
    def key(self) -> Key:
        return self.id, self.wording, self.runner, self.model

    @property
    def name(self) -> str:
        return f"{self.id}/{self.wording}"

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Log:
    """The tries in a file; the newest of each counts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[Key, Try]:
        """ConfigError names the line that is no try; one that a kill has cut short is left out."""
        if not self._path.exists():
            return {}
        found: dict[Key, Try] = {}
        for number, line in enumerate(self._path.read_text("utf-8").splitlines(), 1):
            try:
                each = Try.model_validate_json(line)
            except ValidationError as error:
                problem = error.errors(include_url=False)[0]
                if problem["type"] == "json_invalid":
                    continue
                where = f"{self._path}:{number}: {'.'.join(map(str, problem['loc']))}"
                raise ConfigError(f"{where}: not a try: {problem['msg']}", hint="name another folder") from None
            found[each.key] = each
        return found

    def add(self, each: Try) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            if file.seek(0, 2):  # a line that a kill has cut short must not swallow this one
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(each.model_dump_json().encode() + b"\n")


def totals(tries: Iterable[Try]) -> dict[str, float]:
    """The sums of what can be added up."""
    every = list(tries)
    names = ("model_calls", "executor_decisions", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds")
    return {"done": sum(each.done for each in every), "n": len(every)} | {
        name: round(sum(getattr(each, name) for each in every), 1) for name in names
    }
