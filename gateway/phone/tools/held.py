"""The phone for one call of a tool: looked at, acted on once, and let go."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.ports import Json, LinkLost, Operation, Reconciled, Reconciliation, Scope, SystemClock
from gateway.engine.store import Store
from gateway.errors import DeviceLost
from gateway.phone.actions import DeviceAction, Numbered, Tap
from gateway.phone.element import Element
from gateway.phone.judging.look import Look
from gateway.phone.judging.target import target_of
from gateway.phone.task.state import Seen, TaskOptions, elements_json, load_elements
from gateway.tools.registry import ToolContext
from gateway.tools.undo import replace_file

NOTES = 20  # acts whose screens are kept on the disk: one at most is in doubt
RESTS_S = 5.0
LATER_S = 1.0  # after which an unchanged screen is looked at once more


@dataclass(frozen=True)
class Done:
    """An act, and the screen before and after it."""

    action: DeviceAction
    target: Element | None
    risk: str
    outcome: dict[str, Json]
    before: Look
    after: Look


class HeldPhone:
    """What it shows stays in memory; what it showed before an act is noted, since that tells whether the act happened
    when its answer is lost."""

    def __init__(self, operations: dict[str, Operation], options: TaskOptions, ctx: ToolContext) -> None:
        self._operations = operations
        self.options = options
        self._artifacts = MemoryArtifacts()
        self._scope = Scope("", ctx.call, {}, self._artifacts, SystemClock(), lambda kind, data: None)
        name = sha256(ctx.call.encode()).hexdigest()[:32]
        self._note = ctx.home / "phone" / f"{name}.json"

    async def look(self, *, delay: float = 0.0) -> Look:
        """The screen once it has come to rest, and is on."""
        await self._run("device.settle", {"delay": delay, "longest": RESTS_S})
        seen = await self._seen()
        if seen.screen_on is False:
            await self._run("device.ensure", {})
            seen = await self._seen()
        return Look(seen, load_elements(self._artifacts, seen.elements))

    async def apps(self) -> list[str]:
        """The labels of what can be started."""
        found = await self._run("device.ensure", {})
        return list(found["device"]["apps"])

    async def open_app(self, app: str) -> None:
        await self._run("device.launch", {"app": app})

    def risk(self, action: DeviceAction, before: Look) -> str:
        """What about it cannot be taken back; empty where it is harmless."""
        from gateway.phone.judging.consequential import consequential, words

        careful = words(self.options.languages, self.options.consequential)
        target = target_of(action, before.elements, before.seen.size)
        return consequential(action, target, before.elements, careful, readable=before.elements is not None)

    async def focus(self, field: Element, look: Look) -> Look:
        """Tap a field, which can be done again: where the answer is lost, the call has failed before it began."""
        action = Tap(coordinate=Numbered(element=field.number)).model_dump(mode="json")
        try:
            await self._run("device.act", {"action": action, "consequential": "", "seen": _plain(look)})
        except LinkLost as error:
            raise DeviceLost(f"the field could not be tapped: {error}") from error
        return await self.look(delay=self.options.step_delay)

    async def act(self, action: DeviceAction, before: Look) -> Done:
        """Do it, once. LinkLost where its answer was lost."""
        risk = self.risk(action, before)
        args: dict[str, Json] = {
            "action": action.model_dump(mode="json"),
            "consequential": risk,
            "seen": _plain(before),
        }
        elements = None if before.elements is None else json.loads(elements_json(before.elements))
        replace_file(self._note, json.dumps({"args": args, "elements": elements}, ensure_ascii=False).encode())
        _forget_old(self._note.parent)
        outcome = await self._run("device.act", args)
        after = await self.look(delay=self.options.step_delay)
        if before.seen.look == after.seen.look:
            after = await self.look(delay=LATER_S)
        return Done(action, target_of(action, before.elements, before.seen.size), risk, outcome, before, after)

    async def happened(self) -> Reconciliation:
        """Whether the act of this very call was done, as the screen tells it."""
        try:
            note = json.loads(self._note.read_text("utf-8"))
        except (OSError, ValueError):
            return Reconciliation(Reconciled.NOT_DONE)  # nothing is done before it is noted
        if note["elements"] is not None:
            self._artifacts.put(json.dumps(note["elements"], ensure_ascii=False).encode("utf-8", "replace"))
        reconcile = self._operations["device.act"].reconcile
        assert reconcile is not None
        return await reconcile({"serial": self.options.serial, **note["args"]}, self._scope)

    async def _seen(self) -> Seen:
        return Seen.model_validate((await self._run("device.observe", {}))["seen"])

    async def _run(self, name: str, args: dict[str, Json]) -> Any:
        return await self._operations[name].run({"serial": self.options.serial, **args}, self._scope)


@asynccontextmanager
async def held(ctx: ToolContext) -> AsyncIterator[HeldPhone]:
    """The phone of the configuration, for this call alone. Raises NoDevice, DeviceBusy and the like."""
    from gateway.phone.agents.extensions import Extensions
    from gateway.phone.task.beginning import options_of
    from gateway.phone.task.hands import Hand
    from gateway.phone.task.operations import device_operations

    options = options_of(ctx.settings)
    store = Store(ctx.home / "echelon.db")
    hand = Hand(store, options)
    try:
        found = device_operations(hand, Extensions(), options.patience)
        yield HeldPhone({each.name: each for each in found}, options, ctx)
    finally:
        await hand.close()
        store.close()


def _plain(look: Look) -> dict[str, Json]:
    return look.seen.model_dump(mode="json")


def _forget_old(folder: Path) -> None:
    with suppress(OSError):  # another gateway does the same
        notes = sorted(folder.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)
        for each in notes[:-NOTES]:
            each.unlink(missing_ok=True)
