from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.config import Settings
from gateway.errors import ConfigError


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refused(
    tmp_path: Path, environ: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None, text: str = ""
) -> str:
    """What is said about a configuration that is wrong."""
    written(tmp_path / "echelon.yaml", text)
    with pytest.raises(ConfigError) as caught:
        Settings.load(options, cwd=tmp_path, environ=environ or {})
    return str(caught.value)


def test_without_any_configuration_there_is_no_model_and_the_default_limits_hold(tmp_path: Path) -> None:
    settings = Settings.load(cwd=tmp_path, environ={})
    assert settings.model is None
    assert (settings.limits.max_steps, settings.limits.max_time_s, settings.limits.max_taps) == (100, 300, 50)
    assert settings.limits.max_tokens is None
    assert settings.validation
    assert settings.workspace == tmp_path


def test_each_place_overrides_the_weaker_ones(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environ = {"ECHELON_HOME": str(home)}

    def model(options: Mapping[str, Any] | None = None, file: Path | None = None) -> str | None:
        return Settings.load(options, config_file=file, cwd=tmp_path, environ=environ).model

    written(home / "config.yaml", "model: of-home")
    assert model() == "of-home"
    written(tmp_path / "echelon.yaml", "model: of-folder")
    assert model() == "of-folder"
    file = written(tmp_path / "given.yaml", "model: of-file")
    assert model(file=file) == "of-file"
    environ["ECHELON_MODEL"] = "of-environment"
    assert model(file=file) == "of-environment"
    assert model({"model": "of-option"}, file) == "of-option"


def test_places_are_merged_key_by_key_but_lists_are_taken_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    written(home / "config.yaml", "limits: {max_steps: 1, max_taps: 2}\ntools: {deny: [a, b]}")
    written(tmp_path / "echelon.yaml", "limits: {max_steps: 3}\ntools: {deny: [c]}")
    environ = {"ECHELON_HOME": str(home), "ECHELON_LIMITS__MAX_TIME_S": "4.5"}
    settings = Settings.load({"limits": {"max_tokens": 5}, "tools": {"deny": ["d"]}}, cwd=tmp_path, environ=environ)
    limits = settings.limits
    assert (limits.max_steps, limits.max_taps, limits.max_time_s, limits.max_tokens) == (3, 2, 4.5, 5)
    assert settings.tools.deny == ["d"]


def test_rules_of_the_folder_are_added_to_those_of_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rules = "{shell.run: {allow: [ls], deny: [rm*], ask: ['*']}, git.commit: {deny: ['*']}}"
    written(home / "config.yaml", f"tools: {{deny: [a, b], policy: {rules}}}")
    written(tmp_path / "echelon.yaml", "tools: {deny: [], approve: [c], policy: {shell.run: {deny: [dd*], ask: []}}}")
    tools = Settings.load(cwd=tmp_path, environ={"ECHELON_HOME": str(home)}).tools
    assert (tools.deny, tools.approve) == (["a", "b"], ["c"])
    assert tools.policy["shell.run"].model_dump() == {"allow": ["ls"], "deny": ["dd*", "rm*"], "ask": ["*"]}
    assert tools.policy["git.commit"].deny == ["*"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("tools: {mcp_servers: {x: {command: touch}}}", "tools.mcp_servers"),
        ("tools: {policy: {shell.run: {allow: ['*']}}}", "tools.policy.shell.run.allow"),
        ("research: {allow_hosts: [intranet]}", "research.allow_hosts"),
        ("research: {searxng_url: 'http://10.0.0.1'}", "research.searxng_url"),
        ("serve: {port: 80}", "serve"),
        ("loop: {agent: 'command:./mend.sh'}", "loop.agent"),
        ("loop: {agent_env: [AWS_SECRET_ACCESS_KEY]}", "loop.agent_env"),
        ("loop: {notify: {command: touch x}}", "loop.notify"),
        ("loop: {notify: {webhook: 'https://spies.example.org'}}", "loop.notify"),
        ("api_base: https://keys.example.org/v1", "api_base"),
        ("workspace: ..", "workspace"),
    ],
)
def test_a_folder_cannot_loosen_what_it_is_worked_on_with(tmp_path: Path, text: str, key: str) -> None:
    home = tmp_path / "home"
    folder = tmp_path / "cloned"
    folder.mkdir()
    written(folder / "echelon.yaml", text)
    environ = {"ECHELON_HOME": str(home)}
    with pytest.raises(ConfigError, match="which others may have written") as caught:
        Settings.load(cwd=folder, environ=environ)
    assert f"{key} is not taken" in str(caught.value) and "--config" in caught.value.hint
    Settings.load(cwd=folder, environ=environ, config_file=folder / "echelon.yaml")  # the user has named it
    Settings.load(cwd=folder, environ=environ, config_file=Path("echelon.yaml"))
    written(home / "config.yaml", text)
    (folder / "echelon.yaml").unlink()
    Settings.load(cwd=folder, environ=environ)


