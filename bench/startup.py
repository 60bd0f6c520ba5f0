"""What starting costs: the command line's help against importing click and rich, and what `import gateway` loads."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.table import Line, show

HEAVY = ("litellm", "adbutils", "PIL")


def run(command: Sequence[str]) -> tuple[float, float]:
    """CPU and wall seconds of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


def measure(rounds: int = 15) -> list[Line]:
    help_ = [str(Path(sys.executable).with_name("echelon")), "--help"]
    bare = [sys.executable, "-c", "import click, rich"]
    run(help_), run(bare)
    pairs = [(run(help_), run(bare)) for _ in range(rounds)]
    cpu = median(ours[0] / theirs[0] for ours, theirs in pairs)
    wall = median(ours[1] / theirs[1] for ours, theirs in pairs)
    loaded = f"import gateway, sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", loaded], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return [
        Line("python -c 'import click, rich'", f"{median(theirs[1] for _, theirs in pairs) * 1000:.0f} ms"),
        Line("echelon --help", f"{median(ours[1] for ours, _ in pairs) * 1000:.0f} ms"),
        Line("… against the former", f"{wall:.2f} × (CPU {cpu:.2f} ×)", "≤ 2.5 ×", wall <= 2.5),
        Line("of litellm, adbutils and Pillow, `import gateway` loads", found or "none", "none", not found),
    ]


if __name__ == "__main__":
    show("Starting", measure())
