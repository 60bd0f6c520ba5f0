"""The journal: every touch of the outside is a call that is written down before and after, and answered from the log.

A call's key is (run, visit, name, occurrence). `Visit` is what a node gets to touch the outside with.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from gateway.engine import budget, events
from gateway.engine.log import Log
from gateway.engine.ports import Artifacts, Effect, Json, LookFailed, Operation, Ports, Reconciled, Scope
from gateway.engine.records import Call, Outcome, Past, Recorded, digest_of, error_of, plain, read
from gateway.engine.state import Waiting
from gateway.errors import BudgetExhausted, EchelonError, GraphError, ReplayMismatch, StoreError

INLINE = 4096  # characters of JSON that stay in the log; more becomes an artifact
DOUBT_OPTIONS = ("yes", "no")
KEPT = (Effect.ONCE, Effect.CHILD)  # what an earlier attempt did is not done again
GROUND = (StoreError, ReplayMismatch)  # the ground gave way: not the node's to handle, the run is resumed later


class WaitRequested(Exception):
    """Unwinds a node: a person has to answer first."""

    def __init__(self, waiting: Waiting) -> None:
        super().__init__(waiting.question)
        self.waiting = waiting


class CallFailed(EchelonError):
    """An operation ended with an error: the journaled form of whatever it raised."""

    def __init__(self, kind: str, message: str, *, retryable: bool, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.retryable = retryable
        self.exit_code = exit_code


class Visit:
    """One attempt at one visit of a node: answers calls from the log while it can, then makes them."""

    def __init__(
        self,
        log: Log,
        ports: Ports,
        artifacts: Artifacts,
        *,
        visit: int,
        attempt: int,
        visit_seq: int,
        limits: Mapping[str, float],
        used: Mapping[str, float],
    ) -> None:
        self.artifacts = artifacts
        self.run_id = log.run_id
        self.number = visit
        self.attempt = attempt
        self.spent: dict[str, float] = {}
        self.broken: Exception | None = None
        """Why nothing more can be written. A node that catches too much does not get past it."""
        self.limits = limits
        """The run's, by counter."""
        self._log = log
        self._ports = ports
        self._used = used
        self._began = ports.clock.monotonic()
        self._visit_seq = visit_seq

    # Made when first needed: many nodes call nothing.

    @cached_property
    def _past(self) -> Past:
        return read(self._log.recorded(self._visit_seq))

    @cached_property
    def _occurrences(self) -> defaultdict[str, int]:
        return defaultdict(int)

    @cached_property
    def _under_way(self) -> set[str]:
        return set()

    @cached_property
    def _reserved(self) -> Counter[str]:
        return Counter()

    def progress(self, kind: str, **data: Json) -> None:
        """Tell whoever watches; leaves no trace."""
        self._ports.notify.progress(kind, data)

    async def call(self, operation: str, args: Json, *, name: str | None = None, effect: Effect | None = None) -> Json:
        """The result of a registered operation, as plain data: from the log, or by running it.

        `effect` may only be a milder one that holds for these arguments. Calls that are under way at once need distinct
        names. The result is None where only a person could tell that the call had happened.
        Raises CallFailed, BudgetExhausted, WaitRequested.
        """
        name = name or operation
        op = self._ports.operations.get(operation)
        if op is None:
            raise GraphError(f"no operation is registered under {operation!r}")
        if name in self._under_way:
            raise GraphError(f"two calls named {name!r} at once: concurrent calls need distinct names")
        self._under_way.add(name)
        try:
            return await self._call(op, args, self._key(name), effect or op.effect)
        finally:
            self._under_way.discard(name)

    async def _call(self, op: Operation, args: Json, key: str, effect: Effect) -> Json:
        shown = plain(args, self._ports.redact)
        digest = digest_of(op.name, shown)
        call = Call(op, args, shown, effect, key, digest, self._scope(f"{key}/{digest}"))
        recorded = self._recorded(call)
        if recorded is not None:
            # What an earlier attempt spent was counted when that attempt ended.
            return self._give(op, recorded.outcome or {}, charged=recorded.attempt == self.attempt)
        if effect is Effect.ONCE:
            for doubtful in self._past.in_doubt(key):
                outcome = await self._settle(call if doubtful.digest == digest else self._earlier(doubtful, key))
                if doubtful.digest != digest:  # the node calls with other arguments now
                    await self._end(self._earlier(doubtful, key), outcome or {"error": NOT_DONE}, 0)
                elif outcome is not None:
                    await self._end(call, outcome, 0)
                    return self._give(op, outcome)
        return await self._run(call)

    def _recorded(self, call: Call) -> Recorded | None:
        for past in reversed(self._past.calls.get(call.key, [])):
            if past.digest != call.digest or past.outcome is None:
                continue
            if past.attempt == self.attempt or (call.effect in KEPT and "ok" in past.outcome):
                self._log.answered(call.key)
                return past.with_outcome(self._whole(past.outcome))
        return None

    async def _run(self, call: Call) -> Json:
        """Intent, operation, outcome. What it may spend is reserved from before its intent until it is charged."""
        try:
            self._check_budget(call.op)
        except BudgetExhausted as error:
            await self._end(call, {"budget": [error.budget, error.used, error.limit]}, 0)
            raise
        self._reserved.update(call.op.spends)
        try:
            intent = {**call.record(self.attempt), "effect": call.effect.value, "args": self._keep(call.shown)}
            await self._append(events.CALL_INTENDED, intent, durable=call.effect is Effect.ONCE)
            self._past.begun[call.key] += 1
            self._check_owner()
            began = self._ports.clock.monotonic()
            outcome = await self._outcome(call)
            await self._end(call, outcome, round((self._ports.clock.monotonic() - began) * 1000))
            return self._give(call.op, outcome)
        finally:
            self._reserved.subtract(call.op.spends)

    async def _outcome(self, call: Call) -> Outcome:
        """Run the operation. What a cancellation cut off has no outcome; what else may have happened is looked into."""
        try:
            async with asyncio.timeout(call.op.deadline_s):
                return {"ok": plain(await call.op.run(call.args, call.scope), self._ports.redact)}
        except WaitRequested:
            raise
        except GROUND as error:
            self.broken = error
            raise
        except BudgetExhausted as error:
            return {"budget": [error.budget, error.used, error.limit]}
        except EchelonError as error:
            return {"error": error_of(call.op, error, self._ports.redact)}
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            settled = await self._settle(call) if call.effect is Effect.ONCE else None
            return settled or {"error": error_of(call.op, error, self._ports.redact)}

    async def _settle(self, call: Call) -> Outcome | None:
        """A call in doubt: its outcome if it turns out to have happened; None if it did not, and may be run."""
        await self._append(events.CALL_IN_DOUBT, {"key": call.key, "op": call.op.name, "digest": call.digest})
        verdict, result = Reconciled.UNKNOWN, None
        if call.op.reconcile is not None:
            try:
                async with asyncio.timeout(call.op.deadline_s):
                    found = await call.op.reconcile(call.args, call.scope)
                verdict, result = found.verdict, plain(found.result, self._ports.redact)
            except GROUND as error:
                self.broken = error
                raise
            except LookFailed as error:
                unknown: Outcome = {"error": error_of(call.op, error.cause, self._ports.redact), "doubt": True}
                await self._end(call, unknown, 0)
                self._give(call.op, unknown)
            except Exception as error:  # looking failed: a person has to
                self.progress("in_doubt", op=call.op.name, error=str(error))
        if verdict is Reconciled.NOT_DONE:
            return None
        if verdict is Reconciled.UNKNOWN:
            answer = await self.ask(
                f"doubt:{call.key}:{self._past.begun[call.key]}",
                f"It is not known whether this happened: {call.in_words()}. Did it happen?",
                options=DOUBT_OPTIONS,
            )
            if answer == "no":
                return None
        return {"ok": result, "reconciled": verdict.value}

    def _earlier(self, doubtful: Recorded, key: str) -> Call:
        """A call of an earlier attempt, from what the log has of it."""
        op = self._ports.operations[doubtful.op]
        args = self._whole({"ok": doubtful.args})["ok"]
        scope = self._scope(f"{key}/{doubtful.digest}")
        return Call(op, args, args, Effect.ONCE, key, doubtful.digest, scope)

    async def ask(
        self,
        id: str,
        question: str,
        *,
        options: Sequence[str] = (),
        deadline_s: float | None = None,
        on_timeout: str | None = None,
    ) -> str:
        """A person's answer: from the log, or the run waits for it (WaitRequested unwinds the node).

        `id` is unique within the visit. `deadline_s` counts from now; once it has passed, `on_timeout` is the answer.
        """
        answer = self._past.answers.get(id)
        if answer is not None:
            return answer
        deadline = None if deadline_s is None else self._ports.clock.now() + deadline_s
        raise WaitRequested(Waiting(id, self.run_id, question, tuple(options), deadline, on_timeout))

    async def now(self) -> float:
        """Wall time in seconds since the epoch, journaled."""
        key = self._key("now")
        for past in reversed(self._past.calls.get(key, [])):
            if past.outcome is not None and past.attempt == self.attempt:
                self._log.answered(key)
                return float(past.outcome["ok"])
        value = self._ports.clock.now()
        record = {"key": key, "op": "now", "attempt": self.attempt, "digest": "now"}
        await self._append(events.CALL_ENDED, {**record, "ok": value, "ms": 0})
        return value

    def _key(self, name: str) -> str:
        if self.broken is not None:
            raise self.broken
        self._occurrences[name] += 1
        return f"{self.number}/{name}#{self._occurrences[name]}"

    def _check_budget(self, op: Operation) -> None:
        if not op.spends and "time_s" not in self.limits:
            return
        used = budget.add(budget.add(self._used, self.spent), self._reserved)
        used["time_s"] = used.get("time_s", 0) + self._ports.clock.monotonic() - self._began
        budget.check({name: limit for name, limit in self.limits.items() if name != "visits"}, used, op.spends)

    def _check_owner(self) -> None:
        try:
            self._log.check_owner()
        except GROUND as error:
            self.broken = error
            raise

    def _scope(self, identity: str) -> Scope:
        return Scope(
            run_id=self.run_id,
            call_id=f"{self.run_id}/{identity}",
            limits=budget.left(self.limits, budget.add(self._used, self.spent)),
            artifacts=self.artifacts,
            clock=self._ports.clock,
            progress=self._ports.notify.progress,
            watched=self._ports.watched,
        )

    async def _append(self, kind: str, data: dict[str, Json], *, durable: bool = False) -> None:
        try:
            await self._log.append(kind, data, durable=durable)
        except GROUND as error:
            self.broken = error
            raise

    async def _end(self, call: Call, outcome: Outcome, ms: int) -> None:
        data = {**call.record(self.attempt), **outcome, "ms": ms}
        if "ok" in data:
            data["ok"] = self._keep(data["ok"])
        await self._append(events.CALL_ENDED, data)

    def _give(self, op: Operation, outcome: Outcome, *, charged: bool = True) -> Json:
        """An outcome as the caller sees it, live or recorded; charged to the visit."""
        if "budget" in outcome:
            raise BudgetExhausted(*outcome["budget"])
        if "error" in outcome:
            kind, message, retryable, hint, exit_code = outcome["error"]
            raise CallFailed(kind, message, retryable=retryable, hint=hint, exit_code=exit_code)
        result = outcome["ok"]
        if charged and op.charge is not None:
            # Where only a person could tell that it happened there is no result to ask: it counts as one.
            unknown = outcome.get("reconciled") == Reconciled.UNKNOWN
            self.spent = budget.add(self.spent, dict.fromkeys(op.spends, 1) if unknown else op.charge(result))
        return result

    def _keep(self, value: Json) -> Json:
        """What the log has of a value; a value that could be taken for an artifact's name becomes one, too."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) <= INLINE and not _named(value):
            return value
        data = text.encode()
        return {"artifact": self.artifacts.put(data), "bytes": len(data)}

    def _whole(self, outcome: Outcome) -> Outcome:
        """A recorded outcome with its result, which may be an artifact."""
        if not _named(outcome.get("ok")):
            return outcome
        try:
            return {**outcome, "ok": json.loads(self.artifacts.get(outcome["ok"]["artifact"]))}
        except GROUND as error:
            self.broken = error
            raise


def _named(value: Json) -> bool:
    return isinstance(value, dict) and set(value) == {"artifact", "bytes"}


NOT_DONE = ["not_done", "it did not happen before the interruption", True, "", 1]
