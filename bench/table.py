"""A table of what was measured beside what was aimed at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One row. `goal` is empty where a number is only for comparison."""

    what: str
    measured: str
    goal: str = ""
    met: bool = True


def show(title: str, lines: Sequence[Line]) -> None:
    """Print the table, with the machine's load: a number that was measured under load is worth less."""
    what = max(len(each) for each in (title, *(line.what for line in lines)))
    measured = max(len("measured"), *(len(line.measured) for line in lines))
    print(f"\n{title:<{what}}  {'measured':<{measured}}  goal")
    for line in lines:
        row = f"{line.what:<{what}}  {line.measured:<{measured}}  {line.goal}{'' if line.met else '   MISSED'}"
        print(row.rstrip())
    print(f"load average {' '.join(f'{load:.2f}' for load in os.getloadavg())}, {os.cpu_count()} cores", flush=True)
