"""The activity manager: starts activities, keeps the tasks, and shows the one in front on the display."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from simphone.system.component import Component
from simphone.system.intent import HOME as HOME_CATEGORY
from simphone.system.intent import MAIN, Intent
from simphone.system.packages import Package, Packages
from simphone.system.platform import HOME_ACTIVITY, LAUNCHER3
from simphone.system.tasks import Activity, Task

if TYPE_CHECKING:
    from simphone.screen.display import Display

HOME = Component(LAUNCHER3, LAUNCHER3 + HOME_ACTIVITY)
_FIRST_PID = 4000


def _uid(packages: Packages, name: str) -> int:
    found = packages.get(name)
    return found.uid if found else 1000


class Launch(Enum):
    """What became of a start."""

    STARTED = "started"
    TO_FRONT = "its task was brought to the front"
    DELIVERED = "it was in front already"


class Activities:
    """`address` gives the URL of a page of a package.

    The tasks lie in an order in which the last one is in front; the home screen is one of them. They are changed first
    and at once, then shown: a page may ask for something while the display still waits for it.
    """

    def __init__(self, display: Display, packages: Packages, address: Callable[[Package, str], str]) -> None:
        self._display = display
        self._packages = packages
        self._address = address
        self._task_ids = itertools.count(2)
        self._tokens = itertools.count(1)
        self._pids = itertools.count(_FIRST_PID, 17)
        self.processes: dict[str, int] = {}
        home = Activity(HOME, Intent(MAIN, (HOME_CATEGORY,), flags=0x10000100, component=HOME), "home")
        self._home = Task(1, LAUNCHER3, _uid(packages, LAUNCHER3), [home], is_home=True)
        self._order: list[Task] = [self._home]
        self._used: list[Task] = []

    @property
    def front(self) -> Activity:
        return self._order[-1].top

    @property
    def front_task(self) -> Task:
        return self._order[-1]

    @property
    def home_task(self) -> Task:
        return self._home

    @property
    def tasks(self) -> list[Task]:
        """The one in front first, the home screen among them."""
        return self._order[::-1]

    @property
    def recent(self) -> list[Task]:
        """Apps' tasks, the one used last first."""
        return self._used[::-1]

    def running(self, package: str) -> int | None:
        """The process id."""
        return self.processes.get(package)

    async def start(self, component: Component, intent: Intent, *, caller: str | None = None) -> Launch:
        """Start an activity that is declared. From a window (`caller` is its token) it opens on top of it; from
        elsewhere in the package's task, which comes to the front as it is if the activity began it. Raises KeyError."""
        if component == HOME:
            return await self._to_front(self._home)
        task = self._task_of(caller)
        if task is None:
            task = next((each for each in self._order if each.affinity == component.package), None)
            if task is not None and component in (task.root.component, task.top.component):
                return await self._to_front(task)
        await self._open(component, intent, task)
        return Launch.STARTED

    async def home(self) -> None:
        await self._to_front(self._home)

    async def back(self) -> None:
        """What the key does: the page's own way back, else the activity ends; the one that began an app's task stays
        alive behind the home screen."""
        if await self._display.back():
            return
        task = self.front_task
        if task.is_home:
            return
        if len(task.activities) > 1:
            await self._finish(task, task.top, None)
            return
        package = self._packages.get(task.affinity)
        if package is not None and task.root.component == package.launcher:
            self._order.remove(task)
            self._order.insert(0, task)
            await self._show()
        else:
            await self._finish(task, task.top, None)

    async def finish(self, token: str, result: Any = None) -> None:
        """Ends the activity of the window; the one below it in its task gets the result."""
        for task in self._order:
            for each in task.activities:
                if each.token == token and not task.is_home:
                    await self._finish(task, each, result)
                    return

    async def recents(self, entry: Callable[[str], Any]) -> None:
        """Show the tasks to choose from; `entry` gives what is drawn for a package."""
        await self._display.recents([entry(task.affinity) for task in self.recent])

    async def choose(self, package: str) -> None:
        """A choice in the recents."""
        for task in self._order:
            if task.affinity == package and not task.is_home:
                await self._to_front(task)
                return

    async def stop(self, package: str) -> bool:
        """The process and the tasks of a package go, and its activities in other tasks. Whether there were any."""
        return await self._stop([package])

    async def stop_all(self) -> None:
        """Only the home screen is left."""
        await self._stop({each.component.package for task in self._order for each in task.activities} - {LAUNCHER3})
        self._order = [self._home]
        self._used.clear()
        self.processes.clear()
        await self._display.front(None)

    async def _open(self, component: Component, intent: Intent, task: Task | None) -> None:
        page = self._packages.page(component)
        package = self._packages.get(component.package)
        assert package is not None
        activity = Activity(component, intent, f"w{next(self._tokens)}")
        extras = {**({"data": intent.data} if intent.data else {}), **intent.extras}
        self.processes.setdefault(package.name, next(self._pids))
        if task is None:
            task = Task(next(self._task_ids), package.name, package.uid, [activity])
            self._order.append(task)
        else:
            task.activities.append(activity)
            self._order.remove(task)
            self._order.append(task)
        self._mark_used(task)
        await self._display.open(
            activity.token, self._address(package, page), package.name, zoom=package.manifest.zoom, extras=extras
        )

    async def _to_front(self, task: Task) -> Launch:
        already = task is self.front_task
        self._order.remove(task)
        self._order.append(task)
        self._mark_used(task)
        await self._show()
        return Launch.DELIVERED if already else Launch.TO_FRONT

    async def _show(self, result: Any = None) -> None:
        task = self.front_task
        if task.is_home:
            await self._display.front(None)
        else:
            await self._display.front(task.top.token, result=result)

    async def _finish(self, task: Task, activity: Activity, result: Any) -> None:
        shown = activity is self.front
        task.activities.remove(activity)
        if not task.activities:
            self._forget(task)
        if shown:
            await self._show(result)
        await self._display.close(activity.token)

    async def _stop(self, packages: Iterable[str]) -> bool:
        before, closed = self.front, []
        for package in packages:
            for task in [each for each in self._order if not each.is_home]:
                gone = [each for each in task.activities if package in (task.affinity, each.component.package)]
                task.activities = [each for each in task.activities if each not in gone]
                closed += gone
                if not task.activities:
                    self._forget(task)
            self.processes.pop(package, None)
        if self.front is not before:
            await self._show()
        for each in closed:
            await self._display.close(each.token)
        return bool(closed)

    def _forget(self, task: Task) -> None:
        self._order.remove(task)
        if task in self._used:
            self._used.remove(task)

    def _mark_used(self, task: Task) -> None:
        if task in self._used:
            self._used.remove(task)
        if not task.is_home:
            self._used.append(task)

    def _task_of(self, token: str | None) -> Task | None:
        if token is None:
            return None
        return next(
            (task for task in self._order if not task.is_home and any(each.token == token for each in task.activities)),
            None,
        )
