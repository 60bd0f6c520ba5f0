"""`pm` and `cmd package`: what is installed."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed, JavaThrown
from simphone.commands.package_install import AT, install, package_name, uninstall
from simphone.commands.package_list import list_what
from simphone.commands.package_query import query_activities, resolve_activity
from simphone.system.intent import Arguments, IllegalArgument

USAGE = """Package manager (package) commands:
  help
    Print this help text.

  path [--user USER_ID] PACKAGE
    Print the path to the .apk of the given PACKAGE.

  list features
  list packages [-f] [-d] [-e] [-s] [-3] [-i] [-l] [-u] [-U] [--show-versioncode] [--user USER_ID] [FILTER]
    Prints all packages; optionally only those whose name contains
    the text in FILTER.

  resolve-activity [--brief] [--components] [--query-flags FLAGS] [--user USER_ID] INTENT
    Prints the activity that resolves to the given INTENT.

  install [-rtfdg] [-R] [-i PACKAGE] [-S BYTES] [--user USER_ID] [PATH...|-]
    Install an application.

  uninstall [-k] [--user USER_ID] PACKAGE
    Remove the given package name from the system.

  clear [--user USER_ID] PACKAGE
    Deletes all data associated with a package."""
_CHANGES_NOTHING = ("grant", "revoke", "enable", "disable-user", "compile", "trim-caches")


async def run(call: Call) -> int:
    arguments = Arguments(call.words)
    name = arguments.next()
    commands = {
        "list": list_what,
        "path": _path,
        "dump": _dump,
        "install": install,
        "uninstall": uninstall,
        "clear": _clear,
        "resolve-activity": resolve_activity,
        "query-activities": query_activities,
    }
    if name is None or name in ("help", "-h"):
        await call.say(USAGE)
        return UNKNOWN
    if name not in commands:
        if name in _CHANGES_NOTHING:
            return 0
        raise CommandFailed(f"Unknown command: {name}", UNKNOWN, to_output=True)
    try:
        return await commands[name](call, arguments)
    except IllegalArgument as error:
        at = f"{AT}.onCommand(PackageManagerShellCommand.java:259)"
        raise JavaThrown(name, f"java.lang.IllegalArgumentException: {error}", at) from None


async def _path(call: Call, arguments: Arguments) -> int:
    package = call.system.packages.get(package_name(arguments))
    if package is None:
        return 1
    await call.say(f"package:{package.apk}")
    return 0


async def _dump(call: Call, arguments: Arguments) -> int:
    from simphone.commands.dumps import packages

    await call.say(packages.dump(call.system, arguments.required()))
    return 0


async def _clear(call: Call, arguments: Arguments) -> int:
    name = package_name(arguments)
    if call.system.packages.get(name) is None:
        raise CommandFailed("Failed", 1)
    await call.system.clear(name)
    await call.say("Success")
    return 0
