"""`mai-phone`: what `echelon phone` is, as a command of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from echelon.cli import start


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    from echelon.phone import phone

    sys.exit(start(arguments, phone, "mai-phone"))
