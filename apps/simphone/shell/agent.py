"""The process inside the container that starts the shells: a new container for each line would be slow.

Takes datagrams of JSON from the socket whose descriptor is its argument: {"run": id, "argv", "env", "full": whether no
file can be written, "terminal": null or [rows, columns]}, with the descriptors of standard input, output and error
unless on a terminal; {"end": id}. Answers {"ready": true}, {"started": id} (with the terminal's descriptor),
{"ended": id, "code"}.
"""

import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from contextlib import suppress
from typing import Any

GRACE_S = 0.3  # between asking a line to end and ending it
MAX_REQUEST = 1 << 18
MAX_FILE = 1 << 30  # bytes of any one file that a line writes


class Agent:
    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.running: dict[int, int] = {}  # session: request
        self.dying: dict[int, float] = {}  # session: when it is ended

    def serve(self) -> None:
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.say({"ready": True})
        while True:
            timeout = min(self.dying.values()) - time.monotonic() if self.dying else None
            sources = [self.control.fileno(), woken]
            ready = select.select(sources, [], [], None if timeout is None else max(0, timeout))[0]
            if woken in ready:
                os.read(woken, 4096)
                self.reap()
            if self.control.fileno() in ready and not self.take():
                return
            for session, due in list(self.dying.items()):
                if due <= time.monotonic():
                    del self.dying[session]
                    end(session, signal.SIGKILL)

    def take(self) -> bool:
        """One request; False if nobody sends any more."""
        data, descriptors, _, _ = socket.recv_fds(self.control, MAX_REQUEST, 3)
        if not data:
            return False
        for each in descriptors:
            os.set_inheritable(each, False)
        request = json.loads(data)
        try:
            if "run" in request:
                self.run(request, descriptors)
            else:
                for session in [each for each, number in self.running.items() if number == request["end"]]:
                    end(session, signal.SIGHUP)
                    self.dying[session] = time.monotonic() + GRACE_S
        finally:
            for each in descriptors:
                os.close(each)
        return True

    def run(self, request: dict[str, Any], descriptors: list[int]) -> None:
        number, terminal = request["run"], request["terminal"]
        ours = []
        actions: list[tuple[Any, ...]]
        actions = [(os.POSIX_SPAWN_DUP2, each, place) for place, each in enumerate(descriptors)]
        resource.setrlimit(resource.RLIMIT_FSIZE, (0 if request["full"] else MAX_FILE, MAX_FILE))
        try:
            if terminal:
                main, side = os.openpty()
                ours.append(main)
                fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", *terminal, 0, 0))
                name = os.ttyname(side)
                os.close(side)
                # Opened by its name it becomes the controlling terminal.
                actions = [(os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0)]
                actions += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
            session = os.posix_spawn(
                "/system/bin/sh",
                request["argv"],
                request["env"],
                file_actions=actions,
                setsid=True,
                setsigdef=[signal.SIGPIPE],
            )
            self.running[session] = number
            self.say({"started": number}, *ours)
        except OSError as error:
            print(error, file=sys.stderr)
            self.say({"started": number})
            self.say({"ended": number, "code": 126})
        finally:
            for each in ours:
                os.close(each)

    def reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                session, status = os.waitpid(-1, os.WNOHANG)
                if not session:
                    return
                code = os.waitstatus_to_exitcode(status)
                if session in self.running:
                    self.say({"ended": self.running.pop(session), "code": code if code >= 0 else 128 - code})

    def say(self, message: dict[str, Any], *descriptors: int) -> None:
        socket.send_fds(self.control, [json.dumps(message).encode()], descriptors)


def end(session: int, how: int) -> None:
    """Signal every process of a session: job control puts them into several groups."""
    for each in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            with open(f"/proc/{each}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                os.kill(int(each), how)
                os.kill(int(each), signal.SIGCONT)


if __name__ == "__main__":
    inherited = int(sys.argv[1])
    os.set_inheritable(inherited, False)
    Agent(socket.socket(fileno=inherited)).serve()
