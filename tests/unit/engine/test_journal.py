from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lab import Lab, Step, calls
from gateway.engine import events
from gateway.engine.journal import CallFailed, Visit
from gateway.engine.nodes import Retry
from gateway.engine.ports import Effect, LinkLost, LookFailed, Reconciled, Reconciliation, Scope
from gateway.engine.records import digest_of, plain
from gateway.engine.state import Status
from gateway.errors import DeviceLost, ModelOverloaded, StoreError, ToolError

Make = Callable[..., Lab]
READ, IDEMPOTENT, ONCE = Effect.READ, Effect.IDEMPOTENT, Effect.ONCE
DONE = Reconciliation(Reconciled.DONE, "sent before")
NOT_DONE = Reconciliation(Reconciled.NOT_DONE)
UNKNOWN = Reconciliation(Reconciled.UNKNOWN)
NOW = Retry(base_delay_ms=0)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


def secretive(text: str) -> str:
    return text.replace("hunter22", "[redacted]")


class Killed(BaseException):
    """Ends a run where it is, as a crash would."""


async def crash(args: Any, scope: Scope) -> Any:
    raise Killed


async def resumed_after_crash(lab: Lab) -> Status:
    with pytest.raises(Killed):
        await lab.start()
    return (await lab.resume()).status


async def test_an_intent_precedes_and_an_outcome_follows(lab: Make) -> None:
    here = lab(Step("A", calls("look", args={"at": 1})))
    here.op("look", READ, "seen")
    await here.start()
    intent, outcome = here.events()[1:3]
    assert (intent.kind, outcome.kind) == (events.CALL_INTENDED, events.CALL_ENDED)
    assert {name: intent.data[name] for name in ("key", "op", "effect", "args")} == {
        "key": "1/look#1",
        "op": "look",
        "effect": "READ",
        "args": {"at": 1},
    }
    assert (outcome.data["key"], outcome.data["ok"]) == ("1/look#1", "seen")


async def test_keys_are_unique_within_a_run(lab: Make) -> None:
    async def body(visit: Visit) -> None:
        for name in ("x", "y", "x", None, None):
            await visit.call("look", {}, name=name)

    here = lab(Step("A", body, "B"), Step("B", body))
    here.op("look")
    await here.start()
    keys = [event.data["key"] for event in here.events(events.CALL_INTENDED)]
    assert keys[:5] == ["1/x#1", "1/y#1", "1/x#2", "1/look#1", "1/look#2"]
    assert len(set(keys)) == 10


async def test_concurrent_calls_with_names_of_their_own_are_answered_each_with_its_result(lab: Make) -> None:
    async def slow(args: Any, scope: Scope) -> Any:
        for _ in range(3 - args["n"]):
            await asyncio.sleep(0)
        return args["n"]

    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(visit.call("slow", {"n": n}, name=f"slow{n}")) for n in range(3)]
        return [task.result() for task in tasks]

    here = lab(Step("A", body))
    here.op("slow", READ, slow)
    state = await here.start()
    assert state.data.lines == [[0, 1, 2]]
    assert [event.seq for event in here.events()] == list(range(1, 9))
    await here.identical()


async def test_two_calls_of_one_name_at_once_are_a_mistake_of_the_graph(lab: Make) -> None:
    async def body(visit: Visit) -> None:
        await asyncio.gather(visit.call("slow", 1), visit.call("slow", 2))

    here = lab(Step("A", body))
    here.op("slow", READ, lambda args, scope: asyncio.sleep(0))
    state = await here.start()
    assert (state.status, state.stop_reason) == (Status.FAILED, "error:graph")
    assert "distinct names" in str(state.error)


async def test_an_operation_that_nobody_registered_is_a_mistake_of_the_graph(lab: Make) -> None:
    state = await lab(Step("A", calls("nothing"))).start()
    assert state.stop_reason == "error:graph"


@pytest.mark.parametrize("effect", [READ, IDEMPOTENT])
async def test_what_can_be_repeated_is_run_again_after_a_crash(lab: Make, effect: Effect) -> None:
    here = lab(Step("A", calls("first", "act")))
    here.op("first")
    here.op("act", effect, crash, "done")
    assert await resumed_after_crash(here) is Status.COMPLETE
    assert here.names() == ["first", "act", "act"]  # what had an outcome was answered from the log
    await here.identical()


async def test_a_retried_node_reads_again_and_gets_the_outcomes_of_what_happens_once(lab: Make) -> None:
    here = lab(Step("A", calls("look", "send", "check"), retry=NOW))
    here.op("look", READ, "old", "new")
    here.op("send", ONCE, "sent", spends=("mails",), charge=lambda result: {"mails": 1})
    here.op("check", READ, ModelOverloaded("busy"), "fine")
    state = await here.start(mails=5)
    assert state.data.lines == [["new", "sent", "fine"]]
    assert here.names() == ["look", "send", "check", "look", "check"]
    assert state.counters["mails"] == 1  # counted when it was done, not when it was answered from the log
    await here.identical()


