"""The adb server: found, started where there is none, and asked. It is never ended, also where its version is another:
only its socket protocol is spoken, for an adb program would restart it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.errors import AdbMissing, AdbTooOld, ConfigError, DeviceError, DeviceTimeout
from gateway.phone import trouble
from gateway.phone.deadline import Deadline

if TYPE_CHECKING:
    from gateway.phone.connection import Connection

DEFAULT = "localhost:5037"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
OLDEST = 36  # the third number of `adb version`: platform tools 24, 2016, as old as the shell's second protocol
HANGS = "it may hang: see whether `adb devices` answers, else end it (adb kill-server); it is started again"
START_S = 10.0
POLL_S = 0.05
_started: list[subprocess.Popen[bytes]] = []  # they go on after us; kept, so that nobody warns of them


class AdbServer:
    """One adb server, by its `address` host:port. Methods raise the errors of `gateway.phone.trouble`, AdbMissing and
    AdbTooOld, and end at their deadline. Threads may share it. Without `start` one that is not there is missed."""

    def __init__(self, address: str = DEFAULT, *, start: bool = True) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise ConfigError(f"device.adb_server: expected host:port, not {address!r}", hint=f"such as {DEFAULT}")
        self.host = host.strip("[]")
        self.port = int(port)
        self._start_it = start
        self._version: int | None = None
        self._starting = threading.Lock()

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def version(self, deadline: Deadline) -> int:
        """41 for 1.0.41."""
        said = self._ask(self._connect(deadline), "host:version", "")
        try:
            return int(said, 16)
        except ValueError as error:
            raise self._stranger() from error

    def devices(self, deadline: Deadline) -> str:
        """As `adb devices -l` prints them, without the headline."""
        return self.request("host:devices-l", deadline)

    def state(self, serial: str, deadline: Deadline) -> str:
        """Adb's word for it, `device` where it can be used. Raises NoDevice, DeviceUnauthorized and the like."""
        return self.request(f"host-serial:{serial}:get-state", deadline, serial)

    def features(self, serial: str, deadline: Deadline) -> frozenset[str]:
        """What device and server both can, such as shell_v2."""
        return frozenset(self.request(f"host-serial:{serial}:features", deadline, serial).split(","))

    def connect(self, address: str, deadline: Deadline) -> str:
        """What the server says to it, also where it failed: `devices.connect` reads that."""
        return self.request(f"host:connect:{address}", deadline, address)

    def disconnect(self, address: str, deadline: Deadline) -> None:
        """Nothing is wrong where it was not connected."""
        with suppress(DeviceError):
            self.request(f"host:disconnect:{address}", deadline, address)

    def request(self, service: str, deadline: Deadline, serial: str = "") -> str:
        """Ask for a service that answers with one text."""
        return self._ask(self.open(deadline), service, serial)

    def open(self, deadline: Deadline) -> Connection:
        """A connection to the server, which is started where there is none. Its reads end at the deadline; whoever
        opens it closes it."""
        if self._version is None:
            self._version = self.version(deadline)
            if self._version < OLDEST:
                raise AdbTooOld(
                    f"the adb server at {self.address} is of version 1.0.{self._version}: too old",
                    hint="install a newer adb (platform tools), then end the old server: adb kill-server",
                )
        return self._connect(deadline)

    def _ask(self, connection: Connection, service: str, serial: str) -> str:
        from adbutils import AdbError  # type: ignore[import-untyped]

        try:
            connection.send_command(service)
            connection.check_okay()
            return str(connection.read_string_block())
        except AdbError as error:
            if "Unknown data" in str(error):
                raise self._stranger() from error
            raise trouble.from_server(str(error), serial) from error
        except ValueError as error:
            raise self._stranger() from error
        except (OSError, EOFError) as error:
            if serial:
                raise trouble.lost(serial, error) from error
            problem = trouble.lost(f"the adb server at {self.address}", error)
            problem.hint = HANGS
            raise problem from error
        finally:
            connection.close()

    def _stranger(self) -> DeviceError:
        return AdbMissing(
            f"what listens at {self.address} is no adb server", hint="set device.adb_server to where one listens"
        )

    def _connect(self, deadline: Deadline) -> Connection:
        from gateway.phone.connection import Connection

        with self._explained():
            with suppress(ConnectionRefusedError):
                return Connection(self.host, self.port, deadline)
            self._start(deadline)
            return Connection(self.host, self.port, deadline)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise DeviceTimeout(f"the adb server at {self.address}: {error}", performed=False, hint=HANGS) from error
        except OSError as error:
            hint = "set device.adb_server, or start one there"
            raise AdbMissing(f"no adb server answers at {self.address}: {error}", hint=hint) from error

    def _start(self, deadline: Deadline) -> None:
        """Start a server of our own adb; the one of another process that starts one meanwhile is used instead."""
        from filelock import FileLock, Timeout

        from gateway.phone.connection import Connection

        if self.host not in LOOPBACK or not self._start_it:
            hint = "start it there: adb -a nodaemon server" if self._start_it else "it is started when it is needed"
            raise AdbMissing(f"no adb server answers at {self.address}", hint=hint)
        adb = program()
        lock = Path(tempfile.gettempdir()) / f"echelon-adb-{os.getuid()}-{self.port}.lock"
        until = deadline.within(START_S)
        self._version = None
        with self._starting:
            try:
                with FileLock(lock, timeout=until.left()):
                    process: subprocess.Popen[bytes] | None = None
                    while True:
                        with suppress(ConnectionRefusedError):
                            Connection(self.host, self.port, until).close()
                            return
                        if process is None:
                            process = _spawn(adb, self.port)
                        elif process.poll() is not None:
                            raise AdbMissing(
                                f"{adb} ended with {process.returncode} instead of serving at {self.address}",
                                hint=f"see what it says: {adb} -P {self.port} nodaemon server",
                            )
                        until.pause(POLL_S)
            except Timeout as error:
                raise until.over() from error


def _spawn(adb: str, port: int) -> subprocess.Popen[bytes]:
    """A server in the foreground of a session of its own: where the port is taken it ends, instead of ending the one
    that has it, as `start-server` would."""
    try:
        process = subprocess.Popen(
            [adb, "-P", str(port), "nodaemon", "server"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise AdbMissing(f"{adb} cannot be started: {error.strerror}", hint="install it again") from error
    _started.append(process)
    return process


def program() -> str:
    """The adb on the PATH, else the one that adbutils brings along. Raises AdbMissing."""
    from adbutils import AdbError, adb_path

    try:
        return str(adb_path())
    except AdbError as error:
        raise AdbMissing(
            "no adb program is found, and no adb server runs", hint="install it: apt-get install adb"
        ) from error
