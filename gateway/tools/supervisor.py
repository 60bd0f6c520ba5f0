"""Runs one program within limits, and leaves none of its processes behind. Started by `sandbox`, as a script.

    python -I -S supervisor.py CONTROL MEMORY FILE PROGRAM ARGUMENT...

CONTROL is the number of an open socket: when its other end is closed, by a gateway that has had enough or that has
died, everything is ended. What becomes of the program is written to it, in lines: `started PID`, then `exit N`, `signal
N` or `error ERRNO`. MEMORY and FILE are bytes; a MEMORY of 0 is no limit.

On Linux it is the parent that orphans are given to (PR_SET_CHILD_SUBREAPER), so that a process that has left for a
session of its own is found, too. Elsewhere the program's process group is ended, and who has left it stays.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_CHILD_SUBREAPER = 36
ENDING_S = 5.0  # for killing; a process that waits for a broken disk cannot be killed


def main(control: int, memory: int, file: int, command: list[str]) -> None:
    os.set_inheritable(control, False)  # the program has no say in it
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    failed, failing = os.pipe()
    child = os.fork()
    if child == 0:
        _become(command, memory, file, failing)
    _tell(control, f"started {child}")
    os.close(failing)
    error = os.read(failed, 16)
    if error:
        os.waitpid(child, 0)
        _tell(control, f"error {error.decode()}")
        return
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if control in ready:
            break
        os.read(woken, 4096)
        if _reaped(child):
            break
    status = _ended.get(child)
    _end(child)
    if status is not None:
        code = os.waitstatus_to_exitcode(status)
        _tell(control, f"exit {code}" if code >= 0 else f"signal {-code}")


_ended: dict[int, int] = {}  # status by process


def _become(command: list[str], memory: int, file: int, failing: int) -> None:
    """Never returns."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        limits = [(resource.RLIMIT_FSIZE, file), (resource.RLIMIT_CORE, 0)]
        for name, limit in [*limits, (resource.RLIMIT_AS, memory)] if memory else limits:
            hard = resource.getrlimit(name)[1]
            allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            with suppress(ValueError, OSError):  # macOS does not limit address space
                resource.setrlimit(name, (allowed, allowed))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(failing, str(error.errno).encode())
    finally:
        os._exit(127)


def _reaped(child: int) -> bool:
    """Take note of every process that has ended; whether the program itself has."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return child in _ended
        if pid == child:
            _ended[pid] = status


def _end(child: int) -> None:
    """Kill whatever the program has started, again and again until nothing is left."""
    until = time.monotonic() + ENDING_S
    while time.monotonic() < until:
        _kill(-child)
        found = _descendants()
        for pid in found:
            _kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # the last one
        time.sleep(0.002)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _descendants() -> list[int]:
    """Every process below this one, as far as the system tells."""
    children: dict[int, list[int]] = {}
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []
    for pid in numbers:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    below = [os.getpid()]
    while below:
        below = [each for pid in below for each in children.get(pid, ())]
        found += below
    return found


def _tell(control: int, text: str) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(control, f"{text}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
