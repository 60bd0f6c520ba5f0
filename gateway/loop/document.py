"""`session.md`: a projection of a session. Rendered from its state after every node, never parsed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.graph_type import Projection
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.fence import code, fenced, line
from gateway.loop import folder_of
from gateway.loop.activity import why_ended
from gateway.loop.progress import fight_in_words, fighting
from gateway.loop.session import shown_status
from gateway.loop.state import ConditionResult, IterationRecord, LoopContext, LoopState

FINDINGS = 10  # of each condition in the document; its file has more
NAMED = 5  # files that a row names


def project(home: Path, row: RunRow, context: LoopContext, state: RunState, artifacts: ArtifactStore) -> Projection:
    """The files of a session: `session.md`, and `evaluations/NNNN.json`, each evaluation whole, by its iteration; the
    second after the same iteration, which a session that went back to a checkpoint has, is `NNNN-2.json`."""
    data = state.data
    assert isinstance(data, LoopState)
    kept, times = {}, Counter[int]()
    for each in data.evidence:
        times[each.iteration] += 1
        again = f"-{times[each.iteration]}" if times[each.iteration] > 1 else ""
        kept[f"evaluations/{each.iteration:04d}{again}.json"] = each.sha256
    return Projection(folder_of(home, row.id), {"session.md": render(row, context, state)}, kept)


def render(row: RunRow, context: LoopContext, state: RunState) -> str:
    """The whole document."""
    data = state.data
    assert isinstance(data, LoopState)
    blocks = [_front_matter(row, context, state), "# Autonomous session", "## Task", fenced(context.task)]
    blocks += ["## Exit conditions", *_conditions(data)]
    if data.iterations:
        blocks += ["## Iterations", *_earlier(data.iterations), _iterations(data.iterations)]
    if data.checkpoints:
        blocks += ["## Checkpoints", _checkpoints(data)]
    if fighting(data):
        blocks += ["## Conditions that fight", _list(line(fight_in_words(each)) for each in fighting(data))]
    if data.changes:
        blocks += ["## Changed while it ran", _list(f"{_time(each.at)} {line(each.text)}" for each in data.changes)]
    if data.troubles:
        blocks += ["## Troubles", _list(line(each) for each in data.troubles)]
    if state.status is Status.WAITING and state.waiting is not None:
        blocks.append(f"**Waiting for an answer:** {line(state.waiting.question)}")
    if data.ending or data.error or state.error:
        blocks += ["## End", *_end(data, state)]
    whole = "\n\n".join(blocks) + "\n"
    return whole.replace("\r\n", "\n").replace("\r", "\n")  # to Markdown they are all ends of lines


def _front_matter(row: RunRow, context: LoopContext, state: RunState) -> str:
    data = state.data
    assert isinstance(data, LoopState)
    limits = {name: value for name, value in data.limits.model_dump().items() if value is not None}
    facts = {  # JSON, which YAML contains
        "session": row.id,
        "agent": context.name,
        "works_with": context.options.agent,
        "workspace": context.workspace,
        "status": shown_status(context.run_id, state),
        "stop_reason": state.stop_reason,
        "iteration": data.iteration,
        "limits": limits,
        "used": {name: round(value, 6) for name, value in sorted(data.used.items())},
        "started": _time(data.started) if data.started else None,
        "ended": _time(data.ended) if data.ended else None,
    }
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in facts.items())
    return f"---\n{''.join(lines)}---"


def _conditions(data: LoopState) -> Iterator[str]:
    evaluation = data.evaluation
    if evaluation is None:
        yield _list(f"{code(line(name))}: not yet evaluated" for name in data.exits) or "None."
        return
    yield f"After iteration {evaluation.iteration}, {_time(evaluation.at)}: {evaluation.met} of {len(data.exits)} met."
    found = {name: evaluation.of(name) for name in data.exits}
    rows = [_condition(name, result) for name, result in found.items()]
    yield _table(("condition", "state", "what was found", "command"), rows)
    for name, result in found.items():
        if result is not None and not result.met and result.findings:
            more = result.total - min(len(result.findings), FINDINGS)
            shown = [_finding(each.where, each.code, each.message) for each in result.findings[:FINDINGS]]
            yield f"### {code(line(name))}\n\n{fenced(chr(10).join(shown))}" + (f"\n\n{more} more." if more > 0 else "")


def _condition(name: str, result: ConditionResult | None) -> tuple[str, ...]:
    if result is None:
        return (code(line(name)), "not yet evaluated", "", "")
    command = code(line(result.command)) if result.command else ""
    return (code(line(name)), "met" if result.met else "not met", line(result.problem or result.summary), command)


def _finding(where: str, rule: str, message: str) -> str:
    return f"{where}{f' {rule}' if rule else ''}: {message}"


def _earlier(records: Sequence[IterationRecord]) -> Iterator[str]:
    if records[0].number > 1:
        yield f"Those before {records[0].number} are in the event log."


def _iterations(records: Sequence[IterationRecord]) -> str:
    rows = [
        (
            str(each.number),
            _time(each.began),
            f"{each.ended - each.began:.0f} s",
            each.outcome,
            _files(each.changes.all, each.changes.beyond()),
            _notes(each),
            code(each.run_id),
        )
        for each in records
    ]
    return _table(("iteration", "began", "took", "outcome", "changed", "what was said", "run"), rows)


def _notes(record: IterationRecord) -> str:
    notes = [line(record.summary)]
    if record.changes.tests:
        notes.append(f"changed what judges it: {_files(record.changes.tests, record.changes.beyond('tests'))}")
    if record.changes.restored:
        notes.append(f"put back: {_files(record.changes.restored, record.changes.beyond('restored'))}")
    return "; ".join(filter(None, notes))


def _checkpoints(data: LoopState) -> str:
    rows = [
        (str(each.number), str(each.iteration), _time(each.at), each.why, code(each.ref) if each.ref else "–")
        for each in data.checkpoints
    ]
    return _table(("checkpoint", "iteration", "at", "why", "git ref"), rows)


def _end(data: LoopState, state: RunState) -> Iterator[str]:
    if data.ending:
        yield f"Ended after iteration {data.iteration}: {why_ended(data.ending)}."
    for said in filter(None, (data.error or state.error, data.hint)):
        yield fenced(said)


def _files(names: Sequence[str], unnamed: int) -> str:
    rest = max(0, len(names) - NAMED) + unnamed
    more = f" and {rest} more" if rest else ""
    return ", ".join(code(line(name)) for name in names[:NAMED]) + more if names else "–"


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)


def _list(items: Iterator[str]) -> str:
    return "\n".join(f"- {each}" for each in items)


def _time(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
