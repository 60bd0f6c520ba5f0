"""How a call is shown to a model: one line."""

from __future__ import annotations

from gateway.turn.patterns.cursor import Move


def call_label(move: Move) -> str:
    """For example `do the tests pass? NO: ANALYZE the errors, CALL file.edit — make the change (candidate 2 of 4)`."""
    tool = ", ".join(move.tools)
    if len(move.tools) > 1 or "*" in tool or "?" in tool:
        tool = f"any of {{{tool}}}"
    parts = [f"{move.question}: " if move.question else ""]
    if move.analyze is not None:
        parts.append(f"ANALYZE {move.analyze}, ".replace(" ,", ","))
    parts.append(f"{'RETRY' if move.retry else 'CALL'} {tool}")
    if move.purpose:
        parts.append(f" — {move.purpose}")
    if move.candidates > 1:
        parts.append(f" (candidate {move.candidate} of {move.candidates})")
    return "".join(parts)