def test_a_folder_may_name_a_server_of_this_machine_and_a_part_of_itself(tmp_path: Path) -> None:
    written(tmp_path / "echelon.yaml", "api_base: http://127.0.0.1:8000/v1\nworkspace: src")
    settings = Settings.load(cwd=tmp_path, environ={"ECHELON_HOME": str(tmp_path / "home")})
    assert (settings.api_base, settings.workspace) == ("http://127.0.0.1:8000/v1", tmp_path / "src")


def test_a_folder_may_say_how_its_conditions_are_evaluated(tmp_path: Path) -> None:
    written(tmp_path / "echelon.yaml", "loop: {conditions: {linting_clean: {command: make lint, timeout_s: 60}}}")
    loop = Settings.load(cwd=tmp_path, environ={"ECHELON_HOME": str(tmp_path / "home")}).loop
    assert loop.conditions["linting_clean"].model_dump() == {"command": "make lint", "timeout_s": 60}


@pytest.mark.parametrize(("folder", "expected"), [("[src]", ["src", "tests"]), ("[]", ["tests"])])
def test_what_the_home_protects_stays_protected_whatever_the_folder_says(
    tmp_path: Path, folder: str, expected: list[str]
) -> None:
    home = tmp_path / "home"
    written(home / "config.yaml", "loop: {protect: [tests], patience: 2}")
    written(tmp_path / "echelon.yaml", f"loop: {{protect: {folder}}}")
    environ = {"ECHELON_HOME": str(home)}
    loop = Settings.load(cwd=tmp_path, environ=environ).loop
    assert (loop.protect, loop.patience) == (expected, 2)
    assert Settings.load({"loop": {"protect": ["docs"]}}, cwd=tmp_path, environ=environ).loop.protect == ["docs"]


def test_the_address_of_notices_is_a_secret(tmp_path: Path) -> None:
    address = "https://hooks.example.org/T0/B0/abcdef"
    settings = Settings.load(cwd=tmp_path, environ={"ECHELON_LOOP__NOTIFY__WEBHOOK": address})
    assert settings.loop.notify.webhook is not None and settings.loop.notify.webhook.get_secret_value() == address
    assert address in settings.secrets()
    assert address not in f"{settings.public()} {settings!r}" and "webhook" not in settings.public()["loop"]["notify"]


@pytest.mark.parametrize("name", ["mcpServers", "mcp_servers"])
def test_servers_at_the_top_are_told_where_they_belong(tmp_path: Path, name: str) -> None:
    assert "did you mean tools.mcp_servers?" in refused(tmp_path, text=f"{name}: {{time: {{command: x}}}}")


def test_an_option_that_was_not_given_overrides_nothing(tmp_path: Path) -> None:
    written(tmp_path / "echelon.yaml", "model: m\nlimits: {max_steps: 7}")
    settings = Settings.load({"model": None, "limits": {"max_steps": None}}, cwd=tmp_path, environ={})
    assert (settings.model, settings.limits.max_steps) == ("m", 7)


