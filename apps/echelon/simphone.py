"""`echelon simphone`: a simulated Android phone for adb."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from echelon import options
from echelon.terminal import put, put_json, put_table

if TYPE_CHECKING:
    from gateway import Settings

PORT = 5600  # 5555 to 5585 are emulators to adb
AUTHENTICATION = ("none", "any", "refuse")


@click.group(
    cls=options.Group,
    epilog="""\b
Examples:
  echelon simphone start
  echelon simphone start --apps my-pages --fault "tap_dropped:at=input tap*,times=2"
  echelon simphone apps
""",
)
def simphone() -> None:
    """A simulated Android phone: to adb it is a device like any other."""


@simphone.command(
    epilog="""\b
Examples:
  echelon simphone start
  echelon simphone start --port 0 --no-connect --json
  echelon simphone start --apps ./pages --apps game.simapk --apps http://127.0.0.1:8000/
  echelon simphone start --fault "link_drop:at=screencap*,bytes=1000" --fault dump_fails:times=3
  echelon simphone start --second --auth any

\b
Then: adb -s 127.0.0.1:5600 shell am start -n org.simphone.notes/.NotesActivity
Exit codes: 0 ended by SIGTERM, 1 no Chromium, 2 wrong usage, 130 ended by Ctrl-C.
"""
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="P",
    help="Where adb connects to; 0 takes any free one.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="What is on the phone, kept from one start to the next.  [default: simphone in $ECHELON_HOME]",
)
@click.option(
    "--apps",
    multiple=True,
    metavar="DIR|FILE|URL",
    help="One more app: a folder with a manifest.json or with pages, a .simapk, a page, an address. Can be repeated.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="SPEC",
    help="NAME or NAME:key=value,…; `echelon simphone faults` lists them. Can be repeated.",
)
@click.option(
    "--auth",
    type=click.Choice(AUTHENTICATION),
    default="none",
    show_default=True,
    help="Whether computers are asked for a key: none, any key is allowed, every key is refused.",
)
@click.option("--second", is_flag=True, help="Start a second phone, too, at the next port.")
@click.option("--connect/--no-connect", default=True, show_default=True, help="Make the adb server connect to it.")
@options.as_json
@options.home
def start(
    settings: Settings,
    port: int,
    folder: Path | None,
    apps: tuple[str, ...],
    faults: tuple[str, ...],
    auth: str,
    second: bool,
    connect: bool,
    as_json: bool,
) -> int:
    """Start a simulated phone; it runs until Ctrl-C."""
    from echelon.simulating import simulate
    from gateway.errors import UsageError
    from simphone.adbd.auth import ANY_KEY, NONE, REFUSED
    from simphone.faults import Fault
    from simphone.phone import PhoneOptions

    try:
        wanted = [Fault.parse(each) for each in faults]
    except ValueError as error:
        raise UsageError(str(error), hint="echelon simphone faults") from None
    first = (folder or settings.home / "simphone").absolute()
    authentication = dict(zip(AUTHENTICATION, (NONE, ANY_KEY, REFUSED), strict=True))[auth]
    phones = [
        PhoneOptions(
            folder=first.with_name(f"{first.name}-{number}") if number > 1 else first,
            port=port + number - 1 if port else 0,
            serial_number=f"SIM{number:04}",
            apps=apps,
            authentication=authentication,
        )
        for number in ((1, 2) if second else (1,))
    ]
    return asyncio.run(simulate(settings, phones, wanted, connect=connect, as_json=as_json))


@simphone.command("apps", epilog="\b\nExamples:\n  echelon simphone apps\n  echelon simphone apps --json\n")
@options.as_json
@options.verbose
def list_apps(as_json: bool) -> None:
    """List the apps that a simulated phone ships with, and their activities."""
    from echelon.output.simphone import AppRow
    from simphone.system.app import MANIFEST, read
    from simphone.system.packages import SHIPPED_APPS

    manifests = [read(file.parent) for file in sorted(SHIPPED_APPS.glob(f"*/{MANIFEST}"))]
    rows = [
        AppRow(
            package=each.package,
            label=each.label,
            version_code=each.version_code,
            version_name=each.version_name,
            launcher=each.launcher,
            activities=tuple(each.activities),
        )
        for each in manifests
    ]
    if as_json:
        put_json(rows)
        return
    cells = [
        [row.package, row.label, f"{row.version_name} ({row.version_code})", " ".join(row.activities)] for row in rows
    ]
    put_table(["package", "label", "version", "activities"], cells, spare=("label",))


@simphone.command(epilog="\b\nExamples:\n  echelon simphone pack ./my-app my-app.apk\n  adb install my-app.apk\n")
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@options.as_json
@options.verbose
def pack(folder: Path, file: Path, as_json: bool) -> None:
    """Make a package file of an app's folder, for --apps and `adb install` on a simulated phone.

    Its name may end in .simapk or .apk; `adb install` takes the latter only.
    """
    from echelon.output.simphone import AppPacked
    from gateway.errors import UsageError
    from simphone.system import app

    try:
        manifest = app.pack(folder, file)
    except app.AppUnusable as error:
        raise UsageError(str(error), hint="a folder with a manifest.json, or with pages (*.html)") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}", hint="choose another FILE") from None
    packed = AppPacked(
        file=str(file),
        package=manifest.package,
        version_code=manifest.version_code,
        version_name=manifest.version_name,
        bytes=file.stat().st_size,
    )
    if as_json:
        put_json(packed)
        return
    put(f"{file}: {packed.package} {packed.version_name} ({packed.version_code})")


@simphone.command(
    "faults",
    epilog="""\b
Examples:
  echelon simphone faults
  echelon simphone start --fault "tap_dropped:at=input tap*,skip=3,times=2"
  echelon simphone start --fault "popup:at=input*,text=Update available"

\b
A fault is NAME or NAME:key=value,…
  at=GLOB    what it acts on: a command line, "sync:send /sdcard/a.txt", "connect"  [*]
  skip=N     so many matches pass before it acts  [0]
  times=N    it acts so often; 0 is always  [1]
  seconds=N, bytes=N, text=T   where its description says so
""",
)
@options.as_json
@options.verbose
def list_faults(as_json: bool) -> None:
    """List what can go wrong on demand, for --fault."""
    from echelon.output.simphone import FaultRow
    from simphone.faults import FAULTS

    if as_json:
        put_json([FaultRow(name=name, description=said) for name, said in FAULTS.items()])
        return
    put_table(["fault", "what it does"], [[name, said] for name, said in FAULTS.items()])
