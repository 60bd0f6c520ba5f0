"""A model that answers from a file: for tests, demonstrations and patterns under development.

    - answer: {action: EXECUTE, task_type: generic, goals: [say hello], reasoning: …}   # the first call of the run
    - answer: {action: DONE, reasoning: …}                                              # the second
      repeat: 3                                                                         # … to the fourth
    - {role: responder, answer: "Hello."}               # any call of this role
    - {when: "tests? failed", error: ModelTimeout}      # any call whose last message matches

An entry answers every call that meets all of its conditions, and the first such entry is taken. One without conditions
has a condition all the same: its number in the script is the call's `ordinal`. Which entry comes next is thus a
function of the request alone, so a run that was killed gets the same answers when it is resumed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gateway import errors
from gateway.engine.ports import Clock, Json, SystemClock
from gateway.errors import ConfigError, ModelRefused
from gateway.llm import tokens
from gateway.llm.model import ModelRequest, ModelResponse, Usage

ERRORS: dict[str, type[errors.ModelError]] = {
    each.__name__: each
    for each in (
        errors.ModelError,
        errors.ModelUnavailable,
        errors.ModelOverloaded,
        errors.ModelTimeout,
        errors.ModelRefused,
        errors.ContextTooLong,
    )
}


class Entry(BaseModel):
    """One line of a script. `repeat` lets an entry without conditions stand for several calls in a row."""

    model_config = ConfigDict(extra="forbid")

    answer: Any = None
    error: str | None = None
    role: str | None = None
    when: str | None = Field(default=None, description="regular expression, searched for in the last message")
    call: int | None = Field(default=None, ge=1, description="the call's ordinal in the run")
    usage: Usage | None = None
    delay_s: float = Field(default=0.0, ge=0)
    repeat: int = Field(default=1, ge=1)

    @field_validator("when")
    @classmethod
    def _compiles(cls, when: str | None) -> str | None:
        if when is not None:
            re.compile(when)
        return when

    @model_validator(mode="after")
    def _means_something(self) -> Entry:
        if (self.error is None) == ("answer" not in self.model_fields_set):
            raise ValueError("an entry has either an answer or an error")
        if self.error is not None and self.error not in ERRORS:
            raise ValueError(f"unknown error {self.error!r}; known: {', '.join(ERRORS)}")
        if self.repeat > 1 and self.conditional:
            raise ValueError("repeat is for entries without role, when and call: the others answer every call they fit")
        return self

    @property
    def conditional(self) -> bool:
        return not (self.role is None and self.when is None and self.call is None)


@dataclass(frozen=True)
class Line:
    """An entry with the calls that it stands for, if its place says so."""

    entry: Entry
    calls: range | None

    def fits(self, request: ModelRequest) -> bool:
        entry = self.entry
        if self.calls is not None:
            return request.ordinal in self.calls
        last = request.messages[-1].content if request.messages else ""
        return (
            entry.role in (None, request.role)
            and entry.call in (None, request.ordinal)
            and (entry.when is None or re.search(entry.when, last) is not None)
        )


class ScriptedModel:
    """Answers from a script: a YAML file, or its entries. Raises ConfigError for a script that is not one."""

    def __init__(self, script: Path | str | Sequence[Json], *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._name = str(script) if isinstance(script, Path | str) else "the script"
        self._lines = self._read(script)

    async def complete(self, request: Json) -> Json:
        """The answer of the first entry that fits; ModelRefused where the script has none."""
        asked = ModelRequest.model_validate(request)
        line = next((line for line in self._lines if line.fits(asked)), None)
        if line is None:
            raise ModelRefused(
                f"{self._name} has no answer for call {asked.ordinal} (role {asked.role})",
                hint="add an entry for it; the last message of the call ends with: " + _ending(asked),
            )
        entry = line.entry
        if entry.delay_s:
            await self._clock.sleep(entry.delay_s)
        if entry.error is not None:
            raise ERRORS[entry.error](f"{self._name} says so for call {asked.ordinal}")
        text = entry.answer if isinstance(entry.answer, str) else json.dumps(entry.answer, ensure_ascii=False)
        usage = entry.usage or Usage(
            prompt_tokens=sum(tokens.count(message.content) for message in asked.messages),
            completion_tokens=tokens.count(text),
        )
        response = ModelResponse(text=text, model=asked.model, usage=usage, ms=round(entry.delay_s * 1000))
        return response.model_dump()

    def _read(self, script: Path | str | Sequence[Json]) -> list[Line]:
        try:
            data = yaml.safe_load(Path(script).read_bytes()) if isinstance(script, Path | str) else list(script)
            if not isinstance(data, list):
                raise ConfigError(f"{self._name}: a script is a list of entries")
            return _numbered([Entry.model_validate(each) for each in data])
        except (OSError, yaml.YAMLError, ValidationError, re.error) as error:
            raise ConfigError(f"{self._name}: not a script: {error}") from error


def _numbered(entries: list[Entry]) -> list[Line]:
    lines, number = [], 1
    for entry in entries:
        lines.append(Line(entry, None if entry.conditional else range(number, number + entry.repeat)))
        number += entry.repeat
    return lines


def _ending(request: ModelRequest) -> str:
    return repr(request.messages[-1].content[-200:]) if request.messages else "nothing"
