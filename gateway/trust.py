"""What `./echelon.yaml` may say: it lies in a folder that others may have written, a cloned repository for example.

It may choose and tighten. What would start programs, open addresses, send requests elsewhere or lift rules is refused
there: it belongs into the home's configuration, or into a file that the user names with `--config`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gateway.errors import ConfigError

Values = Mapping[str, Any]
# The programs of `loop.conditions` are not among these: whoever starts a session in a folder has its tests, its
# Makefile and its package.json run, so that a command there starts nothing that the folder could not start anyway.
_REFUSED = (
    ("tools", "mcp_servers"),
    ("research", "allow_hosts"),
    ("research", "searxng_url"),
    ("serve",),
    ("phone",),
    ("loop", "agent"),
    ("loop", "agent_env"),
    ("loop", "notify"),
)
_RULES = ("deny", "ask")  # which add up; `allow` would lift them


def check(place: str, values: Values, home: Path, folder: Path) -> None:
    """Raises ConfigError, with the key, where the folder's file says more than it may."""
    for key in _loosening(values, folder):
        raise ConfigError(
            f"{place}: {key} is not taken from a folder, which others may have written",
            hint=f"put it into {home / 'config.yaml'}, or name the file: --config {place}",
        )


def _loosening(values: Values, folder: Path) -> Iterator[str]:
    for path in _REFUSED:
        if _at(values, path) is not None:
            yield ".".join(path)
    policy = _at(values, ("tools", "policy")) or {}
    yield from (f"tools.policy.{tool}.allow" for tool, rules in policy.items() if rules and rules.get("allow"))
    base = values.get("api_base")
    if base is not None and not _is_loopback(str(base)):  # keys of the environment would be sent there
        yield "api_base"
    for key in ("adb_server", "serial"):  # what is typed, passwords too, would go to a stranger's phone
        address = _at(values, ("device", key))
        if address is not None and ":" in str(address) and not _is_loopback(f"//{address}"):
            yield f"device.{key}"
    workspace = values.get("workspace")
    if workspace is not None and not (folder / str(workspace)).resolve().is_relative_to(folder.resolve()):
        yield "workspace"


def united(merged: dict[str, Any], folder: Values, home: Values) -> dict[str, Any]:
    """What was merged before the home's configuration, with that one's rules added to those that the folder's gives:
    a list of a folder does not replace the user's own."""
    tools = dict(merged.get("tools") or {})
    for key in ("deny", "approve"):
        mine = _at(folder, ("tools", key))
        if mine is not None and tools.get(key) == mine:
            tools[key] = _both(mine, _at(home, ("tools", key)))
    policy = dict(tools.get("policy") or {})
    for name, rules in (_at(folder, ("tools", "policy")) or {}).items():
        added = {
            kind: _both(rules[kind], _at(home, ("tools", "policy", name, kind)))
            for kind in _RULES
            if rules.get(kind) is not None and policy[name].get(kind) == rules[kind]
        }
        policy[name] = {**policy[name], **added}
    changed = {**tools, "policy": policy} if policy else tools
    merged = {**merged, "tools": changed} if changed else merged
    mine = _at(folder, ("loop", "protect"))
    if mine is not None and _at(merged, ("loop", "protect")) == mine:
        protect = _both(mine, _at(home, ("loop", "protect")))
        merged = {**merged, "loop": {**merged["loop"], "protect": protect}}
    return merged


def _both(mine: list[str], others: object) -> list[str]:
    return list(dict.fromkeys([*mine, *(others if isinstance(others, list) else ())]))


def _at(values: Values, path: tuple[str, ...]) -> Any:
    """The value at a path of keys, None where there is none."""
    found: Any = values
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
