"""A look is taken in the cheapest way that the device has."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from fake_adb import Answer, FakeAdb, Stream, prints

from gateway.phone.adb import AdbServer
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link
from gateway.phone.looks import Looks

SHELL = "shell,v2,raw:"
SLOW, QUICK = 0.2, 0.0


def after(seconds: float, out: bytes) -> Answer:
    def answer(stream: Stream) -> None:
        stream.wait(seconds)
        prints(out)(stream)

    return answer


@pytest.fixture
def phone() -> Iterator[FakeAdb]:
    serving = FakeAdb({"host-serial:S1:features": "shell_v2"})
    yield serving
    serving.close()


def looks(phone: FakeAdb, *, digest: float | None, picture: float, dump: float | None) -> Looks:
    """Each way takes so long; None: it does not work."""
    said = b"0123456789abcdef0123456789abcdef  -\n" if digest is not None else b"md5sum: not found\n"
    listed = b"<hierarchy></hierarchy>" if dump is not None else b"ERROR: could not get idle state.\n"
    phone.answers[f"{SHELL}screencap | md5sum"] = after(digest or 0, said)
    phone.answers[f"{SHELL}dump"] = after(dump or 0, listed)

    def screenshot(until: Deadline) -> bytes:
        time.sleep(picture)
        return b"PNG"

    return Looks(Calls(Link(AdbServer(phone.address), "S1"), retry_delay=0.01), screenshot, "dump")


@pytest.mark.parametrize(
    ("digest", "picture", "dump", "asked"),
    [
        (QUICK, SLOW, SLOW, f"{SHELL}screencap | md5sum"),
        (SLOW, SLOW, QUICK, f"{SHELL}dump"),
        (None, SLOW, 1.5 * SLOW, ""),
        (SLOW, QUICK, None, ""),
        (SLOW, 2 * SLOW, None, f"{SHELL}screencap | md5sum"),
    ],
)
def test_the_cheapest_way_is_taken(
    phone: FakeAdb, digest: float | None, picture: float, dump: float | None, asked: str
) -> None:
    taken = looks(phone, digest=digest, picture=picture, dump=dump)
    first = taken.look(Deadline(10))
    phone.asked.clear()
    assert taken.look(Deadline(10)) == first
    assert [each for each in phone.asked if each.startswith("shell")] == ([asked] if asked else [])


def test_a_list_that_cannot_be_had_equals_no_other(phone: FakeAdb) -> None:
    taken = looks(phone, digest=SLOW, picture=SLOW, dump=QUICK)
    first = taken.look(Deadline(10))
    phone.answers[f"{SHELL}dump"] = prints(b"ERROR: could not get idle state.\n")
    other = taken.look(Deadline(10))
    assert len({first, other, taken.look(Deadline(10))}) == 3


def test_a_phone_that_prints_no_pixels_is_not_at_rest(phone: FakeAdb) -> None:
    taken = looks(phone, digest=QUICK, picture=SLOW, dump=SLOW)
    taken.look(Deadline(10))
    phone.answers[f"{SHELL}screencap | md5sum"] = prints(b"d41d8cd98f00b204e9800998ecf8427e  -\n")
    assert taken.look(Deadline(10)) != taken.look(Deadline(10))
