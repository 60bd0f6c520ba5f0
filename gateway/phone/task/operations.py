"""What a task does with its phone, as operations of the journal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gateway.engine.ports import Effect, Json, LinkLost, LookFailed, Operation, Reconciled, Reconciliation, Scope
from gateway.errors import (
    ActionFailed,
    AppNotFound,
    DeviceDenied,
    DeviceError,
    DeviceLost,
    EchelonError,
    NoDevice,
    TextNotTyped,
    UsageError,
)
from gateway.phone.actions import DEVICE_ACTION, DeviceAction
from gateway.phone.agents.extensions import Extensions
from gateway.phone.judging.happened import happened
from gateway.phone.judging.launchers import is_dialog
from gateway.phone.judging.look import Look
from gateway.phone.judging.still_there import still_there
from gateway.phone.judging.target import called, target_of
from gateway.phone.task.hands import Hand
from gateway.phone.task.provision import provision
from gateway.phone.task.seeing import observation_of, seen_of
from gateway.phone.task.state import Device, Seen, load_elements
from gateway.phone.trajectory.words import in_words

if TYPE_CHECKING:
    from gateway.phone.bridge import ActionResult, Bridge

REFUSED = (ActionFailed, TextNotTyped, AppNotFound, DeviceDenied, UsageError)
LOOK_AGAIN_S = 1.0
IN_FRONT_S = 10.0
MAX_APPS = 150
OLD_S, OLD_RISKY_S = 30.0, 5.0  # a look so old is not acted on, of acts that are harmless and of others


def device_operations(hand: Hand, extensions: Extensions, patience: float) -> list[Operation]:
    """`device.*`, on the phone of that hand. `patience`: seconds in which a screen is watched for the effect of an act
    whose answer was lost."""
    acting = _Acting(hand, extensions, patience)
    return [
        Operation("device.ensure", _reading(hand, _ensure)),
        Operation("device.provision", _provision(hand), Effect.IDEMPOTENT),
        Operation("device.launch", _changing(hand, _launch), Effect.IDEMPOTENT),
        Operation("device.restart", _changing(hand, _restart), Effect.IDEMPOTENT),
        Operation("device.settle", _settle(hand)),
        Operation("device.observe", _observe(hand), reconcile=_not_seen),
        Operation("device.act", acting.run, Effect.ONCE, reconcile=acting.reconcile, in_words=_in_words),
    ]


async def _await_device(work: Any) -> Any:
    """What the work gives. A device that the bridge has not got back within its time is not waited for once more; one
    that was lost in the middle of a change, which may be made again, is."""
    try:
        return await work
    except (DeviceLost, NoDevice) as error:
        error.retryable = error.retryable and error.performed is None
        raise


def _reading(hand: Hand, work: Callable[[Bridge, Json], Json]) -> Any:
    async def run(args: Json, scope: Scope) -> Json:
        return await _await_device(hand.use(lambda bridge: work(bridge, args), args["serial"]))

    return run


def _changing(hand: Hand, work: Callable[[Bridge, Json], Json]) -> Any:
    async def run(args: Json, scope: Scope) -> Json:
        return await _await_device(hand.act(lambda bridge: work(bridge, args), args["serial"]))

    return run


def _ensure(bridge: Bridge, args: Json) -> Json:
    """The phone, awake; `locked` where only its owner can unlock it."""
    power = bridge.wake()
    model, android = bridge.identity()
    device = Device(
        serial=bridge.serial,
        model=model,
        android=android,
        size=bridge.display().size,
        apps=tuple(dict.fromkeys(app.label for app in bridge.apps()))[:MAX_APPS],
    )
    return {"device": device.model_dump(mode="json"), "locked": power.locked is True}


def _provision(hand: Hand) -> Any:
    async def run(args: Json, scope: Scope) -> Json:
        given = args["apk"], args["sha256"], args["app"]
        return await _await_device(hand.act(lambda bridge: provision(bridge, *given), args["serial"]))

    return run


def _launch(bridge: Bridge, args: Json) -> Json:
    """Start the app, or bring it to the front, and wait until it is there. A dialog of the system may lie above it,
    such as one about a crash: the agent answers that. A package that is in front stays as it is."""
    if bridge.foreground().package == args["app"]:
        return {"package": args["app"], "label": args["app"]}
    app = bridge.start_app(args["app"])
    until = time.monotonic() + IN_FRONT_S
    while (front := bridge.foreground().package) != app.package and not is_dialog(front):
        if time.monotonic() > until:
            error = ActionFailed(
                f"{app.label} was started and did not come to the front: {front or 'nothing'} is there"
            )
            error.retryable = True
            raise error
        time.sleep(0.2)
    return {"package": app.package, "label": app.label}


def _restart(bridge: Bridge, args: Json) -> Json:
    bridge.stop_app(args["app"])
    return _launch(bridge, args)


def _settle(hand: Hand) -> Any:
    async def run(args: Json, scope: Scope) -> Json:
        began = time.monotonic()
        if args["delay"]:
            await asyncio.sleep(args["delay"])
        settled = await _await_device(hand.use(lambda bridge: bridge.settle(args["longest"]), args["serial"]))
        return {"stable": settled.stable, "ms": round((time.monotonic() - began) * 1000, 1)}

    return run


def _observe(hand: Hand) -> Any:
    async def run(args: Json, scope: Scope) -> Json:
        began = time.monotonic()
        seen = await _await_device(_look(hand, args["serial"], scope))
        return {"seen": seen.model_dump(mode="json"), "ms": round((time.monotonic() - began) * 1000, 1)}

    return run


async def _not_seen(args: Json, scope: Scope) -> Reconciliation:
    """A look that was cut off is made again, also where only one is wanted."""
    return Reconciliation(Reconciled.NOT_DONE)


async def _look(hand: Hand, serial: str | None, scope: Scope) -> Seen:
    def look(bridge: Bridge) -> Seen:
        observed = bridge.observe()
        types = any(each.editable and "focused" in each.state for each in observed.elements or ())
        return seen_of(observed, scope.artifacts, keyboard=types and bridge.keyboard_shown())

    return await hand.use(look, serial)


class _Acting:
    """`device.act`: `{"serial", "action", "seen", "consequential"}` gives `{"ok": True, "pixels", "how", "output",
    "typed"}`; `{"ok": False, "error", "message", "hint"}` where the phone has refused it and it was not done; or
    `{"ok": None, "uncertain"}` where its answer was lost and the screen tells that it happened. Where what was seen had
    become old, `before` is the look that was taken instead."""

    def __init__(self, hand: Hand, extensions: Extensions, patience: float) -> None:
        self._hand = hand
        self._extensions = extensions
        self._patience = patience
        self._wanted: dict[str, Json] = {}  # by call: what middleware has made of its action

    async def run(self, args: Json, scope: Scope) -> Json:
        if not self._extensions.middleware:
            return await self._done(args, scope)
        wanted = await asyncio.to_thread(self._extensions.before_act, dict(args["action"]))
        if wanted is None:
            return {"ok": False, "error": "unwanted", "message": "middleware does not let it be done", "hint": ""}
        self._wanted[scope.call_id] = wanted
        outcome = await self._done({**args, "action": wanted}, scope)
        problem = await asyncio.to_thread(self._extensions.after_act, wanted, dict(outcome))
        return {**outcome, "output": f"{outcome.get('output', '')}\n{problem}".strip()} if problem else outcome

    async def _done(self, args: Json, scope: Scope) -> Json:
        seen = Seen.model_validate(args["seen"])
        name = args["action"]["action"]
        try:
            if name in self._extensions.actions:
                return await self._custom(name, args)
            action = DEVICE_ACTION.validate_python(args["action"])
            observation = observation_of(seen, scope.artifacts)
            now, refusal = await self._looked_again(action, seen, args, scope)
            if refusal is not None:
                return refusal
            done = await self._hand.act(lambda bridge: bridge.perform(action, observation), args["serial"])
        except DeviceError as error:
            if error.performed is None:
                raise LinkLost(str(error)) from error
            if isinstance(error, REFUSED):
                return {"ok": False, "error": error.kind, "message": str(error), "hint": error.hint}
            error.retryable = error.retryable and not isinstance(error, DeviceLost | NoDevice)
            raise
        return _outcome(done) if now is None else {**_outcome(done), "before": now.model_dump(mode="json")}

    async def _looked_again(
        self, action: DeviceAction, seen: Seen, args: Json, scope: Scope
    ) -> tuple[Seen | None, Json]:
        """A new look where the one that the act was chosen on is old: the agent has thought for long, a person has, or
        the task was gone on with much later. And the refusal, where the phone shows something else by now."""
        risky = bool(args["consequential"])
        if time.time() - seen.at <= (OLD_RISKY_S if risky else OLD_S):
            return None, None
        try:
            now = await _look(self._hand, args["serial"], scope)
        except DeviceError as error:
            error.performed = False
            raise
        then, later = (Look(each, load_elements(scope.artifacts, each.elements)) for each in (seen, now))
        target = target_of(action, then.elements, seen.size)
        if still_there(action, target, then, later, closely=risky, harmless=not risky):
            return now, None
        what = f"{called(target)} is" if target is not None else "what it was for is"
        message = f"{what} not there any more as it was: the screen has changed"
        return now, {"ok": False, "error": "moved", "message": message, "hint": "look again"}

    async def _custom(self, name: str, args: Json) -> Json:
        custom = self._extensions.actions[name]
        given = custom.args.model_validate({key: each for key, each in args["action"].items() if key != "action"})
        try:
            said = await self._hand.act(lambda bridge: custom.run(bridge, given), args["serial"])
        except DeviceError as error:
            if custom.effect is Effect.ONCE and not isinstance(error, REFUSED):
                error.performed = None  # of its parts, some may have been done
            raise
        except EchelonError as error:
            return {"ok": False, "error": error.kind, "message": str(error), "hint": error.hint}
        return {"ok": True, "pixels": [], "how": name, "output": str(said or ""), "typed": None}

    async def reconcile(self, args: Json, scope: Scope) -> Reconciliation:
        """Looks at the screen until it tells, or patience is at its end. An unchanged screen proves nothing where the
        act has consequences: it may just be slow."""
        seen = Seen.model_validate(args["seen"])
        before = Look(seen, load_elements(scope.artifacts, seen.elements))
        wanted = self._wanted.get(scope.call_id) or args["action"]
        if wanted["action"] in self._extensions.actions:
            return Reconciliation(Reconciled.UNKNOWN)
        action: DeviceAction = DEVICE_ACTION.validate_python(wanted)
        # What middleware has made of it, nobody has judged; in another process it is not even known.
        changed = wanted != args["action"] or (scope.call_id not in self._wanted and self._extensions.changes_acts)
        target = target_of(action, before.elements, seen.size)
        until = time.monotonic() + self._patience
        while True:
            try:
                now = await self._rested(args["serial"], scope)
            except DeviceError as error:
                error.retryable = False
                raise LookFailed(error) from error
            after = Look(now, load_elements(scope.artifacts, now.elements))
            did = happened(action, target, args["consequential"], before, after)
            if did:
                words = "its answer was lost; what the screen shows now says that it happened"
                return Reconciliation(Reconciled.DONE, {"ok": None, "uncertain": words})
            if time.monotonic() >= until:
                return Reconciliation(Reconciled.UNKNOWN if did is None or changed else Reconciled.NOT_DONE)
            await asyncio.sleep(min(LOOK_AGAIN_S, self._patience / 5))

    async def _rested(self, serial: str | None, scope: Scope) -> Seen:
        with suppress(DeviceError):
            await self._hand.use(lambda bridge: bridge.settle(2.0), serial)
        return await _look(self._hand, serial, scope)


def _in_words(args: Json) -> str:
    return f"on the phone, {in_words(args['shown'], args['target'])}"


def _outcome(done: ActionResult) -> Json:
    typed = done.typed
    return {
        "ok": True,
        "pixels": [list(each) for each in done.pixels],
        "how": done.how,
        "output": done.output[:500],
        "typed": None
        if typed is None
        else {"way": typed.way, "read": typed.read, "matches": typed.matches, "note": typed.note},
    }
