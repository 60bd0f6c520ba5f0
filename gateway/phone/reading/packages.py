"""Which apps are installed."""

from __future__ import annotations

import re
from dataclasses import dataclass

LISTED = re.compile(r"^package:(?:(?P<path>/.*)=)?(?P<name>[A-Za-z][\w.]*)(?=\s|$)", re.MULTILINE)
BLOCK = re.compile(r"^ {2}(?:Package|Compat) \[([\w.]+)\]|^(?:Hidden system packages|\S.*):\s*$", re.MULTILINE)
CODE = re.compile(r"^\s*versionCode=(\d+)", re.MULTILINE)
NAME = re.compile(r"^\s*versionName=(.*?)\s*$", re.MULTILINE)
PATH = re.compile(r"^\s*codePath=(.*?)\s*$", re.MULTILINE)
SIGNATURES = re.compile(
    r"^\s*signatures=PackageSignatures\{\w+ (?:version:\d+, signatures:)?\[([^\]]*)\]", re.MULTILINE
)
NOT_INSTALLED = re.compile(r"^\s*User 0:.* installed=false\b", re.MULTILINE)
COMPONENT = re.compile(r"^\s*([A-Za-z][\w.]*)/([\w.$]+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """An installed app. `signatures` are short hashes of its certificates, as `dumpsys package` tells them: two apps
    of the same ones come from the same hand."""

    name: str
    version_code: int | None = None
    version_name: str = ""
    signatures: tuple[str, ...] = ()
    path: str = ""


def packages_of(pm_list: str) -> dict[str, str]:
    """`pm list packages`, with or without `-f` and other columns: names, in their order, and the paths of their files,
    empty where not told. Lines that are no packages, such as an error about another user's, are passed over."""
    return {found["name"]: found["path"] or "" for found in LISTED.finditer(pm_list)}


def package_of(dumpsys: str, name: str) -> Package | None:
    """`dumpsys package NAME`: the app as it is installed for the first user; None where it is not.

    A system app that was updated is told twice: what it was replaced by is in force, the hidden one is not.
    """
    starts = list(BLOCK.finditer(dumpsys))
    ends = [each.start() for each in starts[1:]] + [len(dumpsys)]
    hidden = False
    for each, end in zip(starts, ends, strict=False):
        if each[1] is None:
            hidden = each[0].startswith("Hidden")
        elif each[1] == name and not hidden:
            block = dumpsys[each.end() : end]
            return None if NOT_INSTALLED.search(block) else _package(name, block)
    return None


def launcher_of(resolved: str) -> tuple[str, str] | None:
    """`cmd package resolve-activity --brief`: package and full class name of the activity; None if there is none."""
    found = COMPONENT.search(resolved)
    if found is None or found[1] == "android":  # android/….ResolverActivity asks which app is meant
        return None
    package, activity = found[1], found[2]
    return package, package + activity if activity.startswith(".") else activity


def _package(name: str, block: str) -> Package:
    code, version, path, signed = (pattern.search(block) for pattern in (CODE, NAME, PATH, SIGNATURES))
    return Package(
        name,
        int(code[1]) if code else None,
        version[1] if version and version[1] != "null" else "",
        tuple(each.strip() for each in signed[1].split(",") if each.strip()) if signed else (),
        path[1] if path else "",
    )
