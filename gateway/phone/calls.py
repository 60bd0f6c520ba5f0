"""How the bridge calls a device: what only reads is tried again, an act never is; one at a time on each device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from gateway.errors import DeviceError, DeviceLost, DeviceOffline, DeviceTimeout, NoDevice
from gateway.phone import devices, trouble
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link, Output

T = TypeVar("T")
MAX_RETRIES, RETRY_DELAY_S = 2, 0.5  # contracts: 2 ×, after 0.5 and 1 s
LOOK = "it may have happened all the same: look at the screen before it is done again"
GONE = (DeviceLost, DeviceOffline, NoDevice)  # of a device that was there

_locks: dict[tuple[str, str], threading.RLock] = {}
_locks_lock = threading.Lock()


class Calls:
    """The calls of one device. All objects for it share one lock in this process: two lists of its screen would be
    written to the same file, and two hands would mix their taps."""

    def __init__(self, link: Link, *, max_retries: int = MAX_RETRIES, retry_delay: float = RETRY_DELAY_S) -> None:
        self.link = link
        self.max_retries = max_retries
        self.retry_delay = retry_delay
        with _locks_lock:
            self._lock = _locks.setdefault((link.server.address, link.serial), threading.RLock())
        self._returning = threading.Lock()

    @property
    def serial(self) -> str:
        return self.link.serial

    @contextmanager
    def alone(self, deadline: Deadline) -> Iterator[None]:
        """The device for this thread alone. Raises DeviceTimeout where others have it until the deadline."""
        if not self._lock.acquire(timeout=deadline.left()):
            raise DeviceTimeout(
                f"{deadline.what}: {self.serial} was busy with other calls for {deadline.seconds:g} s", performed=False
            )
        try:
            yield
        finally:
            self._lock.release()

    def read(self, work: Callable[[Deadline], T], deadline: Deadline) -> T:
        """What `work` gives, which changes nothing on the device and may be done again: where its error is retryable,
        after 0.5 and 1 s, each time with a share of the deadline. A lost device is brought back first."""
        for attempt in range(self.max_retries + 1):
            try:
                return work(deadline.within(deadline.left() / (self.max_retries + 1 - attempt)))
            except DeviceError as error:
                error.performed = False  # there was nothing to perform
                if not (error.retryable or isinstance(error, GONE)):
                    raise
                pause = self.retry_delay * 2**attempt
                if attempt == self.max_retries or deadline.remaining <= pause:
                    raise
                deadline.pause(pause)
                if isinstance(error, GONE):
                    self.bring_back(deadline)
        raise AssertionError("not reached")

    def query(self, line: str, deadline: Deadline) -> str:
        """Standard output of a command that only reads."""
        return self.read(lambda until: self.link.shell(line, until).text, deadline)

    def once(self, work: Callable[[Deadline], T], deadline: Deadline) -> T:
        """What `work` gives, which may change something and so is done at most once: where the device was gone before
        anything was sent to it, it is brought back first. DeviceLost and DeviceTimeout say in `performed` whether it
        may have happened."""
        for again in (True, False):
            try:
                return work(deadline)
            except DeviceError as error:
                if error.performed is None:
                    error.hint = LOOK
                if not again or error.performed is None or not isinstance(error, GONE):
                    raise
            self.bring_back(deadline)
        raise AssertionError("not reached")

    def in_turn(self, lines: Iterable[str], deadline: Deadline) -> None:
        """Acts that are one act together: where some were done and one was not, nobody knows of the whole."""
        done = 0
        try:
            for line in lines:
                self.act(line, deadline)
                done += 1
        except DeviceError as error:
            if done:
                error.performed, error.hint = None, LOOK
            raise

    def act(self, line: str, deadline: Deadline) -> Output:
        """Run a command once, and raise what its output tells of."""
        done = self.once(lambda until: self.link.shell(line, until), deadline)
        if (problem := trouble.from_output(line, done.out, done.err, done.code)) is not None:
            raise problem
        return done

    def bring_back(self, deadline: Deadline) -> None:
        """Reconnect a lost device; the second of two threads finds it there."""
        if not self._returning.acquire(timeout=deadline.left()):
            raise deadline.over()
        try:
            devices.reconnect(self.link.server, self.serial, deadline)
            self.link.forget()
        finally:
            self._returning.release()
