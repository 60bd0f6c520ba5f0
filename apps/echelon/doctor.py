"""`echelon doctor`: what Echelon needs, whether it is there, and what to do where it is not."""

from __future__ import annotations

from pathlib import Path

import click

from echelon import options
from echelon.terminal import harmless, put, put_json

MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


@click.command(
    epilog="""\b
Examples:
  echelon doctor
  echelon doctor --json
  echelon doctor --model openai/NAME --api-base http://127.0.0.1:8000/v1

\b
Exit codes: 0 nothing failed, 2 the configuration, 5 the model, 1 anything else.
"""
)
@options.as_json
@options.model_option
@options.api_base_option
@options.config_option
@options.verbose
def doctor(model_name: str | None, api_base: str | None, config_file: Path | None, as_json: bool) -> int:
    """Check the configuration, the model, the database, the disk and what tools need; say what to do about each."""
    from echelon.checks import every_check
    from echelon.output.check import CheckRow

    found, code = [], 0
    for check in every_check({"model": model_name, "api_base": api_base}, config_file):
        found.append(check)
        code = code or (check.exit_code if check.status == "fail" else 0)
        if not as_json:
            put(f"{MARKS[check.status]}  {check.name:<14} {harmless(check.detail)}")
            if check.advice:
                put(f"{'':<21}→ {check.advice}")
    if as_json:
        put_json(
            [CheckRow(name=each.name, status=each.status, detail=each.detail, advice=each.advice) for each in found]
        )
    return code
