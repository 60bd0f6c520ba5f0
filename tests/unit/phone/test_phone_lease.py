"""A device belongs to one process at a time."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.engine.store import Store
from gateway.errors import DeviceBusy, LeaseLost
from gateway.phone.lease import device_lease, lease_name


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "echelon.db", term_s=0.6)
    yield opened
    opened.close()


async def test_a_device_that_is_used_is_busy_for_others(store: Store) -> None:
    async with device_lease(store, "S1") as lease:
        lease.verify()
        with pytest.raises(DeviceBusy, match=f"S1 is in use by process {os.getpid()}"):
            async with device_lease(store, "S1"):
                pass
        async with device_lease(store, "S2"):
            pass
    assert not store.held(lease_name("S1"), time.time())
    async with device_lease(store, "S1"):
        pass


async def test_a_lease_is_renewed_while_it_is_held(store: Store) -> None:
    async with device_lease(store, "S1") as lease:
        until = time.time() + 2 * store.term_s
        while time.time() < until:
            await asyncio.sleep(0.05)
            assert store.held(lease_name("S1"), time.time())
        lease.verify()


async def test_who_lost_the_device_is_told_before_the_next_act(store: Store) -> None:
    async with device_lease(store, "S1") as lease:
        await store.write(lambda db: db.execute("UPDATE leases SET epoch = epoch + 1"))
        with pytest.raises(LeaseLost):
            lease.verify()


async def test_a_process_that_was_killed_has_no_device(store: Store) -> None:
    code = (
        "import asyncio, sys, os\nfrom pathlib import Path\nfrom gateway.engine.store import Store\n"
        "from gateway.phone.lease import device_lease\n"
        "async def main():\n"
        "    async with device_lease(Store(Path(sys.argv[1]), term_s=600), 'S1'):\n"
        "        os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(store.path))
    assert await process.wait() == -9
    async with device_lease(store, "S1") as lease:
        lease.verify()
