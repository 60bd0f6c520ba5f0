"""`dumpsys battery`: full, at a cable."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    return """Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Dock powered: false
  Max charging current: 500000
  Max charging voltage: 5000000
  Charge counter: 4000000
  status: 5
  health: 2
  present: true
  level: 100
  scale: 100
  voltage: 4380
  temperature: 250
  technology: Li-ion
  Charging state: 0
  Charging policy: 0
  Capacity level: -1"""
