"""What a phone has to have kept, as its own settings, apps and their records say; and what is wrong with it.

- {setting: global wifi_on, is: "0"}                                       Android's settings
- {app: com.android.contacts, some: contacts, where: {name: Ada}}          one entry of a list of an app's state fits
- {app: com.android.messaging, log: sent, where: {text: {has: hello}}}     one entry of that kind is in an app's record
- {any: [CONDITION, …]}                                                    one of them holds
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from echelon.evaluation.strict import Strict, Text

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """What a phone has kept: its settings by namespace, the state of each app and its record by package."""

    settings: Mapping[str, Mapping[str, str]]
    states: Mapping[str, Json]
    logs: Mapping[str, Sequence[Json]]


class Has(Strict):
    """A text that stands in the value, whatever its case."""

    has: Text


class Digits(Strict):
    """The digits of the value, whatever stands between them."""

    digits: str = Field(pattern=r"^\d+$")


Test = bool | int | float | str | Has | Digits
"""Of a field's value: what it is, unless it says what stands in it."""

Where = dict[str, Test]


class Setting(Strict):
    """`setting` is namespace and key, as `settings get` takes them."""

    setting: str = Field(pattern=r"^(system|secure|global) \S+$")
    is_: str = Field(alias="is")

    def problem(self, kept: Kept) -> str:
        namespace, key = self.setting.split()
        value = kept.settings.get(namespace, {}).get(key)
        return "" if value == self.is_ else f"the setting {key} is {value}, not {self.is_}"


class Some(Strict):
    """Exactly `times` entries of the list `some` fit; the list may have others."""

    app: Text
    some: Text
    where: Where
    times: int = Field(1, ge=0)

    def problem(self, kept: Kept) -> str:
        entries = kept.states.get(self.app, {}).get(self.some, [])
        fitting = sum(_fits(self.where, each) for each in entries)
        if fitting == self.times:
            return ""
        return f"{fitting} of {self.some} in {self.app} with {_told(self.where)}, not {self.times}"


class Logged(Strict):
    """Exactly `times` entries of the kind `log` are in the record, and each of them fits: what was done to the wrong
    one before is no success, and neither is what was done twice."""

    app: Text
    log: Text
    where: Where = Field({})
    times: int = Field(1, ge=0)

    def problem(self, kept: Kept) -> str:
        entries = [each["data"] for each in kept.logs.get(self.app, ()) if each["kind"] == self.log]
        if len(entries) != self.times:
            return f"{len(entries)} × {self.log} in {self.app}, not {self.times}"
        wrong = [each for each in entries if not _fits(self.where, each)]
        return f"{self.log} in {self.app} is {wrong[0]}, not with {_told(self.where)}" if wrong else ""


class AnyOf(Strict):
    """One of them holds."""

    any: tuple[Condition, ...] = Field(min_length=1)

    def problem(self, kept: Kept) -> str:
        problems = [each.problem(kept) for each in self.any]
        return " and ".join(problems) if all(problems) else ""


def _kind(given: Any) -> str | None:
    if not isinstance(given, Mapping):
        return type(given).__name__
    return next((each for each in ("setting", "some", "log", "any") if each in given), None)


Condition = Annotated[
    Annotated[Setting, Tag("setting")]
    | Annotated[Some, Tag("some")]
    | Annotated[Logged, Tag("log")]
    | Annotated[AnyOf, Tag("any")],
    Discriminator(
        _kind,
        custom_error_type="condition",
        custom_error_message="no such condition; there are: setting, some, log, any",
    ),
]
AnyOf.model_rebuild()


def _fits(where: Where, entry: Any) -> bool:
    return isinstance(entry, Mapping) and all(_holds(test, entry.get(name)) for name, test in where.items())


def _holds(test: Test, value: Any) -> bool:
    if isinstance(test, Has):
        return test.has.casefold() in str(value or "").casefold()
    if isinstance(test, Digits):
        return "".join(each for each in str(value or "") if each.isdigit()) == test.digits
    return type(value) is type(test) and value == test


def _told(where: Where) -> str:
    said = {
        name: test if not isinstance(test, Strict) else next(iter(test.model_dump().values()))
        for name, test in where.items()
    }
    return ", ".join(f"{name} {value}" for name, value in said.items())