def test_the_environment_sets_lists_as_json_and_mappings_by_name(tmp_path: Path) -> None:
    environ = {
        "ECHELON_VALIDATE": "no",
        "ECHELON_TOOLS__APPROVE": '["shell.run"]',
        "ECHELON_TOOLS__MCP_SERVERS__TIME__COMMAND": "mcp-time",
        "ECHELON_MODELS__PLANNER": "p",
        "ECHELON_API_BASE": "",
    }
    settings = Settings.load(cwd=tmp_path, environ=environ)
    assert not settings.validation
    assert settings.tools.approve == ["shell.run"]
    assert settings.tools.mcp_servers["time"].command == "mcp-time"
    assert settings.models.planner == "p"
    assert settings.api_base is None, "an empty variable is as good as none"


def test_one_entry_may_be_completed_by_another_place(tmp_path: Path) -> None:
    written(tmp_path / "home/config.yaml", "tools: {mcp_servers: {time: {command: mcp-time}}}")
    environ = {"ECHELON_TOOLS__MCP_SERVERS__TIME__ENV": '{"ZONE": "UTC"}', "ECHELON_HOME": str(tmp_path / "home")}
    server = Settings.load(cwd=tmp_path, environ=environ).tools.mcp_servers["time"]
    assert (server.command, server.env["ZONE"].get_secret_value()) == ("mcp-time", "UTC")


def test_what_no_place_completes_is_missing(tmp_path: Path) -> None:
    message = refused(tmp_path, options={"tools": {"mcp_servers": {"time": {"args": ["x"]}}}})
    assert "tools.mcp_servers.time.command is missing" in message


