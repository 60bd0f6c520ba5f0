"""The checkpoints of a session: a list of them, and one to look into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from echelon.output.loop import CheckpointRow, CheckpointShown
from echelon.terminal import ago, put, put_json, put_table, say

if TYPE_CHECKING:
    from gateway.loop.checkpoints import Checkpoints
    from gateway.loop.session import Session

STATES = {True: "met", False: "not met", None: "not evaluated"}


def put_list(kept: Checkpoints, run_id: str, *, as_json: bool) -> None:
    """All that are on disk, the damaged ones too."""
    found = [CheckpointRow(**each.model_dump(include=set(CheckpointRow.model_fields))) for each in kept.all()]
    if as_json:
        put_json(found)
        return
    put_table(
        ["checkpoint", "iteration", "at", "why", "met", "damaged"],
        [
            [str(each.number), *([""] * 4), each.damaged]
            if each.damaged
            else [str(each.number), str(each.iteration), ago(each.at), each.why, f"{each.met}/{each.of}", ""]
            for each in found
        ],
    )
    if found:
        say(f"look into one with: echelon loop checkpoints {run_id} K")


def put_one(kept: Checkpoints, session: Session, number: int, *, as_json: bool) -> None:
    """One that is whole. Raises CheckpointDamaged."""
    document = kept.load(number)
    shown = CheckpointShown(
        **document.model_dump(include={"session", "agent", "number", "iteration", "at", "why", "conditions"}),
        commit=document.commit or None,
        ref=document.ref or None,
        file=str(session.folder / f"checkpoints/{number:04d}.json"),
    )
    if as_json:
        put_json(shown)
        return
    facts = {
        "checkpoint": f"{number} of session {shown.session}",
        "agent": shown.agent,
        "iteration": str(shown.iteration),
        "made": f"{ago(shown.at)} ({shown.why})",
        "conditions": ", ".join(f"{name} {STATES[met]}" for name, met in shown.conditions.items()) or "none",
        "git": f"{shown.ref} {shown.commit}" if shown.commit else "",
        "file": shown.file,
    }
    put("\n".join(f"{name:<10} {value}" for name, value in facts.items() if value))
    if shown.commit:
        say(f"what has changed since: git -C {session.workspace} diff {shown.commit[:12]}")
    if session.status != "completed":  # which is for good
        say(f"go back to it with: echelon loop resume {shown.session} --from {number} [--restore-workspace]")
