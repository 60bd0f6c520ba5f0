"""The doctor's checks. Each looks at one thing, and never raises."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gateway import Settings
from gateway.errors import ConfigError, EchelonError, ModelError

Status = Literal["ok", "warn", "fail"]

DISK_WARN = 2 << 30  # bytes: the default local model and room to work
DISK_FAIL = 100 << 20
PYTHON_DOCS = Path("/usr/share/doc/python3-doc/html")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Check:
    """`advice` says what to do where the status is not ok; `exit_code` is the doctor's where it is fail."""

    name: str
    status: Status
    detail: str
    advice: str = ""
    exit_code: int = 1


def every_check(given: Mapping[str, str | None], config_file: Path | None) -> Iterator[Check]:
    """All of them, with the options `given`; the rest uses the defaults where the configuration is wrong."""
    try:
        settings = Settings.load(given, config_file=config_file)
        yield Check("configuration", "ok", f"home {settings.home}, workspace {settings.workspace}")
    except EchelonError as error:
        settings = Settings()
        yield Check("configuration", "fail", str(error), error.hint or "mend that file", ConfigError.exit_code)
    yield database(settings)
    yield disk(settings)
    yield from models(settings)
    yield patterns(settings)
    yield research(settings)
    yield from tools(settings)
    yield from mcp_servers(settings)
    yield adb(settings)
    yield chromium()


def database(settings: Settings) -> Check:
    import sqlite3

    path = settings.home / "echelon.db"
    if not path.exists():
        return Check("database", "ok", f"{path} is made by the first run")
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=TIMEOUT_S)
        try:
            said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            count = db.execute("SELECT count(*) FROM runs").fetchone()[0]
        finally:
            db.close()
    except sqlite3.Error as error:
        said, count = str(error), 0
    if said != "ok":
        return Check("database", "fail", f"{path}: {said}", "move it away: a new one is made, turns/ is kept")
    return Check("database", "ok", f"{path}, {count:,} runs, {path.stat().st_size / 1e6:,.1f} MB")


def disk(settings: Settings) -> Check:
    folder = settings.home
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        return Check("disk", "fail", f"{folder} cannot be written to", "set ECHELON_HOME to a folder of your own")
    free = shutil.disk_usage(folder).free
    told = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < DISK_FAIL:
        return Check("disk", "fail", told, "free some space, or set ECHELON_HOME to a larger disk")
    if free < DISK_WARN:
        return Check("disk", "warn", told, "a local model needs up to 1.4 GB")
    return Check("disk", "ok", told)


def models(settings: Settings) -> Iterator[Check]:
    """Every model that a role would use."""
    from echelon.choosing import DEFAULT, HOW
    from gateway.gateway import ROLES
    from gateway.llm.local.catalog import PREFIX
    from gateway.llm.providers import SCRIPTED

    named = [settings.model_for(role) for role in ROLES]  # type: ignore[arg-type]
    for name in dict.fromkeys(name or DEFAULT for name in named):
        if name.startswith(PREFIX):
            yield _local(name, settings, "" if name in named else f"the default: {HOW}")
        elif name.startswith(SCRIPTED):
            yield _scripted(name.removeprefix(SCRIPTED))
        elif settings.api_base:
            yield _served(name, settings)
        else:
            yield _provider(name)


def _local(name: str, settings: Settings, why: str) -> Check:
    from importlib.util import find_spec

    from gateway.llm.local import files
    from gateway.llm.local.catalog import find
    from gateway.llm.local.launcher import running

    told = f"{name} ({why})" if why else name
    try:
        model = find(name)
        if not files.is_installed(model, settings.home):
            return _model_fails(f"{told} is not installed", f"echelon models pull {model.name}")
        if find_spec("xllamacpp") is None:
            return _model_fails(f"{told}: xllamacpp is missing", "pip install 'echelon-gateway[local]'")
        state = "running" if running(name, settings.home) else "starts when it is needed"
    except (EchelonError, OSError) as error:
        return _model_fails(f"{told}: {error}", getattr(error, "hint", ""))
    return Check("model", "ok", f"{told}: installed, {state}")


