"""An errand on real clocks: `frozen.py HOME TERM MOMENT` begins it, or resumes it, and prints how it ended.

Leases last TERM seconds. The process freezes itself (SIGSTOP) at its MOMENT-th append: after it where MOMENT is
positive, before it where it is negative, never where it is 0.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from pathlib import Path

import errand

from gateway.engine.ports import SystemClock
from gateway.errors import EchelonError


async def work(home: Path, term_s: float, freeze_at: int) -> str:
    appends = 0

    def hook(moment: str) -> None:
        nonlocal appends
        appends += moment == "before"
        if appends == abs(freeze_at) and moment == ("after" if freeze_at > 0 else "before"):
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this thread at once, the others after it

    store = errand.HookedStore(home / "echelon.db", hook, term_s=term_s)
    runs = errand.open_runs(home, store, SystemClock())
    rows = store.runs()
    try:
        if rows:
            state = await runs.resume(rows[0].id)
        else:
            where, diary = errand.Where(child=True), errand.Diary()
            row, owned = await runs.create("errand", where, diary, title="frozen", limits={}, pins={})
            state = await runs.drive(row, owned)
    except EchelonError as error:
        return f"{error.kind}: {error}"
    finally:
        store.close()
    return state.status.value


if __name__ == "__main__":
    print(asyncio.run(work(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))), flush=True)
