"""The phone's system for command lines, by bubblewrap: no network, no home, nothing of the host but its programs."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from simphone.files import SDCARD, TEMPORARY, DeviceFiles
from simphone.shell import agent, shim

SHELLS = ("mksh", "busybox", "dash")  # Android's own is mksh
UID = 2000  # of the user `shell`
TOOLS = frozenset(  # what Android has beside its own commands, where the host has it too
    """awk base64 basename bc cal cat chgrp chmod chown cksum clear cmp comm cp cpio cut date dd df diff dirname
    dos2unix du echo egrep env expand expr factor false fgrep file find flock fmt free grep groups gunzip gzip head
    hostname iconv id install kill ln logname ls md5sum mkdir mkfifo mktemp more mv nice nl nohup nproc od paste patch
    pgrep pidof pkill printenv printf ps pwd readlink realpath renice rev rm rmdir sed seq setsid sha1sum sha224sum
    sha256sum sha384sum sha512sum sleep sort split stat strings stty tac tail tar tee test time timeout touch tr true
    truncate tty uname uniq unlink uptime uudecode uuencode wc which whoami xargs xxd yes zcat""".split()
)
ENVIRONMENT = {
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "LANG": "C.UTF-8",
    "LOGNAME": "shell",
    "PATH": "/system/bin",
    "PS1": "$PWD $ ",
    "SHELL": "/system/bin/sh",
    "TMPDIR": TEMPORARY,
    "USER": "shell",
}
_PYTHON = "/apex/python"  # where an interpreter that is not below /usr is inside
_START_S = 20


class NotAvailable(Exception):
    """The host cannot confine a command line."""


class Container:
    """One for the life of a phone. `control` is the end of the socket that the agent listens to."""

    control: socket.socket

    def __init__(self, files: DeviceFiles, names: Iterable[str]) -> None:
        self._files = files
        self._names = frozenset(names)
        self._folder = files.root / ".container"  # what a killed phone left is found there by the next one
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        """Where the phone listens for the simulated commands that a line calls."""
        return self._folder / "socket" / Path(shim.SOCKET).name

    async def start(self) -> None:
        """Raises NotAvailable, with what to install or what bubblewrap said."""
        shell = next((found for found in map(shutil.which, SHELLS) if found), None)
        bwrap = shutil.which("bwrap")
        if not bwrap or not shell:
            raise NotAvailable("install bubblewrap and mksh")
        python, mounts = _interpreter()
        self._furnish(shell, python)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setblocking(False)
        with theirs:
            program = [python, "-I", "-S", "/system/lib/agent.py", str(theirs.fileno())]
            self._process = _spawn(bwrap, self._arguments(mounts), program, theirs.fileno())
        said = b""
        try:
            said = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.control, 4096), _START_S)
        except TimeoutError:
            self._process.kill()
        if not said:
            self.control.close()
            process, self._process = self._process, None
            _, errors = await asyncio.to_thread(process.communicate)
            raise NotAvailable(errors.decode("utf-8", "replace").strip() or "bubblewrap did not start")

    def _furnish(self, shell: str, python: str) -> None:
        """The folders that become /system, /etc and /dev/socket inside."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        programs, library = self._folder / "system" / "bin", self._folder / "system" / "lib"
        for each in (programs, library, self._folder / "etc", self._folder / "socket"):
            each.mkdir(parents=True, exist_ok=True)
        (library / "agent.py").write_text(Path(agent.__file__).read_text("utf-8"), "utf-8")
        process = programs / "app_process"  # as on Android, where the commands are links to it or scripts that start it
        process.write_text(f"#!{python} -IS\n{Path(shim.__file__).read_text('utf-8')}", "utf-8")
        process.chmod(0o755)
        found = {name: shutil.which(name, path="/usr/bin:/bin") for name in TOOLS} | {"sh": shell, "mksh": shell}
        links = {name: os.path.realpath(path) for name, path in found.items() if path}
        links |= dict.fromkeys(self._names, "app_process")
        for name, target in links.items():
            (programs / name).unlink(missing_ok=True)
            (programs / name).symlink_to(target)
        (self._folder / "etc" / "passwd").write_text(f"root:x:0:0::/:\nshell:x:{UID}:{UID}::/:/system/bin/sh\n")
        (self._folder / "etc" / "group").write_text(f"root:x:0:\nshell:x:{UID}:\n")

    def _arguments(self, mounts: list[str]) -> list[str]:
        arguments = "--unshare-user --unshare-all --die-with-parent --new-session --cap-drop ALL".split()
        arguments += ["--uid", str(UID), "--gid", str(UID), "--hostname", "localhost"]
        arguments += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
        for name in ("/bin", "/lib", "/lib64"):
            if os.path.islink(name):
                arguments += ["--symlink", os.readlink(name), name]
            elif os.path.isdir(name):
                arguments += ["--ro-bind", name, name]
        inside = {"system": "/system", "etc": "/etc", "socket": os.path.dirname(shim.SOCKET)}
        for name, place in inside.items():
            arguments += ["--ro-bind", str(self._folder / name), place]
        arguments += mounts
        for name in ("/storage", "/storage/emulated", "/data", "/data/local"):
            arguments += ["--perms", "0111", "--dir", name]
        for name in (SDCARD, TEMPORARY):
            arguments += ["--bind", str(self._files.root / name[1:]), name]
        return [*arguments, "--symlink", SDCARD, "/sdcard", "--remount-ro", "/", "--chdir", "/"]

    async def stop(self) -> None:
        """Everything inside is ended."""
        process, self._process = self._process, None
        if process:
            self.control.close()
            process.kill()
            await asyncio.to_thread(process.communicate)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


def _spawn(bwrap: str, arguments: list[str], program: list[str], descriptor: int) -> subprocess.Popen[bytes]:
    """bubblewrap gets its arguments through a pipe: inside, `ps` would show the host's folders."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb") as pipe:
        pipe.write("\0".join(arguments).encode())
        pipe.flush()
        return subprocess.Popen(
            [bwrap, "--args", str(reading), *program],
            pass_fds=(descriptor, reading),
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )


def _interpreter() -> tuple[str, list[str]]:
    """Python's path inside the container, and what must be mounted for it to be there."""
    if os.path.exists("/usr/bin/python3"):
        return "/usr/bin/python3", []
    executable = Path(sys.executable).resolve()
    if executable.is_relative_to("/usr"):
        return str(executable), []
    place = executable.relative_to(Path(sys.base_prefix).resolve())
    return f"{_PYTHON}/{place}", ["--ro-bind", sys.base_prefix, _PYTHON]
