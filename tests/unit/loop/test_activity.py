"""What is told of a session's event logs: in the order of time, in words, with what goes on now."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.engine import events
from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.events import Event
from gateway.engine.identity import child_of
from gateway.engine.store import Signal
from gateway.loop.activity import KEPT, Logs, News, news
from gateway.loop.state import Change, Changes, CheckpointRecord, IterationRecord, Limits, LoopState

RUN = "01K0"
RESULTS = [
    {"name": "all_tests_pass", "met": True, "summary": "12 passed"},
    {"name": "linting_clean", "met": False, "summary": "3 findings"},
]


class Log:
    """An event log that is written by hand; each event a second after the last."""

    def __init__(self, run_id: str = RUN, at: float = 0.0) -> None:
        self.run_id = run_id
        self.events: list[Event] = []
        self._at = at

    def add(self, kind: str, **data: Any) -> Event:
        self._at += 1
        self.events.append(Event(len(self.events) + 1, kind, data, self._at))
        return self.events[-1]

    def begin(self, op: str, args: Any = None) -> Event:
        key = f"{len(self.events)}/{op}#1"
        return self.add(events.CALL_INTENDED, key=key, op=op, attempt=1, digest="d", effect="READ", args=args or {})

    def end(self, call: Event, **outcome: Any) -> Event:
        return self.add(events.CALL_ENDED, key=call.data["key"], op=call.data["op"], digest="d", ms=1, **outcome)

    def call(self, op: str, args: Any = None, **outcome: Any) -> None:
        self.end(self.begin(op, args), **outcome)


def child(call: Event) -> str:
    return child_of(RUN, f"{RUN}/{call.data['key']}/d")


def state(**more: Any) -> LoopState:
    return LoopState(exits=("all_tests_pass",), limits=Limits(), **more)


def record(number: int, run_id: str, began: float, ended: float, **more: Any) -> IterationRecord:
    told = {"outcome": "done", "summary": "mended"} | more
    return IterationRecord(number=number, run_id=run_id, began=began, ended=ended, **told)


def told(log: Log, at: LoopState | None = None, **below: Log) -> News:
    logs = Logs(RUN, log.events, {each.run_id: each.events for each in below.values()})
    return news(logs, at or state(), MemoryArtifacts())


def texts(found: News) -> list[str]:
    return [each.text for each in found.activity]


def test_an_iteration_is_told_from_its_beginning_to_its_end() -> None:
    log = Log()
    call = log.begin("loop.iterate")
    log.end(call, ok={})
    changes = Changes(changed=("a.py", "b.py"), restored=("tests/test_a.py",))
    found = told(log, state(iteration=1, iterations=(record(1, child(call), 0.5, 3.0, changes=changes),)))
    assert texts(found) == [
        "iteration 1 begins",
        "iteration 1 has ended · mended · changed a.py, b.py · put back tests/test_a.py",
    ]
    assert [each.iteration for each in found.activity] == [1, 1]


def test_an_agent_that_says_itself_what_it_changed_is_not_told_twice() -> None:
    log = Log()
    call = log.begin("loop.iterate")
    log.end(call, ok={})
    ended = record(1, child(call), 0.5, 3.0, changes=Changes(changed=("a.py",))).with_(summary="changed a.py")
    found = told(log, state(iteration=1, iterations=(ended,)))
    assert texts(found)[1] == "iteration 1 has ended · changed a.py"


def test_what_the_agent_does_is_told_with_its_arguments_and_how_it_went() -> None:
    log = Log()
    below = Log(child(log.begin("loop.iterate")), at=10)
    below.call("tool.file.read", {"path": "a.py"}, ok={"ok": True, "text": "…", "data": {}})
    below.call("tool.test.run", {}, ok={"ok": False, "text": "1 failed", "data": {}})
    below.call("tool.file.edit", {"path": "a.py"}, error=["tool", "no such text"])
    below.call("model.complete", {}, ok={"text": "…"})
    shown = {"shown": {"action": "tap", "coordinate": [1, 2]}, "target": 'button "Wi-Fi"'}
    below.call("device.act", shown, ok={"ok": True})
    assert texts(told(log, below=below))[1:] == [
        '✓ file.read {"path": "a.py"}',
        "✗ test.run",
        '✗ file.edit {"path": "a.py"}',
        '✓ tap button "Wi-Fi"',
    ]


def test_evaluations_warnings_and_failures_come_from_the_log() -> None:
    log = Log()
    log.call("loop.evaluate", {"exits": []}, ok={"cut": False, "results": RESULTS})
    log.call("loop.notify", {"kind": "warning", "text": "40 of 50 used", "iteration": 40, "data": {}}, ok={})
    log.call("loop.notify", {"kind": "end", "text": "over", "iteration": 40, "data": {}}, ok={})
    log.call("loop.checkpoint", {}, error=["checkpoint", "the disk is full"])
    log.add(events.NODE_DECIDED, node="Finish", status="stopped", stop_reason="budget:iterations")
    assert [(each.kind, each.text) for each in told(log).activity] == [
        ("evaluation", "conditions met: 1 of 2 · ✓ all_tests_pass, ✗ linting_clean (3 findings)"),
        ("warning", "40 of 50 used"),
        ("warning", "making a checkpoint failed: the disk is full"),
        ("session", "ended: the limit of iterations is reached"),
    ]


def test_an_evaluation_that_was_cut_off_is_no_result() -> None:
    log = Log()
    log.call("loop.evaluate", {}, ok={"cut": True, "results": []})
    assert texts(told(log)) == []


def test_large_results_are_read_from_their_artifact_and_a_lost_one_is_passed_over() -> None:
    artifacts = MemoryArtifacts()
    log = Log()
    kept = artifacts.put(json.dumps({"cut": False, "results": RESULTS}).encode())
    log.call("loop.evaluate", {}, ok={"artifact": kept, "bytes": 9000})
    logs = Logs(RUN, log.events, {})
    assert len(news(logs, state(), artifacts).activity) == 1
    log.call("loop.evaluate", {}, ok={"artifact": "0" * 64, "bytes": 9000})
    assert len(news(logs, state(), artifacts).activity) == 1


def test_checkpoints_and_orders_are_told_where_they_belong_in_time() -> None:
    log = Log()
    log.add(events.RUN_INTERRUPTED)  # at 1
    log.add(events.RUN_RESUMED, after="running")  # at 2
    made = CheckpointRecord(number=1, iteration=5, at=1.5, why="interval", sha256="x")
    found = told(log, state(checkpoints=(made,), changes=(Change(at=0.5, text="the limit is 200 now"),)))
    assert texts(found) == ["the limit is 200 now", "interrupted", "checkpoint 1 made (interval)", "gone on with"]


def test_what_goes_on_now_is_the_call_that_has_not_ended() -> None:
    log = Log()
    assert told(log).doing == ""
    log.call("loop.survey", {}, ok={})
    call = log.begin("loop.evaluate")
    evaluating = told(log)
    assert (evaluating.doing, evaluating.evaluating, evaluating.since) == (
        "evaluating the exit conditions",
        True,
        call.at,
    )
    log.end(call, ok={"cut": False, "results": []})
    log.add(events.NODE_DECIDED, node="EvaluateExits")
    assert told(log).doing == ""
    below = Log(child(log.begin("loop.iterate")))
    assert told(log, below=below).doing == "iteration 1: the agent works"
    below.begin("tool.file.read", {"path": "a.py"})
    assert told(log, below=below).doing == 'iteration 1: file.read {"path": "a.py"}'


def test_orders_that_are_not_heard_yet_are_said() -> None:
    signals = [
        Signal(1, "pause", {}, 1.0),
        Signal(2, "extend", {"iterations": 200, "time_s": 60.0}, 2.0),
        Signal(3, "exits", {"add": ["build_succeeds"], "remove": ["command:make lint"]}, 3.0),
        Signal(4, "from", {"checkpoint": 3, "restore_workspace": True}, 4.0),
    ]
    found = news(Logs(RUN, [], {}, signals), state(), MemoryArtifacts())
    assert found.asked == (
        "pause",
        "extend to 200 iterations, 60 s",
        "exit conditions: add build_succeeds, remove command:make lint",
        "go back to checkpoint 3",
    )


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(0, 1e6)), max_size=120))
def test_activity_is_in_the_order_of_time_and_bounded(times: list[tuple[float, float]]) -> None:
    records = tuple(record(n, f"R{n}", began, began + took) for n, (began, took) in enumerate(sorted(times), 1))
    found = told(Log(), state(iteration=len(records), iterations=records)).activity
    assert [each.at for each in found] == sorted(each.at for each in found)
    assert len(found) == min(KEPT, 2 * len(records))
