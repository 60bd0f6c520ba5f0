"""Starts a browser in a process group of its own and sees to its end: when it exits, or when standard input ends (the
phone has stopped, or was killed), the whole group, the profile's folder and its temporary files go.

Run as `python -I -S supervisor.py READ_FD WRITE_FD PROFILE PROGRAM ARGUMENT…`: the browser gets the two descriptors as
3 and 4, as `--remote-debugging-pipe` wants them.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile


def _ended(signum: int, frame: object) -> None:
    raise SystemExit(128 + signum)


def main(reads: int, writes: int, profile: str, command: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ended)
    pair = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (reads, writes)]
    for source, wanted in zip(pair, (3, 4), strict=True):
        os.dup2(source, wanted)
    for each in {reads, writes, *pair} - {3, 4}:
        os.close(each)
    temporary = tempfile.mkdtemp(prefix="simphone-browser-")  # short: it puts a socket there
    try:
        with open(os.path.join(profile, "browser.log"), "wb") as log:
            browser = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(3, 4),
                start_new_session=True,
                env={**os.environ, "TMPDIR": temporary},
            )
        os.close(3)
        os.close(4)
        try:
            exit_seen = os.pidfd_open(browser.pid)
            select.select([0, exit_seen], [], [])  # nobody writes to standard input: it is ready when it ends
        finally:
            os.killpg(browser.pid, signal.SIGKILL)  # not reaped yet, so the number is still the group's
            browser.wait()
        return 0
    finally:
        for _ in range(50):  # helpers of the browser may be writing to their last
            for folder in (profile, temporary):
                shutil.rmtree(folder, ignore_errors=True)
            if not os.path.exists(profile) and not os.path.exists(temporary):
                break
            select.select([], [], [], 0.02)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
