"""Size, density and rotation of the screen."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

SIZE = re.compile(r"^\s*(Physical|Override) size: (\d+)x(\d+)", re.MULTILINE)
DENSITY = re.compile(r"^\s*(Physical|Override) density: (\d+)", re.MULTILINE)

RECT = r"\D{0,5}(-?\d+), (-?\d+)(?: - |, )(-?\d+), (-?\d+)[)\]]"
VIEWPORT = re.compile(r"displayId=(\d+),.*?orientation=(\d),? .*?logicalFrame=(?:Rect)?" + RECT)
CURRENT = re.compile(r"\bcur=(\d+)x(\d+)\b")  # of `dumpsys window displays`
DPI = re.compile(r"\binit=\S+ (\d+)dpi(?: base=\S+ (\d+)dpi)?")
ROTATION = re.compile(r"\b(?:mCurrentRotation|mRotation|mDisplayRotation)=(?:ROTATION_)?(\d{1,3})\b")
SURFACE = re.compile(r"\bSurfaceOrientation: (\d)")
REAL = re.compile(r"mOverrideDisplayInfo=DisplayInfo\{.*?\breal (\d+) x (\d+)")
TURNED = re.compile(r"mOverrideDisplayInfo=DisplayInfo\{.*?\brotation (\d)")
STATE = re.compile(r"^\s*(?:Display State=|mScreenState=)(\w+)", re.MULTILINE)
PANEL = re.compile(r"^Display (\d+) \(", re.MULTILINE)

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Screen:
    """`size`: width and height as it is held now; `rotation`: 0 to 3 times 90 degrees; `density` in dpi; `on`: whether
    it shows something. None: not told."""

    size: Size | None = None
    rotation: int | None = None
    density: int | None = None
    on: bool | None = None


def size_of(wm_size: str) -> Size | None:
    """`wm size`: what is in force, in the device's natural position; an override wins."""
    found = {which: (int(width), int(height)) for which, width, height in SIZE.findall(wm_size)}
    return found.get("Override") or found.get("Physical")


def density_of(wm_density: str) -> int | None:
    """`wm density`, in dpi; an override wins."""
    found = {which: int(dpi) for which, dpi in DENSITY.findall(wm_density)}
    return found.get("Override") or found.get("Physical")


def screen_of(dumpsys: str) -> Screen:
    """Of `dumpsys display`, `dumpsys input`, `dumpsys window displays` or `dumpsys window`: the main display, as it is
    held now."""
    screen = Screen()
    if viewport := _viewport(dumpsys):
        left, top, right, bottom = map(int, viewport.group(3, 4, 5, 6))
        screen = Screen((right - left, bottom - top), int(viewport[2]))
    elif found := (CURRENT.search(dumpsys) or REAL.search(dumpsys)):
        screen = Screen((int(found[1]), int(found[2])))
    if screen.rotation is None:
        screen = replace(screen, rotation=_rotation(dumpsys))
    if found := DPI.search(dumpsys):
        screen = replace(screen, density=int(found[2] or found[1]))
    if found := STATE.search(dumpsys):
        screen = replace(screen, on=found[1] not in ("OFF", "DOZE", "DOZE_SUSPEND"))
    return screen


def panels_of(surface_flinger: str) -> tuple[str, ...]:
    """`dumpsys SurfaceFlinger --display-id`: ids of the displays, as `screencap -d` takes them; foldables have two."""
    return tuple(PANEL.findall(surface_flinger))


def _viewport(dumpsys: str) -> re.Match[str] | None:
    """The active one of display 0: foldables tell one for each panel."""
    found = [each for each in VIEWPORT.finditer(dumpsys) if each[1] == "0"]
    passive = re.compile(r"isActive=(?:false|\[0\])")
    active = [each for each in found if not passive.search(dumpsys[_start(dumpsys, each) : _end(dumpsys, each)])]
    return next(iter(active or found), None)


def _start(text: str, found: re.Match[str]) -> int:
    return max(text.rfind("iewport{", 0, found.start()), text.rfind("\n", 0, found.start()), 0)


def _end(text: str, found: re.Match[str]) -> int:
    ends = [end for mark in ("}", "\n") if (end := text.find(mark, found.end())) >= 0]
    return min(ends, default=len(text))


def _rotation(dumpsys: str) -> int | None:
    for pattern in (ROTATION, SURFACE, TURNED):
        if found := pattern.search(dumpsys):
            turned = int(found[1])
            return (turned // 90 if turned > 3 else turned) % 4
    return None
