"""The configuration: what a person may set, where it is read from, and what is said when it is wrong.

Precedence: options > environment (`ECHELON_LIMITS__MAX_STEPS`) > `--config` > `./echelon.yaml` >
`$ECHELON_HOME/config.yaml` > defaults. Each of these is checked by itself, so that an error names the place where it
stands, overridden or not. What `./echelon.yaml` may say is bounded: see `gateway.trust`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from gateway import trust
from gateway.errors import ConfigError

Role = Literal["planner", "executor", "responder", "phone"]
Values = dict[str, Any]

PREFIX = "ECHELON_"
HOME = "ECHELON_HOME"
ENVIRONMENT = "the environment"
FOLDER_FILE = "echelon.yaml"  # of the current folder


class Section(BaseModel):
    """Keys that belong together. Unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Models(Section):
    """A model per role; a role without one uses `model`."""

    planner: str | None = None
    executor: str | None = None
    responder: str | None = None
    phone: str | None = None


class Limits(Section):
    """Budgets of a run; None is no limit. A step is one decision of an agent."""

    max_steps: int = Field(100, ge=1)
    max_time_s: float = Field(300, gt=0)
    max_taps: int = Field(50, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    max_cost_usd: float | None = Field(None, ge=0)


class McpServer(Section):
    """An MCP server: a `command` that is started as a subprocess and spoken to over its standard input and output, or
    the `url` of one that speaks streamable HTTP. `deadline_s` bounds each call of its tools."""

    command: str | None = None
    args: list[str] = []
    env: dict[str, SecretStr] = Field({}, exclude=True)
    cwd: Path | None = None
    url: str | None = None
    headers: dict[str, SecretStr] = Field({}, exclude=True)
    deadline_s: float = Field(60, gt=0)


class Rules(Section):
    """What a tool's calls may do, by patterns of their subject (`pytest*`) or of an argument (`path=docs/*`): `deny`
    goes before `allow`, and `allow` before `ask`."""

    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class Tools(Section):
    """Permissions by tool name (`shell.run`, `file.*`): `approve` asks the person first, `deny` takes the tool away,
    and `policy` says which calls of a tool are allowed, asked about or denied."""

    approve: list[str] = []
    deny: list[str] = []
    policy: dict[str, Rules] = {}
    mcp_servers: dict[str, McpServer] = {}


def _host(entry: str) -> str:
    """`host`, `host:port`, or an IPv6 address, with a port in brackets."""
    found = re.fullmatch(r"([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?|[\da-f]*:[\da-f:.]*:[\da-f:.]*(%\w+)?", entry, re.I)
    if not found or int((found[2] or ":80")[1:]) not in range(1, 65_536):
        raise PydanticCustomError("host", "host or host:port, without http:// and path, not {entry}", {"entry": entry})
    return entry


class Research(Section):
    """Where `internet.research` looks: the web, a SearXNG instance, or a folder of documents. Pages are fetched from
    public addresses only, and from `allow_hosts` (`wiki.local`, `127.0.0.1:8080`)."""

    provider: Literal["ddgs", "searxng", "corpus"] = "ddgs"
    searxng_url: str | None = None
    corpus_dir: Path | None = None
    allow_hosts: list[Annotated[str, AfterValidator(_host)]] = []
    max_pages: int = Field(6, ge=1, le=100)  # that one search visits
    page_timeout_s: float = Field(15, gt=0)
    respect_robots: bool = True


class Device(Section):
    """The phone to use: None takes the only one there is. `adb_server` is host:port."""

    serial: str | None = None
    mode: Literal["auto", "usb", "wifi"] = "auto"
    adb_server: str = "localhost:5037"


class Phone(Section):
    """Care on phones. `languages` (`de`, `zh`) are those of the apps: with none, all that ship, and `consequential` are
    further words, with `*`, of what cannot be taken back; `confirm` asks a person before each. `images` shows the model
    the screenshot, too: None where it is known to see."""

    languages: list[str] = []
    consequential: list[str] = []
    confirm: bool = False
    images: bool | None = None


class Serve(Section):
    """Where `echelon serve` listens. `tokens` are bearer tokens by the name of their owner, each with a home of its own
    (`users/<name>`); needed as soon as it listens on anything but loopback."""

    host: str = "127.0.0.1"
    port: int = Field(8700, ge=0, le=65535)
    tokens: dict[str, SecretStr] = Field({}, exclude=True)


class Condition(Section):
    """How an exit condition is evaluated where the workspace is not to say it: a program with its arguments."""

    command: str | None = None
    timeout_s: float = Field(600, gt=0)


class Notices(Section):
    """Who is told when a session warns, asks or ends: a program, which gets JSON on its standard input, and an address,
    which gets it by POST. The address often is a secret by itself."""

    command: str | None = None
    webhook: SecretStr | None = Field(None, exclude=True)


class Loop(Section):
    """Autonomous sessions. `agent` is turn, phone, or `command:` with a program and its arguments, which gets the
    variables of the environment that `agent_env` names. A checkpoint is made every `checkpoint_every` iterations, and
    every `checkpoint_s` seconds. After `patience` iterations that change nothing, or that all fail, a session ends.
    `protect` are files and folders that no iteration may change."""

    agent: str = "turn"
    agent_env: list[str] = []
    max_iterations: int = Field(50, ge=1)
    iteration_timeout_s: float = Field(1800, gt=0)
    checkpoint_every: int = Field(5, ge=1)
    checkpoint_s: float | None = Field(None, gt=0)
    patience: int = Field(3, ge=1)
    conditions: dict[str, Condition] = {}
    protect: list[str] = []
    notify: Notices = Notices()


class Settings(BaseSettings):
    """The configuration of one process: `load` reads it, the constructor takes values and reads nothing."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix=PREFIX,
        env_prefix_target="all",
        env_nested_delimiter="__",
    )

    model: str | None = None  # a litellm model string, or local/NAME; None is decided when a model is first needed
    api_base: str | None = None
    api_key: SecretStr | None = Field(None, exclude=True)
    models: Models = Models()
    workspace: Path = Path()
    limits: Limits = Limits()
    validation: bool = Field(True, alias="validate")  # BaseModel has a method of that name
    tools: Tools = Tools()
    research: Research = Research()
    device: Device = Device()
    phone: Phone = Phone()
    serve: Serve = Serve()
    loop: Loop = Loop()

    _home: Path = PrivateAttr(default_factory=lambda: home_of(os.environ))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @classmethod
    def load(
        cls,
        overrides: Mapping[str, Any] | None = None,
        config_file: Path | None = None,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        more: Mapping[str, Values] | None = None,
    ) -> Self:
        """Read every place that a setting can come from; ConfigError names the place, the key and what was expected.

        `overrides` are the options, nested like the file; one that is None was not given. `cwd` and `environ` are the
        process's own unless told otherwise. Relative paths, also those in files, are relative to `cwd`. `more` are
        further places of the user's own, by name, weaker than the folder's file and stronger than the home's.
        """
        cwd = (cwd or Path.cwd()).absolute()
        environ = os.environ if environ is None else environ
        home = home_of(environ, cwd)
        merged: Values = {}
        folder: Values = {}
        for place, values, of_folder in cls._layers(overrides or {}, config_file, cwd, environ, home, more or {}):
            cls._check(place, values)
            if of_folder:
                folder = values
                trust.check(place, values, home, cwd)
            elif folder:  # only the user's own come after it
                merged = trust.united(merged, folder, values)
            merged = _merge(merged, values)
        settings = cls._check("the configuration", merged, whole=True)
        corpus = settings.research.corpus_dir
        settings = settings.model_copy(
            update={
                "workspace": _absolute(settings.workspace, cwd),
                "research": settings.research.model_copy(update={"corpus_dir": corpus and _absolute(corpus, cwd)}),
            }
        )
        settings._home = home
        return settings

    @property
    def home(self) -> Path:
        """Where the state is kept (`$ECHELON_HOME`), absolute. It need not exist yet."""
        return self._home

    def for_user(self, name: str) -> Self:
        """The same settings with the home of a user: what one user asks, another does not see."""
        theirs = self.model_copy()
        theirs._home = self._home / "users" / name
        return theirs

    def model_for(self, role: Role) -> str | None:
        """The model of a role, else the one for all, else None."""
        chosen: str | None = getattr(self.models, role)
        return chosen or self.model

    def public(self) -> Values:
        """Plain data without secrets, as the file would have it: what a run pins and tools are told."""
        return self.model_dump(mode="json", by_alias=True)

    def secrets(self) -> list[str]:
        """The values that must not be written down."""
        hidden = [each for each in (self.api_key, self.loop.notify.webhook) if each]
        hidden += self.serve.tokens.values()
        for server in self.tools.mcp_servers.values():
            hidden += [*server.env.values(), *server.headers.values()]
        return [secret.get_secret_value() for secret in hidden]

    @classmethod
    def _layers(
        cls,
        overrides: Mapping[str, Any],
        config_file: Path | None,
        cwd: Path,
        environ: Mapping[str, str],
        home: Path,
        more: Mapping[str, Values],
    ) -> Iterator[tuple[str, Values, bool]]:
        """Each place, what it says, and whether it is the folder's own file; the strongest first."""
        yield "the options", _given(overrides), False
        yield ENVIRONMENT, cls._from_environment(environ), False
        if config_file is not None:
            path = _absolute(config_file, cwd)
            if not path.is_file():
                raise ConfigError(f"{config_file}: there is no such file", hint="check the path given with --config")
            yield str(config_file), read(path), False
        for path in (cwd / FOLDER_FILE, home / "config.yaml"):
            if path.name != FOLDER_FILE:
                yield from ((place, values, False) for place, values in more.items())
            named = config_file is not None and path == _absolute(config_file, cwd)  # trusted by that, and read already
            if path.is_file() and not named:
                yield str(path), read(path), path.name == FOLDER_FILE

    @classmethod
    def _from_environment(cls, environ: Mapping[str, str]) -> Values:
        """What the variables say; an empty one says nothing."""
        ours = {
            name.lower(): value for name, value in environ.items() if name.startswith(PREFIX) and name != HOME and value
        }
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in ours:
            key = name.removeprefix(PREFIX.lower()).split("__")[0]
            if key not in known:
                names = [_variable((each,)) for each in known] + [HOME]
                raise _unknown(ENVIRONMENT, _variable((key,)), names, cutoff=0.8)
        source = EnvSettingsSource(cls)
        source.env_vars = ours
        try:
            return source()
        except SettingsError as error:
            raise ConfigError(f"{ENVIRONMENT}: {error}", hint="lists and mappings are written as JSON there") from None

    @classmethod
    def _check(cls, place: str, values: Values, *, whole: bool = False) -> Self:
        """The settings that `values` give. What is missing is an error only in the whole: another place may have it."""
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            for problem in error.errors(include_url=False, include_input=False):
                if whole or problem["type"] != "missing":
                    loc = tuple(str(part) for part in problem["loc"])
                    raise explained(cls, place, loc, problem["type"], problem["msg"]) from None
            return cls()
        for name, server in settings.tools.mcp_servers.items() if whole else ():
            if (server.command is None) == (server.url is None):
                said = ".command is missing, or url" if server.command is None else " has a command and a url"
                raise ConfigError(f"{place}: tools.mcp_servers.{name}{said}", hint="give it one of the two")
        return settings


def explained(model: type[BaseModel], place: str, loc: tuple[str, ...], kind: str, message: str) -> ConfigError:
    """What pydantic says about a key of a `model` of sections, in words: the place, the key, what was expected."""
    write = _variable if place == ENVIRONMENT else ".".join
    if kind == "extra_forbidden":
        known = [write((*loc[:-1], key)) for key in _keys(model, loc[:-1])]
        return _unknown(place, write(loc), known, elsewhere=[write(each) for each in _same(model, loc)])
    if kind == "missing":
        return ConfigError(f"{place}: {write(loc)} is missing")
    if kind == "model_type":
        return ConfigError(f"{place}: {write(loc)}: expected a mapping with {', '.join(_keys(model, loc))}")
    expected = message.removeprefix("Input should be ").removeprefix("a valid ")
    return ConfigError(f"{place}: {write(loc)}: expected {expected}")


def home_of(environ: Mapping[str, str], cwd: Path | None = None) -> Path:
    """The folder of the state: `$ECHELON_HOME`, else `~/.echelon`."""
    return _absolute(Path(environ.get(HOME) or "~/.echelon"), cwd or Path.cwd())


def _absolute(path: Path, cwd: Path) -> Path:
    return Path(os.path.normpath(cwd / path.expanduser()))


def _variable(loc: tuple[str, ...]) -> str:
    return PREFIX + "__".join(loc).upper()


def read(path: Path) -> Values:
    """The mapping in a YAML file; an empty file is an empty one."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected keys and values, such as `model: local/qwen2.5-coder-1.5b`")
    return {str(key): value for key, value in values.items()}


def _given(overrides: Mapping[str, Any]) -> Values:
    return {
        key: _given(value) if isinstance(value, Mapping) else value
        for key, value in overrides.items()
        if value is not None
    }


def _merge(strong: Values, weak: Values) -> Values:
    """Both, `strong` first; mappings are merged, everything else is taken whole."""
    merged = weak | strong
    for key in strong.keys() & weak.keys():
        if isinstance(strong[key], dict) and isinstance(weak[key], dict):
            merged[key] = _merge(strong[key], weak[key])
    return merged


_BY_NAME: dict[str, type[Section]] = {"mcp_servers": McpServer, "policy": Rules, "conditions": Condition}


def _keys(model: type[BaseModel], loc: tuple[str, ...]) -> list[str]:
    """The keys that are known at `loc`."""
    if loc and loc[0] in _BY_NAME:
        return list(_BY_NAME[loc[0]].model_fields)
    if not loc:
        return [field.alias or name for name, field in model.model_fields.items()]
    section = model.model_fields[loc[0]].annotation
    assert isinstance(section, type) and issubclass(section, BaseModel)
    return _keys(section, loc[1:])


def _same(model: type[BaseModel], loc: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where a setting of that name is that stands at the top: `mcpServers` is `tools.mcp_servers`."""
    for section, field in model.model_fields.items() if len(loc) == 1 else ():
        inner = field.annotation
        for key in inner.model_fields if isinstance(inner, type) and issubclass(inner, BaseModel) else ():
            if key.replace("_", "") == loc[0].replace("_", "").lower():
                yield section, key


def _unknown(
    place: str, name: str, known: list[str], cutoff: float = 0.6, elsewhere: Sequence[str] = ()
) -> ConfigError:
    near = [*elsewhere, *difflib.get_close_matches(name, known, n=1, cutoff=cutoff)]
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return ConfigError(f"{place}: {name} is not a setting; {hint}")
