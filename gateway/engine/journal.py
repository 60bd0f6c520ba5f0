"""The journal: every touch of the outside is a call that is written down before and after, and is answered from the log when it is there.

A call's key is (run, visit, name, occurrence). `Visit` is what a node gets to touch the outside with.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.engine import budget, events
from gateway.engine.events import Event
from gateway.engine.identity import child_of
from gateway.engine.log import Log
from gateway.engine.ports import Artifacts, Effect, Json, LinkLost, Operation, Ports, Reconciled, Scope
from gateway.engine.state import Waiting
from gateway.errors import BudgetExhausted, EchelonError

INLINE = 4096  # characters of JSON that stay in the log; more becomes an artifact
DOUBT_OPTIONS = ("yes", "no")


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


@dataclass(frozen=True)
class Recorded:
    """One call of this visit in the log; `outcome` is None where it was begun and never ended."""

    digest: str
    effect: Effect
    attempt: int
    outcome: dict[str, Json] | None


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
        self._log = log
        self._ports = ports
        self._limits = limits
        self._used = used
        self._occurrences: Counter[str] = Counter()
        self._reserved: Counter[str] = Counter()
        self._began = ports.clock.monotonic()
        self._calls, self._answers, self._intents = _read(log.recorded(visit_seq))

    def progress(self, kind: str, **data: Json) -> None:
        """Tell whoever watches; leaves no trace."""
        self._ports.notify.progress(kind, data)

    async def call(self, operation: str, args: Json, *, name: str | None = None, effect: Effect | None = None) -> Json:
        """The result of a registered operation, as plain data: from the log, or by running it.

        `effect` may only be a milder one that holds for these arguments. Raises CallFailed, BudgetExhausted, WaitRequested.
        """
        op = self._ports.operations[operation]
        effect = effect or op.effect
        name = name or operation
        self._occurrences[name] += 1
        key = f"{self.number}/{name}#{self._occurrences[name]}"
        digest = _digest(operation, args)
        before = [call for call in self._calls.get(key, []) if call.digest == digest]
        ended = [call for call in before if call.outcome is not None]
        again = (Effect.ONCE, Effect.CHILD)  # what an earlier attempt did is not done again
        for call in reversed(ended):
            assert call.outcome is not None
            if call.attempt == self.attempt or (effect in again and "ok" in call.outcome):
                self._log.answered(key)
                return self._give(op, call.outcome)
        scope = self._scope(key)
        if effect is Effect.ONCE and len(before) > len(ended):
            settled = await self._settle(op, args, key, digest, scope)
            if settled is not None:
                return self._give(op, settled)
        return await self._run(op, args, key, digest, effect, scope)

    async def _run(self, op: Operation, args: Json, key: str, digest: str, effect: Effect, scope: Scope) -> Json:
        record = {"key": key, "attempt": self.attempt, "digest": digest}
        try:
            self._check_budget(op)
        except BudgetExhausted as error:
            await self._log.append(events.CALL_ENDED, {**record, "budget": [error.budget, error.used, error.limit]})
            raise
        await self._log.append(
            events.CALL_INTENDED,
            {**record, "op": op.name, "effect": effect.value, "args": self._keep(args)},
            durable=effect is Effect.ONCE,
        )
        self._intents[key] += 1
        self._log.check_owner()
        self._reserved.update(op.spends)
        began = self._ports.clock.monotonic()
        try:
            async with asyncio.timeout(op.deadline_s):
                outcome: dict[str, Json] = {"ok": self._redacted(await op.run(args, scope))}
        except (WaitRequested, BudgetExhausted):
            raise
        except EchelonError as error:
            outcome = {
                "error": [error.kind, self._ports.redact(str(error)), error.retryable, error.hint, error.exit_code]
            }
        except Exception as error:
            if effect is Effect.ONCE:  # it may have happened all the same
                settled = await self._settle(op, args, key, digest, scope)
                return (
                    self._give(op, settled)
                    if settled is not None
                    else await self._run(op, args, key, digest, effect, scope)
                )
            outcome = {"error": [*_why(op, error, self._ports.redact), True, "", 1]}
        finally:
            self._reserved.subtract(op.spends)
        ms = round((self._ports.clock.monotonic() - began) * 1000)
        await self._end(record, outcome, ms)
        return self._give(op, outcome)

    async def _settle(self, op: Operation, args: Json, key: str, digest: str, scope: Scope) -> dict[str, Json] | None:
        """A call in doubt: the outcome if it turns out to have happened, None if it did not and may be run."""
        await self._log.append(events.CALL_IN_DOUBT, {"key": key, "op": op.name})
        record = {"key": key, "attempt": self.attempt, "digest": digest}
        verdict, result = Reconciled.UNKNOWN, None
        if op.reconcile is not None:
            try:
                async with asyncio.timeout(op.deadline_s):
                    found = await op.reconcile(args, scope)
                verdict, result = found.verdict, found.result
            except Exception as error:  # looking failed: a person has to
                self.progress("in_doubt", op=op.name, error=str(error))
        if verdict is Reconciled.NOT_DONE:
            return None
        if verdict is Reconciled.UNKNOWN:
            shown = json.dumps(args, ensure_ascii=False)[:500]
            answer = await self.ask(
                f"doubt:{key}:{self._intents[key]}",
                f"It is not known whether this happened before the interruption: {op.name} {self._ports.redact(shown)}. Did it happen?",
                options=DOUBT_OPTIONS,
            )
            if answer == "no":
                return None
        outcome: dict[str, Json] = {"ok": self._redacted(result), "reconciled": verdict.value}
        await self._end(record, outcome, 0)
        return outcome

    async def ask(
        self,
        id: str,
        question: str,
        *,
        options: Sequence[str] = (),
        deadline_s: float | None = None,
        on_timeout: str | None = None,
    ) -> str:
        """A person's answer: from the log, or the run waits for it (WaitRequested unwinds the node). Its `id` is unique within the visit."""
        answer = self._answers.get(id)
        if answer is not None:
            return answer
        deadline = None if deadline_s is None else self._ports.clock.now() + deadline_s
        raise WaitRequested(Waiting(id, self.run_id, question, tuple(options), deadline, on_timeout))

    async def now(self) -> float:
        """Wall time in seconds since the epoch, journaled."""
        record = {"key": f"{self.number}/now#{self._occurrences['now'] + 1}", "attempt": self.attempt, "digest": "now"}
        self._occurrences["now"] += 1
        for call in reversed(self._calls.get(str(record["key"]), [])):
            if call.outcome is not None and call.attempt == self.attempt:
                self._log.answered(str(record["key"]))
                return float(call.outcome["ok"])
        value = self._ports.clock.now()
        await self._log.append(events.CALL_ENDED, {**record, "ok": value, "ms": 0})
        return value

    def _check_budget(self, op: Operation) -> None:
        if not op.spends and "time_s" not in self._limits:
            return
        used = budget.add(budget.add(self._used, self.spent), self._reserved)
        used["time_s"] = used.get("time_s", 0) + self._ports.clock.monotonic() - self._began
        budget.check({name: limit for name, limit in self._limits.items() if name != "visits"}, used, op.spends)

    def _scope(self, key: str) -> Scope:
        used = budget.add(self._used, self.spent)
        return Scope(
            run_id=self.run_id,
            call_id=f"{self.run_id}/{key}",
            child_id=child_of(self.run_id, key),
            limits=budget.left(self._limits, used),
            artifacts=self.artifacts,
            clock=self._ports.clock,
            progress=self._ports.notify.progress,
        )

    async def _end(self, record: Mapping[str, Json], outcome: Mapping[str, Json], ms: int) -> None:
        data = {**record, **outcome, "ms": ms}
        if "ok" in data:
            data["ok"] = self._keep(data["ok"])
        await self._log.append(events.CALL_ENDED, data)

    def _give(self, op: Operation, outcome: Mapping[str, Json]) -> Json:
        """An outcome as the caller sees it, live or recorded; charged to the visit."""
        if "budget" in outcome:
            raise BudgetExhausted(*outcome["budget"])
        if "error" in outcome:
            kind, message, retryable, hint, exit_code = outcome["error"]
            raise CallFailed(kind, message, retryable=retryable, hint=hint, exit_code=exit_code)
        result = outcome["ok"]
        if isinstance(result, dict) and set(result) == {"artifact", "bytes"}:
            result = json.loads(self.artifacts.get(result["artifact"]))
        if op.charge is not None:
            self.spent = budget.add(self.spent, op.charge(result))
        return result

    def _redacted(self, result: Json) -> Json:
        """What the caller gets is what the log has: a secret that a tool printed reaches neither the state nor a prompt."""
        text = json.dumps(result, ensure_ascii=False)
        clean = self._ports.redact(text)
        return json.loads(clean if clean != text else text)

    def _keep(self, value: Json) -> Json:
        text = self._ports.redact(json.dumps(value, ensure_ascii=False))
        if len(text) <= INLINE:
            return json.loads(text)
        data = text.encode()
        return {"artifact": self.artifacts.put(data), "bytes": len(data)}