def _scripted(file: str) -> Check:
    from gateway.llm.scripted import ScriptedModel

    try:
        ScriptedModel(Path(file))
    except ConfigError as error:
        return _model_fails(str(error), error.hint or "mend the script")
    return Check("model", "warn", f"answers come from the script {file}", "choose a model: --model, or ECHELON_MODEL")


def _served(name: str, settings: Settings) -> Check:
    """An OpenAI-compatible server says which models it has."""
    import httpx

    from gateway.llm.endpoint import Endpoint

    place = Endpoint(name, settings.api_base).place
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(f"{str(settings.api_base).rstrip('/')}/models", headers=headers, timeout=TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _model_fails(f"{name}: {place} cannot be reached: {error}", "start the server, or mend api_base")
    if answer.status_code in (401, 403):
        return _model_fails(f"{name}: {place} refuses the key ({answer.status_code})", "set ECHELON_API_KEY")
    if answer.status_code >= 400:
        return Check("model", "warn", f"{name}: {place} answers {answer.status_code} to /models", "try it with a run")
    return Check("model", "ok", f"{name}: {place} answers")


def _provider(name: str) -> Check:
    """A provider that litellm knows: whether its key is in the environment. Nothing is sent."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches prices from the network
    try:
        import litellm

        litellm.suppress_debug_info = True  # it prints advice to standard output
        litellm.get_llm_provider(name)
        missing = litellm.validate_environment(name)["missing_keys"]
    except Exception:  # whatever it raises for a name that it does not know
        advice = "give a litellm model string, such as openai/NAME or local/NAME"
        return _model_fails(f"{name} is no model of a known provider", advice)
    if missing and not os.environ.get("ECHELON_API_KEY"):
        return _model_fails(f"{name}: {', '.join(missing)} is not set", "set it, or ECHELON_API_KEY")
    return Check("model", "ok", f"{name}: the key is set; whether it is valid, a run tells")


def _model_fails(detail: str, advice: str) -> Check:
    return Check("model", "fail", detail, advice, ModelError.exit_code)


def patterns(settings: Settings) -> Check:
    """As `echelon patterns check` sees them."""
    from contextlib import closing

    from echelon.patterns import problems_of
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        files = [file.path for file in gateway.patterns()]
    try:
        problems, _ = problems_of(settings, files)  # the servers have a check of their own
    except EchelonError as error:
        return Check("patterns", "warn", str(error), error.hint or "echelon patterns check")
    if problems:
        return Check("patterns", "warn", "; ".join(str(each) for each in problems), "echelon patterns check")
    return Check("patterns", "ok", f"{len(files)} task types")


def research(settings: Settings) -> Check:
    """Where research looks, and whether that is there; nothing is asked of the web."""
    chosen = settings.research
    if chosen.corpus_dir is not None and chosen.provider != "searxng":
        if chosen.corpus_dir.expanduser().is_dir():
            from gateway.tools.research.corpus import NO_DOCUMENTS, Corpus

            if not Corpus(chosen.corpus_dir.expanduser(), settings.home / "corpus").has_documents():
                return Check("research", "warn", f"there are no documents in {chosen.corpus_dir}", NO_DOCUMENTS)
            return Check("research", "ok", f"documents in {chosen.corpus_dir}")
        return Check("research", "fail", f"{chosen.corpus_dir} is not a folder", "mend research.corpus_dir")
    if chosen.provider == "corpus":
        advice = "give a folder with --corpus or research.corpus_dir; for example: apt-get install python3-doc"
        return Check("research", "fail", "the provider is corpus, and no folder is named", advice)
    if chosen.provider == "searxng":
        if chosen.searxng_url:
            return Check("research", "ok", f"the web, by {harmless_url(chosen.searxng_url)}")
        return Check(
            "research", "fail", "the provider is searxng, and no instance is named", "set research.searxng_url"
        )
    documents = f"; Python's documentation: --corpus {PYTHON_DOCS}" if PYTHON_DOCS.is_dir() else ""
    return Check("research", "ok", f"the web, by ddgs{documents}")


def harmless_url(url: str) -> str:
    """Without user and password."""
    from urllib.parse import urlsplit

    return urlsplit(url)._replace(netloc=urlsplit(url).netloc.rpartition("@")[2]).geturl()


def tools(settings: Settings) -> Iterator[Check]:
    """Those of the user's own files and of installed packages: each one that cannot be used, else how many there
    are."""
    from contextlib import closing

    from gateway import Gateway
    from gateway.tools.policy import Policy

    with closing(Gateway(settings)) as gateway:
        registry = gateway.toolbox.registry
    for each in registry.left_out:
        yield Check("tools", "fail", each, "repair it, or take it away: its tools are missing")
    for each in (misspelt := Policy(settings.public()["tools"]).misspelt(registry.names())):
        yield Check("tools", "warn", each, "echelon tools list")
    if not registry.left_out and not misspelt:
        yield Check("tools", "ok", f"{len(list(registry))} tools")


def mcp_servers(settings: Settings) -> Iterator[Check]:
    """Each server of the configuration: it is started, or connected to, and asked for its tools."""
    yield from asyncio.run(_mcp_servers(settings))


async def _mcp_servers(settings: Settings) -> list[Check]:
    """All at once: one that does not answer is waited for long."""
    return await asyncio.gather(*(_mcp_server(name, settings) for name in settings.tools.mcp_servers))


async def _mcp_server(name: str, settings: Settings) -> Check:
    from gateway.errors import ToolError
    from gateway.redact import redactor
    from gateway.tools.mcp.servers import Servers
    from gateway.tools.mcp.site import address

    config = settings.tools.mcp_servers[name]
    servers = Servers({name: config}, settings.home, redactor(settings, os.environ))
    try:
        offered = await servers.ask(name)
    except ToolError as error:
        return Check("mcp", "fail", str(error), error.hint)
    finally:
        await servers.close()
    place = config.command if config.url is None else address(config.url)
    count = len(offered.tools)
    told = f"{name}: {place} offers {count} tool{'' if count == 1 else 's'}"
    if offered.left_out:
        return Check("mcp", "warn", f"{told}; left out: {'; '.join(offered.left_out)}", "tell whoever makes the server")
    return Check("mcp", "ok", told)


def adb(settings: Settings) -> Check:
    """A server that runs is asked for its devices; none is started for this."""
    from gateway.errors import AdbMissing, DeviceError
    from gateway.phone import adb, devices
    from gateway.phone.deadline import Deadline

    server = adb.AdbServer(settings.device.adb_server, start=False)
    deadline = Deadline(TIMEOUT_S, "asking the adb server")
    try:
        told = f"version 1.0.{server.version(deadline)} serves at {server.address}"
        found = devices.listed(server, deadline)
    except AdbMissing:
        try:
            return Check("adb", "ok", f"{adb.program()}; no server runs: one is started when a phone is used")
        except AdbMissing as error:
            return Check("adb", "warn", "not found: only needed for phones", error.hint)
    except DeviceError as error:
        return Check("adb", "warn", str(error), error.hint or "mai-phone doctor")
    told = f"{told}; devices: {', '.join(f'{each.serial} ({each.state})' for each in found) or 'none'}"
    if any(not each.usable for each in found):
        return Check("adb", "warn", told, "mai-phone devices says what to do about each")
    return Check("adb", "ok", told)


def chromium() -> Check:
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        return Check("chromium", "warn", "not found: only needed for simulated phones", "apt-get install chromium")
    return Check("chromium", "ok", found)