async def test_once_calls_that_failed_on_purpose_are_tried_again_by_the_nodes_policy(lab: Make) -> None:
    here = lab(Step("A", calls("send"), retry=NOW))
    here.op("send", ONCE, ModelOverloaded("busy"), "sent")
    assert (await here.start()).data.lines == [["sent"]]
    assert events.CALL_IN_DOUBT not in here.kinds()


@pytest.mark.parametrize("how", ["crash", "timeout", "lost link", "unexpected error", "cancelled"])
@pytest.mark.parametrize(
    ("verdict", "runs", "result"), [(DONE, 1, "sent before"), (NOT_DONE, 2, "sent"), (UNKNOWN, 1, None)]
)
async def test_a_once_call_without_outcome_is_in_doubt_and_looked_into(
    lab: Make, how: str, verdict: Reconciliation, runs: int, result: str | None
) -> None:
    async def hang(args: Any, scope: Scope) -> Any:
        await asyncio.sleep(60)

    async def cut_off(args: Any, scope: Scope) -> Any:
        raise asyncio.CancelledError

    scripts: dict[str, Any] = {
        "crash": crash,
        "timeout": hang,
        "lost link": LinkLost("gone"),
        "unexpected error": RuntimeError("boom"),
        "cancelled": cut_off,
    }
    here = lab(Step("A", calls("send"), retry=NOW))
    here.op("send", ONCE, scripts[how], "sent", reconcile=verdict, deadline_s=0.02)
    if how == "crash":
        await resumed_after_crash(here)
    else:
        await here.start()
    if verdict is UNKNOWN:
        assert here.row().status == Status.WAITING
        await here.runs.answer(here.id, "yes")
        await here.resume()
    assert here.row().status == Status.COMPLETE
    assert here.names().count("send") == runs
    assert here.events(events.CALL_ENDED)[-1].data["ok"] == result
    assert events.CALL_IN_DOUBT in here.kinds()
    await here.identical()


@pytest.mark.parametrize(("answer", "runs", "status"), [("yes", 1, "complete"), ("no", 2, "complete")])
async def test_where_nobody_can_look_a_person_says_whether_it_happened(
    lab: Make, answer: str, runs: int, status: str
) -> None:
    here = lab(Step("A", calls("send", args={"to": "Ann"})))
    here.op("send", ONCE, crash, "sent", spends=("mails",), charge=lambda result: {"mails": len(result) / 4})
    assert await resumed_after_crash(here) is Status.WAITING
    assert 'send {"to": "Ann"}' in str(here.row().question)
    assert (await here.resume()).status is Status.WAITING  # nothing happens before the answer
    await here.runs.answer(here.id, answer)
    state = await here.resume()
    assert (state.status, here.names().count("send"), state.counters["mails"]) == (status, runs, 1)
    await here.identical()


async def test_a_second_doubt_about_the_same_call_is_a_question_of_its_own(lab: Make) -> None:
    here = lab(Step("A", calls("send")))
    here.op("send", ONCE, LinkLost("1"), LinkLost("2"), "sent")
    await here.start()
    for _ in range(2):
        await here.runs.answer(here.id, "no")
        await here.resume()
    assert here.row().status == Status.COMPLETE
    assert here.names() == ["send"] * 3
    await here.identical()


async def test_where_looking_fails_a_person_is_asked(lab: Make) -> None:
    here = lab(Step("A", calls("send")))
    here.op("send", ONCE, LinkLost("1"), reconcile=LinkLost("still"))
    assert (await here.start()).status is Status.WAITING


async def test_where_nothing_can_be_seen_now_the_run_fails_and_looks_again_when_it_is_resumed(lab: Make) -> None:
    gone = DeviceLost("the phone is gone", hint="plug it in")
    gone.retryable = False
    looks: list[Any] = [LookFailed(gone), LookFailed(gone), DONE]

    here = lab(Step("A", calls("send")))
    here.op("send", ONCE, LinkLost("1"), reconcile=looks)
    state = await here.start()
    assert (state.status, state.stop_reason) == (Status.FAILED, "error:device_lost")
    state = await here.resume()
    assert (state.status, state.stop_reason) == (Status.FAILED, "error:device_lost")
    await here.resume()
    assert here.row().status == Status.COMPLETE
    assert here.names() == ["send", "look send", "look send", "look send"]
    await here.identical()


