"""The few commands that work where no command line can be confined."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable, Sequence

from simphone.commands import CommandIO
from simphone.files import DeviceFiles

Builtin = Callable[[DeviceFiles, Sequence[str], CommandIO], Awaitable[None]]
_PIECE = 1 << 16


async def run(files: DeviceFiles, argv: Sequence[str], io: CommandIO) -> int:
    """The exit code; argv[0] is one of BUILTINS."""
    try:
        await BUILTINS[argv[0]](files, argv[1:], io)
    except ConnectionError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        await io.err(f"{argv[0]}: {where}{error.strerror}\n".encode())
        return 1
    return int(argv[0] == "false")


async def _echo(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    quiet = words[:1] == ["-n"]
    text = " ".join(words[quiet:]) + ("" if quiet else "\n")
    await io.out(text.encode("utf-8", "surrogateescape"))


async def _nothing(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    pass


async def _cat(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    for each in words:
        with files.open(each) as file:
            while data := file.read(_PIECE):
                await io.out(data)
    while not words and (data := await io.read(_PIECE)):
        await io.out(data)


async def _ls(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    for each in words or ["/"]:
        try:
            found = files.names(each)
        except NotADirectoryError:
            found = [each]
        await io.out("".join(f"{name}\n" for name in found if not name.startswith(".")).encode())


async def _rm(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    for each in (each for each in words if each != "-f"):
        try:
            files.remove(each)
        except FileNotFoundError:
            if "-f" not in words:
                raise


async def _mkdir(files: DeviceFiles, words: Sequence[str], io: CommandIO) -> None:
    for each in (each for each in words if each != "-p"):
        if "-p" not in words:
            files.stat(posixpath.dirname(each.rstrip("/")))
        files.make_folders(f"{each}/.")


BUILTINS: dict[str, Builtin] = {
    "cat": _cat,
    "echo": _echo,
    "false": _nothing,
    "ls": _ls,
    "mkdir": _mkdir,
    "rm": _rm,
    "true": _nothing,
}
PURE = frozenset(("echo", "false", "true"))  # these touch no files