def test_a_role_without_a_model_uses_the_common_one() -> None:
    settings = Settings.load({"model": "common", "models": {"phone": "eyes"}}, environ={})
    assert settings.model_for("phone") == "eyes"
    assert settings.model_for("planner") == "common"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("modle: x", ["modle is not a setting", "did you mean model?"]),
        ("loop: {conditions: {x: {comand: make}}}", ["did you mean loop.conditions.x.command?"]),
        ("loop: {notify: {web: x}}", ["loop.notify.web is not a setting", "webhook"]),
        ("limits: {max_step: 3}", ["limits.max_step is not a setting", "did you mean limits.max_steps?"]),
        ("limits: {zzz: 3}", ["limits.zzz", "limits.max_time_s"]),
        ("tools: {mcp_servers: {t: {command: c, arg: []}}}", ["tools.mcp_servers.t.arg", "tools.mcp_servers.t.args"]),
        ("limits: {max_steps: many}", ["limits.max_steps", "expected integer"]),
        ("limits: {max_steps: 0}", ["limits.max_steps", "greater than or equal to 1"]),
        ("limits: 3", ["limits", "expected a mapping with max_steps"]),
        ("model: [a]", ["model", "expected string"]),
        ("validate: perhaps", ["validate", "expected boolean"]),
        ("research: {allow_hosts: [a, 'http://b:1']}", ["research.allow_hosts.1", "host or host:port", "http://b:1"]),
        ("research: {allow_hosts: ['b:1/']}", ["research.allow_hosts.0", "without http:// and path"]),
        ("research: {allow_hosts: ['b:99999']}", ["research.allow_hosts.0", "host or host:port"]),
        ("research: {allow_hosts: ['']}", ["research.allow_hosts.0", "host or host:port"]),
        ("research: {provider: bing}", ["research.provider", "'ddgs', 'searxng' or 'corpus'"]),
        ("- a\n- b", ["expected keys and values"]),
        ("model: x\n  limits: [", [":2: not valid YAML"]),
        ("model: \x07", ["not valid YAML"]),
    ],
)
def test_an_error_names_the_file_the_key_and_what_was_expected(tmp_path: Path, text: str, named: list[str]) -> None:
    message = refused(tmp_path, text=text)
    assert str(tmp_path / "echelon.yaml") in message
    for part in named:
        assert part in message
    assert len(message.splitlines()) <= 2


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("ECHELON_MODLE", "x", ["ECHELON_MODLE is not a setting", "did you mean ECHELON_MODEL?"]),
        ("ECHELON_HOEM", "x", ["did you mean ECHELON_HOME?"]),
        ("ECHELON_LIMITS__MAX_STEP", "3", ["did you mean ECHELON_LIMITS__MAX_STEPS?"]),
        ("ECHELON_LIMITS__MAX_STEPS", "many", ["ECHELON_LIMITS__MAX_STEPS: expected integer"]),
        ("ECHELON_TOOLS__DENY", "shell.run", ["tools", "JSON"]),
    ],
)
def test_an_error_in_the_environment_names_the_variable(
    tmp_path: Path, name: str, value: str, named: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.load(cwd=tmp_path, environ={name: value})
    message = f"{caught.value} {caught.value.hint}"
    assert "the environment" in message
    for part in named:
        assert part in message


def test_an_error_stands_even_where_a_stronger_place_overrides_the_value(tmp_path: Path) -> None:
    message = refused(tmp_path, {"ECHELON_LIMITS__MAX_STEPS": "5"}, text="limits: {max_steps: many}")
    assert str(tmp_path / "echelon.yaml") in message


def test_a_configuration_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: there is no such file"):
        Settings.load(config_file=Path("nowhere.yaml"), cwd=tmp_path, environ={})


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "echelon.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        Settings.load(cwd=tmp_path, environ={})


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    written(tmp_path / "echelon.yaml", "# model: x\n")
    assert Settings.load(cwd=tmp_path, environ={}).model is None


def test_secrets_are_in_no_dump_and_no_error(tmp_path: Path) -> None:
    options = {
        "api_key": "sesame-open-1",
        "tools": {"mcp_servers": {"bank": {"command": "c", "env": {"PIN": "sesame-open-2"}}}},
    }
    settings = Settings.load(options, cwd=tmp_path, environ={})
    shown = f"{settings!r} {settings} {settings.public()} {settings.model_dump()} {settings.model_dump_json()}"
    assert "sesame" not in shown
    assert settings.secrets() == ["sesame-open-1", "sesame-open-2"]
    assert "12345678" not in refused(tmp_path, text="api_key: 12345678")


def test_what_is_pinned_can_be_loaded_again(tmp_path: Path) -> None:
    options = {"model": "m", "validate": False, "research": {"provider": "corpus", "corpus_dir": "docs"}}
    settings = Settings.load(options, cwd=tmp_path, environ={})
    pinned = written(tmp_path / "pinned.yaml", yaml.safe_dump(settings.public()))
    again = Settings.load(config_file=pinned, cwd=tmp_path / "elsewhere", environ={})
    assert again.public() == settings.public()


def test_paths_are_absolute_and_relative_to_the_working_folder(tmp_path: Path) -> None:
    environ = {"ECHELON_HOME": "state", "ECHELON_RESEARCH__CORPUS_DIR": "../docs"}
    settings = Settings.load({"workspace": "project"}, cwd=tmp_path, environ=environ)
    assert settings.workspace == tmp_path / "project"
    assert settings.home == tmp_path / "state"
    assert settings.research.corpus_dir == tmp_path.parent / "docs"


def test_the_state_is_kept_in_the_users_home_unless_told_otherwise(tmp_path: Path) -> None:
    assert Settings.load(cwd=tmp_path, environ={}).home == Path.home() / ".echelon"


def test_the_constructor_reads_neither_environment_nor_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHELON_MODEL", "of-environment")
    assert Settings().model is None


def test_a_loaded_configuration_cannot_be_changed() -> None:
    settings = Settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.model = "other"  # type: ignore[misc]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["model", "models", "limits", "tools", "research", "device", "workspace", "api_key", "validate"])


@given(st.dictionaries(keys | st.text(max_size=8), plain, max_size=4))
def test_whatever_stands_in_a_file_gives_settings_or_a_configuration_error(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    written(folder / "echelon.yaml", yaml.safe_dump(values))
    try:
        Settings.load(cwd=folder, environ={})
    except ConfigError as error:
        assert str(folder / "echelon.yaml") in str(error)


def test_hosts_are_named_in_every_form_that_the_fetcher_knows() -> None:
    from gateway.tools.research.addresses import NamedHosts

    hosts = ["Wiki.Local", "127.0.0.1:8080", "::1", "[fd00::1]:81", "bücher.example", "my_wiki", "fe80::1%eth0"]
    assert Settings.load({"research": {"allow_hosts": hosts}}, environ={}).research.allow_hosts == hosts
    NamedHosts(hosts)
