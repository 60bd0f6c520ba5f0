"""What others add to a task on a phone: actions of their own, and middleware around predicting and acting.

A package names them under the entry point groups `echelon.phone_actions` (a `CustomAction`, or several) and
`echelon.phone_middleware` (an object, or a class without arguments); from Python they are `Extensions.of(...)`. What is
wrong with a package costs what it adds only: `Extensions.left_out` says so.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, get_args

from pydantic import BaseModel

from gateway.engine.ports import Effect, Json
from gateway.errors import ConfigError, EchelonError
from gateway.phone.actions import AgentAction, DeviceAction

if TYPE_CHECKING:
    from gateway.phone.bridge import Bridge

ACTIONS, MIDDLEWARE = "echelon.phone_actions", "echelon.phone_middleware"
HOOKS = ("before_predict", "after_predict", "before_act", "after_act")
KNOWN: dict[str, type[BaseModel]] = {
    kind.model_fields["action"].default: kind for kind in (*get_args(DeviceAction), *get_args(AgentAction))
}
"""The actions that there are on every phone, by name."""


@dataclass(frozen=True)
class CustomAction:
    """An action beside the phone's own: `{"action": name, …}` with the fields of `args`, whose descriptions agents are
    told. `run` is called in a thread, with the phone, and gives what is said of it; it raises EchelonError where it
    could not be done. `effect` says what doing it twice would do, as for operations; where `consequential`, it is
    treated like a payment: never done again unless it is certain that it did not happen."""

    name: str
    description: str
    args: type[BaseModel]
    run: Callable[[Bridge, Any], str]
    effect: Effect = Effect.ONCE
    consequential: bool = False

    def __post_init__(self) -> None:
        if self.name in KNOWN:
            raise ConfigError(f"a custom action is called {self.name}, as one of the phone's own is", hint="rename it")
        fields = {field.alias or name for name, field in self.args.model_fields.items()}
        if not self.name or "action" in fields:
            raise ConfigError(f"custom action {self.name!r}: it needs a name, and no field called `action`")


class MiddlewareFailed(EchelonError):
    """Middleware raised, and what it was asked about was not done."""

    kind = "middleware"


class Middleware(Protocol):
    """Any of these, each optional. `obs` is what an agent's `predict` gets, `action` is in the phone's own dialect;
    `before_act` gives None for an action that is not to be done; `result` is what the phone said to it, such as
    `{"ok": True, "pixels", "how", "output", "typed"}` or `{"ok": False, "error", "message", "hint"}`. The first two
    are called for agents that are not built in. All are called in threads."""

    def before_predict(self, obs: dict[str, Any]) -> dict[str, Any]: ...

    def after_predict(self, action: dict[str, Json], obs: dict[str, Any]) -> dict[str, Json]: ...

    def before_act(self, action: dict[str, Json]) -> dict[str, Json] | None: ...

    def after_act(self, action: dict[str, Json], result: dict[str, Json]) -> None: ...


@dataclass(frozen=True)
class Extensions:
    """Actions by name, and middleware in the order in which it is called; its methods call what there is of each.
    `left_out` says which could not be had, and why."""

    actions: Mapping[str, CustomAction] = field(default_factory=dict)
    middleware: tuple[object, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, actions: Iterable[CustomAction] = (), middleware: Iterable[object] = ()) -> Extensions:
        """Raises ConfigError for two actions of one name, and for middleware that has none of the methods."""
        named: dict[str, CustomAction] = {}
        for each in actions:
            if each.name in named:
                raise ConfigError(f"two custom actions are called {each.name}", hint="rename one of them")
            named[each.name] = each
        given = tuple(middleware)
        for one in given:
            if not any(hasattr(one, hook) for hook in HOOKS):
                raise ConfigError(f"{type(one).__name__} is no middleware: it has none of {', '.join(HOOKS)}")
        return cls(named, given)

    def with_(self, other: Extensions) -> Extensions:
        """Both. Raises ConfigError for two actions of one name."""
        both = self.of([*self.actions.values(), *other.actions.values()], [*self.middleware, *other.middleware])
        return Extensions(both.actions, both.middleware, (*self.left_out, *other.left_out))

    @property
    def changes_acts(self) -> bool:
        """Whether something else may be done than was chosen."""
        return bool(self._hooks("before_act"))

    def before_predict(self, obs: dict[str, Any]) -> dict[str, Any]:
        for each, hook in self._hooks("before_predict"):
            obs = _asked(each, hook, obs)
        return obs

    def after_predict(self, action: dict[str, Json], obs: dict[str, Any]) -> dict[str, Json]:
        for each, hook in self._hooks("after_predict"):
            action = _asked(each, hook, action, obs)
        return action

    def before_act(self, action: dict[str, Json]) -> dict[str, Json] | None:
        """What is to be done instead, mostly the same; None: nothing, as one of them wants it."""
        wanted: dict[str, Json] | None = action
        for each, hook in self._hooks("before_act"):
            wanted = _asked(each, hook, wanted)
            if wanted is None:
                return None
        return wanted

    def after_act(self, action: dict[str, Json], result: dict[str, Json]) -> str:
        """What went wrong with that: nothing is raised, since the act was done."""
        problems = []
        for each, hook in self._hooks("after_act"):
            try:
                _asked(each, hook, action, result)
            except MiddlewareFailed as error:
                problems.append(str(error))
        return "; ".join(problems)

    def _hooks(self, name: str) -> list[tuple[object, Callable[..., Any]]]:
        return [(each, hook) for each in self.middleware if (hook := getattr(each, name, None)) is not None]


def _asked(middleware: object, hook: Callable[..., Any], *given: Any) -> Any:
    try:
        return hook(*given)
    except Exception as error:  # whatever a stranger's code raises
        raise MiddlewareFailed(f"middleware {type(middleware).__name__}: {type(error).__name__}: {error}") from error


def installed() -> Extensions:
    """What installed packages add, by the names of their entry points."""
    found, left_out = Extensions(), []
    for group, added in ((ACTIONS, _actions), (MIDDLEWARE, _middleware)):
        for entry in sorted(importlib.metadata.entry_points(group=group), key=lambda each: each.name):
            try:
                with redirect_stdout(sys.stderr):  # what a module prints is not what the command gives
                    found = found.with_(added(entry.load()))
            except (Exception, SystemExit) as error:  # whatever a stranger's module raises
                left_out.append(f"{entry.value}: {type(error).__name__}: {error}")
    return Extensions(found.actions, found.middleware, tuple(left_out))


def _actions(loaded: Any) -> Extensions:
    given = [loaded] if isinstance(loaded, CustomAction) else list(loaded)
    for each in given:
        if not isinstance(each, CustomAction):
            raise ConfigError(f"{each!r} is no CustomAction")
    return Extensions.of(given)


def _middleware(loaded: Any) -> Extensions:
    return Extensions.of(middleware=[loaded() if isinstance(loaded, type) else loaded])
