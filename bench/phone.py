"""What the bridge adds to raw adb, on a simulated phone in a process of its own: each call against the same round trip
on a bare socket, one after the other in one run; an observation against the slower of its two halves; memory.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.crowd import resident_mb
from bench.table import Line, show
from gateway.phone import actions, devices
from gateway.phone.adb import AdbServer, program
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.elements import elements_of
from gateway.phone.hierarchy import parse
from gateway.phone.link import Link
from gateway.phone.state_id import state_id

ROUNDS, OBSERVATIONS = 40, 1000
GOAL, MEMORY_MB = 1.3, 30
PROPERTY = "getprop ro.build.version.release"
DUMP = "rm -f {0}; uiautomator dump {0}; cat {0}; rm -f {0}".format("/data/local/tmp/bench.xml")


class RawAdb:
    """A device's shell over a bare socket, as adb's documentation of its protocol has it: nothing is checked."""

    def __init__(self, port: int, serial: str) -> None:
        self._port = port
        self._serial = serial

    def shell(self, line: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self._port)) as connection:
            for service in (f"host:transport:{self._serial}", f"shell,v2,raw:{line}"):
                connection.sendall(f"{len(service.encode()):04x}{service}".encode())
                assert connection.recv(4) == b"OKAY"
            data = bytearray()
            while chunk := connection.recv(1 << 18):
                data += chunk
        out, at = bytearray(), 0
        while at < len(data):
            kind, length = struct.unpack_from("<BI", data, at)
            if kind == 1:
                out += data[at + 5 : at + 5 + length]
            at += 5 + length
        return bytes(out)


@contextmanager
def own_server() -> Iterator[AdbServer]:
    """An adb server for this run alone."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [program(), "-P", str(port), "nodaemon", "server"],
            env=os.environ | {"HOME": home},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server = AdbServer(f"127.0.0.1:{port}", start=False)
            _wait_for(server)
            yield server
        finally:
            process.terminate()
            process.wait()


def _wait_for(server: AdbServer) -> None:
    from gateway.errors import AdbMissing

    until = Deadline(20)
    while True:
        try:
            server.version(until)
            return
        except AdbMissing:
            until.pause(0.1)


@contextmanager
def simulated() -> Iterator[str]:
    """The serial of a phone in another process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.phone", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def serve() -> None:
    """Be that phone, until standard input ends."""
    from simphone.background import PhoneThread
    from simphone.phone import PhoneOptions

    with tempfile.TemporaryDirectory() as folder, PhoneThread(PhoneOptions(folder=Path(folder))) as phone:
        print(phone.serial, flush=True)
        sys.stdin.read()


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def compared(name: str, raw: Callable[[], object], ours: Callable[[], object], rounds: int) -> list[Line]:
    """The two in turns; the median of the ratios, so that a machine that slows down slows both."""
    raw(), ours()
    pairs = [(timed(raw), timed(ours)) for _ in range(rounds)]
    ratio = median(one / other for other, one in pairs)
    return [
        Line(f"{name}, raw", f"{median(each for each, _ in pairs):.1f} ms"),
        Line(
            f"{name}, bridge",
            f"{median(each for _, each in pairs):.1f} ms, {ratio:.2f} ×",
            f"≤ {GOAL} ×",
            ratio <= GOAL,
        ),
    ]


def measure(rounds: int = ROUNDS, observations: int = OBSERVATIONS) -> list[Line]:
    with own_server() as server, simulated() as serial:
        devices.connect(server, serial, Deadline(60))
        raw = RawAdb(server.port, serial)
        with Bridge(Link(server, serial)) as bridge:
            tap = actions.Tap(coordinate=(0.5, 0.02))  # on the status bar, which does nothing
            bridge.start_app("Settings")
            bridge.settle()
            lines = [
                *compared("a call", lambda: raw.shell(PROPERTY), bridge.round_trip_ms, rounds),
                *compared("tap", lambda: raw.shell("input tap 540 48"), lambda: bridge.perform(tap), rounds),
                *compared("screenshot", lambda: raw.shell("screencap -p"), bridge.screenshot, rounds),
                *compared("hierarchy", lambda: raw.shell(DUMP), bridge.hierarchy, rounds),
                *_observe(raw, bridge, rounds),
            ]
            before = resident_mb()
            took = [timed(bridge.observe) for _ in range(observations)]
            more = resident_mb() - before
        lines.append(
            Line(
                f"memory that {observations} observations take",
                f"{more:.1f} MB",
                f"≤ {MEMORY_MB} MB",
                more <= MEMORY_MB,
            )
        )
        lines.append(
            Line(
                "observe, median and 95 of 100", f"{median(took):.0f} ms, {sorted(took)[int(0.95 * len(took))]:.0f} ms"
            )
        )
        return lines


def _observe(raw: RawAdb, bridge: Bridge, rounds: int) -> list[Line]:
    """An observation against the slower of its halves, and what reading the hierarchy takes."""
    xml = raw.shell(DUMP)
    ratios, both, slower = [], [], []
    for _ in range(rounds):
        picture, dump = timed(lambda: raw.shell("screencap -p")), timed(lambda: raw.shell(DUMP))
        reading = timed(lambda: state_id(elements_of(parse(xml), (1080, 2400))))
        both.append(timed(bridge.observe))
        slower.append(max(picture, dump) + reading)
        ratios.append(both[-1] / slower[-1])
    ratio = median(ratios)
    return [
        Line("the slower of screenshot and dump, and reading it", f"{median(slower):.1f} ms"),
        Line("observe", f"{median(both):.1f} ms, {ratio:.2f} ×", f"≤ {GOAL} ×", ratio <= GOAL),
    ]


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        show("The bridge to a phone", measure(*map(int, sys.argv[1:])))