async def test_a_link_that_stays_lost_does_not_spin(lab: Make) -> None:
    here = lab(Step("A", calls("send")))
    here.op("send", ONCE, LinkLost("gone"), reconcile=NOT_DONE)
    state = await here.start()
    assert (state.status, state.stop_reason) == (Status.FAILED, "error:link_lost")
    assert here.names().count("send") == 3
    assert len(here.clock.slept) == 2


async def test_a_doubt_about_other_arguments_is_settled_before_the_call_is_made(lab: Make) -> None:
    attempts = iter([{"sum": 10}, {"sum": 11}])

    async def hang(args: Any, scope: Scope) -> Any:
        await asyncio.sleep(60)

    async def body(visit: Visit) -> Any:
        args = next(attempts)
        async with asyncio.TaskGroup() as group:
            pay = group.create_task(visit.call("pay", args))
            group.create_task(visit.call("check", {}))
        return pay.result()

    here = lab(Step("A", body, retry=NOW))
    here.op("pay", ONCE, hang, "paid", reconcile=DONE)
    here.op("check", READ, ModelOverloaded("busy"), "fine")
    await here.start()
    assert [(name, args) for name, args in here.did if "pay" in name] == [
        ("pay", {"sum": 10}),
        ("look pay", {"sum": 10}),
        ("pay", {"sum": 11}),
    ]


async def test_a_failed_sibling_leaves_a_once_call_in_doubt_for_the_next_attempt(lab: Make) -> None:
    async def hang(args: Any, scope: Scope) -> Any:
        await asyncio.sleep(60)

    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(visit.call("pay", {}))
            group.create_task(visit.call("check", {}))

    here = lab(Step("A", body, retry=NOW))
    here.op("pay", ONCE, hang, reconcile=DONE)
    here.op("check", READ, ModelOverloaded("busy"), "fine")
    state = await here.start()
    assert state.status is Status.COMPLETE
    assert here.names().count("pay") == 1
    assert here.events(events.NODE_DECIDED)[0].data["error"] == ["model_overloaded", "busy"]
    await here.identical()


async def test_a_question_among_concurrent_calls_waits(lab: Make) -> None:
    async def hang(args: Any, scope: Scope) -> Any:
        await asyncio.sleep(60)

    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(visit.ask("q", "Which?"))
            group.create_task(visit.call("slow", {}))
        return answer.result()

    here = lab(Step("A", body))
    here.op("slow", READ, hang, "fine")
    assert (await here.start()).status is Status.WAITING
    await here.runs.answer(here.id, "this")
    assert (await here.resume()).data.lines == ["this"]
    await here.identical()


