"""What tests of autonomous sessions share: a small project with six things to mend, agents for it, a gateway."""

from __future__ import annotations

import asyncio
import shutil
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from gateway import Gateway, Settings
from gateway.engine.ports import Clock
from gateway.loop.state import ConditionSetting, LoopOptions

PROJECT = Path(__file__).parents[3] / "evals" / "projects" / "stock"
THINGS = 6  # three failing tests, two findings of the linter, one of the security scan
ALL = ("all_tests_pass", "linting_clean", "security_scan_clean")

MEND = """#!/bin/sh
# Mends the first thing that is wrong, one a call.
cat > /dev/null
mend() { if grep -q "$2" "$1"; then sed -i "s/$2/$3/" "$1"; echo "mended $1"; exit 0; fi; }
mend stock/prices.py 'price + quantity' 'price * quantity'
mend stock/prices.py 'return price - percent' 'return price - price * percent \\/\\/ 100'
mend stock/labels.py '{name} {size}' '{name.upper()} {size}'
mend stock/prices.py '^import os$' ''
mend stock/labels.py '^import json$' ''
mend stock/counting.py 'hashlib.md5' 'hashlib.sha256'
"""


def project(place: Path) -> Path:
    """The project, in a folder of its own."""
    import quick_pytest  # not on the path of the processes that import this module, too

    copied = Path(shutil.copytree(PROJECT, place, ignore=shutil.ignore_patterns("__pycache__")))
    with (copied / "pyproject.toml").open("a") as file:
        file.write(quick_pytest.TOML)
    return copied


def script(place: Path, text: str) -> str:
    """An agent that is a shell script; its name as `--agent` takes it."""
    place.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return f"command:{place}"


def options(agent: str, **more: object) -> LoopOptions:
    return LoopOptions(agent=agent).with_(**more)


def fake(*commands: tuple[str, str]) -> dict[str, ConditionSetting]:
    """Conditions that are judged by a command each, in no time."""
    return {name: ConditionSetting(command=command, timeout_s=30.0) for name, command in commands}


def exists(name: str) -> str:
    """A command that succeeds once the file is there."""
    return f"test -e {name}"


@asynccontextmanager
async def gateway_in(
    home: Path, workspace: Path, *, clock: Clock | None = None, **more: object
) -> AsyncIterator[Gateway]:
    settings = Settings.load({"workspace": workspace, **more}, environ={"ECHELON_HOME": str(home)}, cwd=home.parent)
    async with Gateway(settings, clock=clock) as gateway:
        yield gateway


async def until(true: Callable[[], object], *, patience_s: float = 60.0) -> None:
    """Wait for a condition; the test fails where it does not come."""
    async with asyncio.timeout(patience_s):
        while not true():  # noqa: ASYNC110  what is waited for happens elsewhere
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended, and that nobody has asked for yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def counting(*then: str) -> str:
    """A script that counts its calls in `calls`, and then does something."""
    return "\n".join(["cat > /dev/null", "echo x >> calls", *then])


def calls(workspace: Path) -> int:
    path = workspace / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0
