"""Identifiers: ULIDs, so that they sort by time. A child's is derived from its parent's call, to be found again."""

from __future__ import annotations

import hashlib


def child_of(run_id: str, call_id: str) -> str:
    """The run id reserved for a child call: the parent's timestamp, then 80 bits of a digest of the call's id."""
    from ulid import ULID

    digest = hashlib.sha256(call_id.encode()).digest()
    try:
        moment = ULID.from_str(run_id).bytes[:6]
    except ValueError:
        moment = bytes(6)
    return str(ULID.from_bytes(moment + digest[:10]))