async def test_errors_keep_their_kind_hint_and_exit_code(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        try:
            await visit.call("act", {})
        except CallFailed as error:
            return [error.kind, str(error), error.hint, error.retryable, error.exit_code]

    here = lab(Step("A", body))
    here.op("act", READ, ToolError("no such file", hint="look for it"))
    state = await here.start()
    assert state.data.lines == [["tool", "no such file", "look for it", False, 1]]
    await here.identical()


async def test_an_operation_that_hangs_ends_with_its_deadline(lab: Make) -> None:
    async def hang(args: Any, scope: Scope) -> Any:
        await asyncio.sleep(60)

    here = lab(Step("A", calls("slow"), retry=NOW))
    here.op("slow", READ, hang, deadline_s=0.01)
    state = await here.start()
    assert (state.stop_reason, state.error) == ("error:timeout", "slow did not end within 0.01 s")


async def test_a_disk_that_is_full_while_a_once_operation_works_leaves_it_in_doubt(lab: Make) -> None:
    here = lab(Step("A", calls("send")))
    here.op("send", ONCE, StoreError("full"), reconcile=DONE)
    with pytest.raises(StoreError):
        await here.start()
    assert (await here.resume()).status is Status.COMPLETE
    assert here.names() == ["send", "look send"]


async def test_a_node_that_catches_everything_cannot_go_on_without_its_log(lab: Make) -> None:
    async def body(visit: Visit) -> None:
        for name in ("full", "send"):
            try:
                await visit.call(name, {})
            except Exception:
                continue

    here = lab(Step("A", body))
    here.op("full", READ, StoreError("full"))
    here.op("send", ONCE)
    with pytest.raises(StoreError, match="full"):
        await here.start()
    assert here.names() == ["full"]


async def test_large_arguments_and_results_are_artifacts(lab: Make) -> None:
    text = "x" * 5000

    async def body(visit: Visit) -> Any:
        return len((await visit.call("look", {"text": text}))["text"])

    here = lab(Step("A", body))
    here.op("look", READ, {"text": text})
    assert (await here.start()).data.lines == [5000]
    intent, outcome = here.events()[1:3]
    for named in (intent.data["args"], outcome.data["ok"]):
        assert json.loads(here.artifacts.get(named["artifact"])) == {"text": text}
        assert named["bytes"] == len(json.dumps({"text": text}))
    await here.identical()


async def test_a_small_result_that_looks_like_an_artifacts_name_is_just_a_result(lab: Make) -> None:
    shot = {"artifact": "0" * 64, "bytes": 3}
    here = lab(Step("A", calls("shoot")))
    here.op("shoot", READ, shot)
    assert (await here.start()).data.lines == [[shot]]
    await here.identical()


async def test_secrets_are_redacted_before_they_are_journaled_and_the_node_sees_what_a_replay_sees(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        result = await visit.call("look", {"password": "hunter22"})
        try:
            await visit.call("fail", {})
        except CallFailed as error:
            return [result, str(error), error.hint]

    here = lab(Step("A", body, "B"), Step("B", calls("crash"), retry=Retry(1)), redact=secretive)
    here.op("look", READ, {"hunter22": ["line\nhunter22"]})
    here.op("fail", READ, ToolError("not hunter22", hint="try hunter22"))
    here.op("crash", READ, RuntimeError("hunter22"))
    state = await here.start()
    masked = [{"[redacted]": ["line\n[redacted]"]}, "not [redacted]", "try [redacted]"]
    assert state.data.lines == [masked]
    assert here.did[0] == ("look", {"password": "hunter22"})  # the operation itself gets what it was given
    assert "hunter22" not in json.dumps([event.data for event in here.events()]) + str(state.error)
    for path in here.home.rglob("*"):
        assert not path.is_file() or b"hunter22" not in path.read_bytes()
    await here.identical()


@given(value=values)
def test_plain_data_is_what_json_gives_back_and_stays_so(value: Any) -> None:
    once = plain(value, secretive)
    assert json.loads(json.dumps(once).encode()) == once == plain(once, secretive)
    json.dumps(once, ensure_ascii=False).encode()  # can be stored


@given(text=st.text(alphabet=st.characters(codec=None, categories=None), max_size=20))
def test_half_a_surrogate_pair_does_not_break_what_follows(text: str) -> None:
    plain({text: [text]}, str)[text.encode("utf-8", "replace").decode()][0].encode()
    digest_of("op", plain(text, str))


def test_each_text_is_redacted_by_itself() -> None:
    import re

    def greedy(text: str) -> str:
        return re.sub("BEGIN.*", "[redacted]", text, flags=re.DOTALL)

    assert plain({"a": "BEGIN x", "b": 1}, greedy) == {"a": "[redacted]", "b": 1}


async def test_the_clock_is_journaled_and_answered_from_the_log(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        first = await visit.now()
        await visit.call("crash", {})
        return [first, await visit.now()]

    here = lab(Step("A", body))
    here.op("crash", READ, crash, "fine")
    with pytest.raises(Killed):
        await here.start()
    began = here.clock.now()
    here.clock.advance(100)
    assert (await here.resume()).data.lines == [[began, began + 100]]
    await here.identical()


async def test_an_operation_knows_its_call_for_servers_that_take_an_idempotency_key(lab: Make) -> None:
    scopes: list[Scope] = []

    async def note(args: Any, scope: Scope) -> Any:
        scopes.append(scope)
        if len(scopes) < 2:
            raise ModelOverloaded("busy")

    here = lab(Step("A", calls("send", "send"), retry=NOW))
    here.op("send", ONCE, note)
    await here.start(taps=5)
    first, again, second = scopes
    assert first.call_id == again.call_id != second.call_id
    assert first.child_id == again.child_id != second.child_id
    assert (first.run_id, first.limits) == (here.id, {"taps": 5})


async def test_other_arguments_are_another_call_with_another_child(lab: Make) -> None:
    scopes: list[Scope] = []
    attempts = iter([1, 2])

    async def note(args: Any, scope: Scope) -> Any:
        scopes.append(scope)
        if len(scopes) < 2:
            raise ModelOverloaded("busy")

    async def body(visit: Visit) -> Any:
        await visit.call("send", next(attempts))

    here = lab(Step("A", body, retry=NOW))
    here.op("send", ONCE, note)
    await here.start()
    assert scopes[0].call_id != scopes[1].call_id
    assert scopes[0].child_id != scopes[1].child_id


async def test_the_intent_of_a_once_call_reaches_the_disk_before_it_runs(lab: Make) -> None:
    here = lab(Step("A", calls("look", "send")))
    durable: list[tuple[str, bool]] = []
    append = here.store.append

    async def spy(run_id: Any, lease: Any, new: Any, *rest: Any, durable: bool = False) -> None:
        durable_calls.append((new[0].data.get("op", ""), durable))
        await append(run_id, lease, new, *rest, durable=durable)

    durable_calls = durable
    here.store.append = spy  # type: ignore[method-assign]
    here.op("look")
    here.op("send", ONCE)
    await here.start()
    assert durable == [("send", True)]
    assert here.store._patient.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
