"""`pm list`: packages, and what the phone has."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed, JavaThrown
from simphone.system.intent import Arguments
from simphone.system.packages import Package

FEATURES = (
    "android.hardware.faketouch",
    "android.hardware.location",
    "android.hardware.screen.landscape",
    "android.hardware.screen.portrait",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.wifi",
    "android.software.app_widgets",
    "android.software.home_screen",
    "android.software.input_methods",
    "android.software.webview",
)
_OPTIONS = frozenset("-f -d -e -s -3 -i -l -u -U -a --show-versioncode --apex-only".split())
_OTHER_USER = "java.lang.SecurityException: Shell does not have permission to access user 10"


async def list_what(call: Call, arguments: Arguments) -> int:
    kind = arguments.required()
    if kind in ("features", "feature"):
        await call.say("\n".join(f"feature:{each}" for each in FEATURES))
    elif kind in ("users", "user"):
        await call.say("Users:\n\tUserInfo{0:Owner:4c13} running")
    elif kind in ("packages", "package"):
        await _list_packages(call, arguments)
    elif kind in ("permissions", "permission-groups", "instrumentation", "libraries"):
        pass
    else:
        raise CommandFailed(f"Error: unknown list type '{kind}'", UNKNOWN)
    return 0


async def _list_packages(call: Call, arguments: Arguments) -> None:
    options = set()
    while (option := arguments.option()) is not None:
        if option == "--user":
            if arguments.required() not in ("0", "all", "current"):
                raise JavaThrown("list", _OTHER_USER)
        elif option == "--uid":
            arguments.required()
        elif option in _OPTIONS:
            options.add(option)
        else:
            raise CommandFailed(f"Error: Unknown option: {option}", UNKNOWN)
    filtered = arguments.next() or ""
    lines = [
        _line(each, options)
        for each in call.system.packages
        if filtered in each.name
        and not ("-3" in options and each.system)
        and not ("-s" in options and not each.system)
        and not options & {"-d", "--apex-only"}
    ]
    if lines:
        await call.say("\n".join(lines))


def _line(package: Package, options: set[str]) -> str:
    parts = [f"package:{package.apk}={package.name}" if "-f" in options else f"package:{package.name}"]
    if "--show-versioncode" in options:
        parts.append(f"versionCode:{package.manifest.version_code}")
    if "-i" in options:
        parts.append(" installer=null")
    if "-U" in options:
        parts.append(f"uid:{package.uid}")
    return " ".join(parts)
