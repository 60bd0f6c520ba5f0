"""A shopping task in processes that kill themselves at given moments, on a phone that goes on meanwhile.

As a program, `buying.py HOME PLACE PLAN` carries it out as the engine's errand is carried out; PLACE has the phone's
serial, its test channel and the adb server, as JSON.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
sys.path.insert(0, str(Path(__file__).parent))

import errand
from errand import WAITING, Hook, HookedStore, open_question
from task_lab import BUYING, SHOP, Shopper, gateway_in, quick

import gateway.gateway
from gateway import Gateway
from gateway.engine.events import CALL_INTENDED
from gateway.engine.state import Status


@dataclass(frozen=True)
class Place:
    """Where the phone is: for adb, and for those who want to know what really happened."""

    serial: str
    test_url: str
    adb_server: str

    def log(self) -> list[dict[str, Any]]:
        return self._asked(f"log/{SHOP}")  # type: ignore[no-any-return]

    def begin(self) -> None:
        """As it was delivered, with something in the basket."""
        self._asked("reset", {})
        self._asked(f"apps/{SHOP}", self._asked(f"apps/{SHOP}") | BUYING, "PUT")

    def _asked(self, path: str, data: Any = None, method: str | None = None) -> Any:
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(f"{self.test_url}/{path}", body, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            said = answer.read()
        return json.loads(said) if said.strip() else None


def opened(home: Path, hook: Hook | None = None) -> Gateway:
    if hook is not None:
        gateway.gateway.Store = lambda path: HookedStore(path, hook)  # type: ignore[assignment, misc]
    return gateway_in(home)


async def carried_out(place: Place, home: Path, hook: Hook) -> int:
    """What one process does: begin the task or go on with it, answering what it asks as the shop's record has it."""
    async with opened(home, hook) as there:
        rows = there.runs.store.runs()
        agent = Shopper()
        if not rows:
            place.begin()
            options = quick(place.serial, place.adb_server, patience=1.0)
            task = await there.phones.run("Buy what is in the basket, paid on delivery", options, agent=agent)
        else:
            state = there.state(rows[0])
            asks = state.waiting is not None and rows[0].status == Status.WAITING
            if state.waiting is not None and asks and open_question(there.runs.store, state):
                happened = any(each["kind"] == "order" for each in place.log())
                wanted = happened if "Did it happen" in state.waiting.question else not happened
                await there.runs.answer(rows[0].id, "yes" if wanted else "no")
            task = await there.phones.resume(rows[0].id, agent=agent)
    return WAITING if task.waiting else int(task.status is not Status.COMPLETE)


async def left(place: Place, home: Path) -> dict[str, Any]:
    """What it leaves behind."""
    async with opened(home) as there:
        row = there.runs.store.runs()[0]
        task = there.phones.task(row.id)
        replayed = await there.replay(row.id)
        trajectory = json.loads((task.folder / "trajectory.json").read_text())
        events = there.runs.store.events(row.id)
        seqs = [event.seq for event in events]
        acts = [each.seq for each in events if each.kind == CALL_INTENDED and each.data["op"] == "device.act"]
    return {
        "status": task.status.value,
        "orders": sum(each["kind"] == "order" for each in place.log()),
        "replay": [len(replayed.differing), replayed.finished],
        "steps": trajectory["total_steps"],
        "pictures": all((task.folder / each["screenshot"]).exists() for each in trajectory["steps"]),
        "ordering": acts[-1],
        "gapless": seqs == list(range(1, len(seqs) + 1)),
    }


if __name__ == "__main__":
    where = Place(**json.loads(sys.argv[2]))
    for index, plan in enumerate(json.loads(sys.argv[3])):
        done = errand.carry_out(
            Path(sys.argv[1]) / str(index),
            plan,
            lambda home, hook: carried_out(where, home, hook),
            lambda home: left(where, home),
        )
        print(json.dumps({"kills": plan, **done}), flush=True)
