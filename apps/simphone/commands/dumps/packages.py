"""`dumpsys package [NAME]`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from simphone.commands.dumps.snapshot import Snapshot
from simphone.system.intent import LAUNCHER, MAIN
from simphone.system.packages import Package
from simphone.system.platform import SDK
from simphone.system.system import System


def service(seen: Snapshot, words: Sequence[str]) -> str:
    names = [each for each in words if not each.startswith("-")]
    if names[:1] == ["packages"]:
        names = []
    if names:
        return dump(seen.system, names[0])
    return "\n".join(("Packages:", *(_block(each) for each in seen.system.packages)))


def dump(system: System, name: str) -> str:
    """What is known of a package."""
    package = system.packages.get(name)
    if package is None:
        return f"Unable to find package: {name}"
    image = system.packages.on_image(name)
    lines = [_resolver(package), "Packages:", _block(package)]
    if image is not None and image is not package:
        lines += ["", "Hidden system packages:", _block(image)]
    lines += ["", "Queries:", "  system apps queryable: false", "", "Dexopt state:", f"  [{name}]"]
    return "\n".join(lines)


def _resolver(package: Package) -> str:
    """The actions that its activities answer."""
    whole = package.manifest.whole
    starts = [(action, whole(activity), "") for action, activity in package.manifest.intents.items()]
    if package.launcher is not None:
        starts.append((MAIN, package.launcher.name, LAUNCHER))
    lines = ["Activity Resolver Table:", "  Non-Data Actions:"] if starts else []
    for action, name, category in sorted(starts):
        short = f"{package.name}/{name.removeprefix(package.name)}"
        lines += [f"      {action}:", f"        7a0c2d1 {short} filter 5fcd691", f'          Action: "{action}"']
        if category:
            lines.append(f'          Category: "{category}"')
    return "\n".join([*lines, ""]) if lines else ""


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _block(package: Package) -> str:
    manifest, mark = package.manifest, f"{package.uid * 7919 & 0xFFFFFFF:x}"
    flags = " ".join((*(("SYSTEM",) if package.system else ()), "HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP"))
    updated = _time(package.last_update)
    return "\n".join(
        (
            f"  Package [{package.name}] ({mark}):",
            f"    userId={package.uid}",
            f"    pkg=Package{{{mark} {package.name}}}",
            f"    codePath={package.folder}",
            f"    resourcePath={package.folder}",
            f"    legacyNativeLibraryDir={package.folder}/lib",
            "    primaryCpuAbi=null",
            "    secondaryCpuAbi=null",
            f"    versionCode={manifest.version_code} minSdk=24 targetSdk={SDK}",
            f"    versionName={manifest.version_name}",
            "    splits=[base]",
            "    apkSigningVersion=3",
            f"    flags=[ {flags} ]",
            f"    dataDir=/data/user/0/{package.name}",
            "    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]",
            f"    timeStamp={updated}",
            f"    lastUpdateTime={updated}",
            f"    signatures=PackageSignatures{{{mark} version:3, signatures:[{package.signature}], "
            "past signatures:[]}",
            "    installPermissionsFixed=true",
            f"    pkgFlags=[ {flags} ]",
            "    User 0: ceDataInode=3252550 installed=true hidden=false suspended=false distractionFlags=0 "
            "stopped=false notLaunched=false enabled=0 instant=false virtual=false",
            "      installReason=0",
            f"      firstInstallTime={_time(package.first_install)}",
            "      uninstallReason=0",
        )
    )
