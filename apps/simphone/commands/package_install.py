"""`pm install` and `pm uninstall`."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed, JavaThrown
from simphone.system.intent import Arguments
from simphone.system.packages import InstallFailed

AT = "com.android.server.pm.PackageManagerShellCommand"
_WITH_VALUE = ("-S", "-i", "--user", "--abi", "--install-reason", "--install-location", "--dexopt-compiler-filter")
_LARGEST = 512 << 20  # bytes


async def install(call: Call, arguments: Arguments) -> int:
    replace, downgrade, size = True, False, 0
    while (option := arguments.option()) is not None:
        if option in _WITH_VALUE:
            value = arguments.required()
            if option == "-S":
                size = int(value) if value.isdigit() else 0
        elif option == "-R":
            replace = False
        elif option == "-d":
            downgrade = True
        elif option[1:].strip("rtgflq") and not option.startswith("--"):
            raise _thrown(f"java.lang.IllegalArgumentException: Unknown option {option}")
    path = arguments.next()
    if path is None or path == "-":
        if not size:
            raise CommandFailed("Error: must either specify a package size or an APK file")
        data = await _streamed(call, size)
    else:
        data = _file(call, path)
    if call.fault("storage_full"):
        raise _failure("INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location")
    try:
        await call.system.install(data, replace=replace, downgrade=downgrade)
    except InstallFailed as error:
        raise _failure(str(error)) from None
    await call.say("Success")
    return 0


def _failure(reason: str) -> CommandFailed:
    return CommandFailed(f"Failure [{reason}]", 1, to_output=True)


async def _streamed(call: Call, size: int) -> bytes:
    if size > _LARGEST:
        raise _failure("INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location")
    data = bytearray()
    while len(data) < size:
        part = await call.io.read(min(size - len(data), 1 << 20))
        if not part:
            raise _failure(f"INSTALL_PARSE_FAILED_NOT_APK: the stream ended after {len(data)} of {size} bytes")
        data += part
    return bytes(data)


def _file(call: Call, path: str) -> bytes:
    try:
        with call.system.files.open(path) as file:
            return file.read(_LARGEST)
    except OSError:
        told = f"Error: Unable to open file: {path}\nConsider using a file under /data/local/tmp/"
        thrown = _thrown(f"java.lang.IllegalArgumentException: Error: Can't open file: {path}")
        raise CommandFailed(told + "\n" + thrown.text, UNKNOWN) from None


async def uninstall(call: Call, arguments: Arguments) -> int:
    name = package_name(arguments)
    try:
        await call.system.uninstall(name)
    except KeyError:
        raise _failure("DELETE_FAILED_INTERNAL_ERROR") from None
    await call.say("Success")
    return 0


def package_name(arguments: Arguments) -> str:
    """The package that is meant, behind the options. Raises IllegalArgument."""
    while (option := arguments.option()) is not None:
        if option in ("--user", "--versionCode"):
            arguments.required()
    return arguments.required()


def _thrown(thrown: str) -> CommandFailed:
    return JavaThrown("install", thrown, f"{AT}.runInstall(PackageManagerShellCommand.java:1347)")
