"""Working on a task on a phone from the terminal."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echelon import driving
from echelon.phone_ending import STAYING, report, trajectory
from echelon.phone_progress import PhoneProgress
from echelon.terminal import say
from gateway.errors import UsageError

if TYPE_CHECKING:
    from gateway import Gateway, Settings
    from gateway.phone.task.news import OnPhoneEvent
    from gateway.phones import PhoneTask

    Act = Callable[[Gateway, OnPhoneEvent], Awaitable[PhoneTask]]

QUIET = ("WARNING", "ERROR", "CRITICAL")


def begin(task: str, chosen: Mapping[str, Any], careful: Sequence[str] = ()) -> Act:
    """A new task, with the options that were chosen, and those budgets that somebody has set. `careful` are words that
    are added to the configuration's."""

    async def act(gateway: Gateway, tell: OnPhoneEvent) -> PhoneTask:
        configured = gateway.phones.options()
        options = configured.with_(**chosen, consequential=(*configured.consequential, *careful))
        limits = gateway.settings.limits
        given = limits.model_dump(include={"max_steps", "max_taps", "max_time_s"} & limits.model_fields_set)
        return await gateway.phones.run(task, options, on_event=tell, **given)

    return act


def importable(agent: str, folder: Path) -> None:
    """An agent that is not installed is found in the workspace. Only then is that a place for modules: what lies there
    stands for no other agent, and for nothing that is missing."""
    module, named, _ = agent.partition(":")
    package = module.partition(".")[0]
    with suppress(ValueError):  # it has been imported, and does not tell from where
        if named and package and find_spec(package) is None and str(folder) not in sys.path:
            sys.path.append(str(folder))


class PhoneWork:
    """A task on a phone. Interrupted, it gives the phone back as it was: what is under way on it is waited for.

    `level` is how much is said. `gif` is where the animated picture goes: None for nowhere, empty for the trajectory's
    folder. Where `simulated`, the phone is gone afterwards.
    """

    holding = True

    def __init__(
        self, act: Act, *, as_json: bool, level: str = "INFO", gif: str | None = None, simulated: bool = False
    ) -> None:
        self.progress = PhoneProgress(verbose=driving.verbose() or level == "DEBUG", quiet=level in QUIET)
        self._act = act
        self._as_json = as_json
        self._gif = gif
        self._simulated = simulated

    def carry_out(self, settings: Settings, *, no_input: bool, assume_yes: bool = False) -> int:
        """The exit code."""
        return driving.work_on(settings, self, no_input=no_input, assume_yes=assume_yes)

    async def begin(self, gateway: Gateway) -> PhoneTask:
        return await self._act(gateway, self.progress)

    async def resume(self, gateway: Gateway, run_id: str) -> PhoneTask:
        return await gateway.phones.resume(run_id, on_event=self.progress)

    def interrupted(self, gateway: Gateway, asked: PhoneTask | None) -> str:
        run_id = self.progress.run_id
        said = f"interrupted; {STAYING}" if self._simulated else driving.interrupted(run_id, asked)
        return said if run_id is None else f"{said}\ntrajectory: {trajectory(gateway.phones.task(run_id))}"

    def report(self, gateway: Gateway, ended: PhoneTask) -> int:
        code = report(ended, as_json=self._as_json, simulated=self._simulated)
        if self._gif is not None and ended.steps:
            self._animate(ended, Path(self._gif) if self._gif else ended.folder / "trajectory.gif")
        return code

    def _animate(self, task: PhoneTask, target: Path) -> None:
        from gateway.phone.trajectory.gif import animate

        try:
            animate(task.folder, target)
        except UsageError as error:  # the task is done all the same
            say(f"warning: {error}")
        else:
            say(f"picture: {target}")
