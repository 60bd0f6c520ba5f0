"""A system whose display is a double, and commands carried out on it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simphone.commands.table import CommandTable
from simphone.faults import Fault, Faults
from simphone.files import DeviceFiles
from simphone.screen.picture import black
from simphone.screen.store import AppStore
from simphone.system.system import System

XML = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
    '<node index="0" text="Überschrift" class="android.widget.TextView" bounds="[0,72][1080,240]" /></hierarchy>'
)


class DisplayDouble:
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        self.size, self.density, self.rotation, self.on = (1080, 2400), 480, 0, True
        self.keyboard = self.takes_back = False
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        async def ask(*args: Any, **more: Any) -> None:
            self.asked.append((name, *args, *more.values()))

        if name.startswith("_"):
            raise AttributeError(name)
        return ask

    async def rotate(self, rotation: int) -> None:
        self.rotation = rotation
        self.size = (2400, 1080) if rotation % 2 else (1080, 2400)

    async def power(self, on: bool) -> None:
        self.on = on

    async def screenshot(self, scale: float = 1.0) -> bytes:
        return black(*(round(each * scale) for each in self.size))

    async def hierarchy(self) -> str:
        return XML

    async def back(self) -> bool:
        return self.takes_back

    async def state(self) -> dict[str, Any]:
        return {"keyboard": self.keyboard, "dialog": None, "focused": None}

    def names(self) -> list[str]:
        return [each[0] for each in self.asked]


@dataclass
class Streams:
    """Standard input that is there already, and what was written."""

    given: bytes = b""
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)

    async def read(self, n: int = -1) -> bytes:
        part = self.given if n < 0 else self.given[:n]
        self.given = self.given[len(part) :]
        return part

    async def out(self, data: bytes) -> None:
        self.output += data

    async def err(self, data: bytes) -> None:
        self.errors += data


@dataclass
class Ran:
    code: int
    out: str
    err: str
    raw: bytes


class Bench:
    """A phone without a screen, a shell and adb, with one more app: org.example.small."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.display = DisplayDouble()
        self.faults = Faults()
        self.store = AppStore(folder / "apps")
        self.files = DeviceFiles(folder / "files", self.faults)
        self.system = System(
            folder,
            self.display,  # type: ignore[arg-type]
            self.store,
            self.faults,
            self.files,
            serial_number="SIM0001",
            model="Simphone",
            apps=(str(small_app(folder.parent / "small")),),
            url=lambda: "http://127.0.0.1:1",
            **options,
        )
        self.table = CommandTable(self.system)

    async def run(self, *argv: str, given: bytes = b"") -> Ran:
        streams = Streams(given)
        code = await self.table.run(argv, streams)
        return Ran(code, streams.output.decode("utf-8", "replace"), streams.errors.decode(), bytes(streams.output))

    async def line(self, line: str) -> Ran:
        return await self.run(*line.split())

    def fault(self, text: str) -> None:
        self.faults.add(Fault.parse(text))


def small_app(folder: Path, **changed: Any) -> Path:
    """An app's folder: org.example.small, with two activities."""
    manifest = {
        "package": "org.example.small",
        "label": "Small",
        "version_code": 3,
        "version_name": "0.3",
        "launcher": ".MainActivity",
        "activities": {".MainActivity": "index.html", ".SecondActivity": "second.html", ".PinActivity": "pin.html"},
        "intents": {"org.example.SECOND": ".SecondActivity", "android.intent.action.VIEW small": ".SecondActivity"},
        "secure": [".PinActivity"],
        "state": {"count": 0},
        "signature": "example",
        **changed,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for page in ("index.html", "second.html", "pin.html"):
        (folder / page).write_text("<!doctype html><p>Hello</p>")
    return folder