def _read(recorded: Sequence[Event]) -> tuple[dict[str, list[Recorded]], dict[str, str], Counter[str]]:
    """The calls of a visit by key, in the order in which they were begun; the answers that people gave; how often each was begun."""
    calls: dict[str, list[Recorded]] = {}
    begun: Counter[str] = Counter()
    answers: dict[str, str] = {}
    for event in recorded:
        data = event.data
        if event.kind == events.CALL_INTENDED:
            begun[data["key"]] += 1
            calls.setdefault(data["key"], []).append(
                Recorded(data["digest"], Effect(data["effect"]), data["attempt"], None)
            )
        elif event.kind == events.CALL_ENDED:
            outcome: dict[str, Json] = {name: data[name] for name in ("ok", "error", "budget") if name in data}
            mine = calls.setdefault(data["key"], [])
            ended = Recorded(data["digest"], Effect.READ, data["attempt"], outcome)
            # A call that was interrupted and run again has two intents and one outcome.
            calls[data["key"]] = [call for call in mine if call.outcome is not None or call.digest != ended.digest] + [
                ended
            ]
        elif event.kind == events.RUN_ANSWERED:
            answers[data["id"]] = data["answer"]
    return calls, answers, begun


def _digest(operation: str, args: Json) -> str:
    return hashlib.sha256(f"{operation} {json.dumps(args, sort_keys=True, ensure_ascii=False)}".encode()).hexdigest()[
        :16
    ]


def _why(op: Operation, error: Exception, redact: Callable[[str], str]) -> tuple[str, str]:
    match error:
        case TimeoutError():
            return "timeout", f"{op.name} did not end" + (
                f" within {op.deadline_s:g} s" if op.deadline_s is not None else " in time"
            )
        case LinkLost():
            return "link_lost", redact(f"{op.name}: the connection was lost ({error})")
        case _:
            return "internal", redact(f"{op.name}: {type(error).__name__}: {error}")
