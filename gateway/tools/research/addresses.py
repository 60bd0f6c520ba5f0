"""Which addresses may be connected to: public ones, and those of the hosts that the configuration names.

The networks are those of IANA's registries of special-purpose addresses (RFC 6890), not Python's idea of them, which
differs from version to version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

from gateway.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from yarl import URL

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]+", re.IGNORECASE)
_V4 = {
    IPv4Network(network): kind
    for network, kind in {
        "0.0.0.0/8": "an unspecified",
        "10.0.0.0/8": "a private",
        "100.64.0.0/10": "a carrier's private",
        "127.0.0.0/8": "a loopback",
        "168.63.129.16/32": "a cloud's metadata",  # public by its number, but it is the host that a machine runs on
        "169.254.0.0/16": "a link-local or metadata",
        "172.16.0.0/12": "a private",
        "192.0.0.0/24": "a reserved",
        "192.0.2.0/24": "a reserved",
        "192.88.99.0/24": "a reserved",
        "192.168.0.0/16": "a private",
        "198.18.0.0/15": "a reserved",
        "198.51.100.0/24": "a reserved",
        "203.0.113.0/24": "a reserved",
        "224.0.0.0/4": "a multicast",
        "240.0.0.0/4": "a reserved",
    }.items()
}
_V6 = {
    IPv6Network(network): kind
    for network, kind in {
        "::/128": "an unspecified",
        "::1/128": "a loopback",
        "64:ff9b:1::/48": "a private",
        "2001::/23": "a reserved",  # Teredo and other protocols
        "2001:db8::/32": "a reserved",
        "3fff::/20": "a reserved",
        "fc00::/7": "a private",
        "fe80::/10": "a link-local",
        "fec0::/10": "a private",
        "ff00::/8": "a multicast",
    }.items()
}
_V6_PUBLIC = IPv6Network("2000::/3")  # all that has been given out
_NAT64 = IPv6Network("64:ff9b::/96")


def not_public(address: str) -> str:
    """What kind of address it is ("a loopback"), or an empty text for one that anybody may reach.

    `address` is a numeric one as a socket is connected to; in any other notation it is "a misspelt" one.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "a misspelt"
    if isinstance(ip, IPv6Address):
        embedded = _embedded(ip)
        if embedded is None:
            kind = next((kind for network, kind in _V6.items() if ip in network), "")
            return kind or ("" if ip in _V6_PUBLIC else "a reserved")
        ip = embedded
    return next((kind for network, kind in _V4.items() if ip in network), "")


def _embedded(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a mapped, 6to4 or NAT64 address leads to."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


class NamedHosts:
    """The hosts of `research.allow_hosts`: `host`, with any port, or `host:port`."""

    def __init__(self, entries: Iterable[str]) -> None:
        from yarl import URL

        self._hosts: set[tuple[str, int | None]] = set()
        for each in entries:
            bare = each.count(":") > 1 and not each.startswith("[")  # an IPv6 address
            try:
                url = URL(f"http://[{each}]" if bare else f"http://{each}")
            except (ValueError, IndexError):
                url = URL()
            if set(each) & set("/?#@") or each.endswith(":") or not _is_host(_host(url)):
                raise ConfigError(f"research.allow_hosts: {each!r} is not a host", hint="write host, or host:port")
            self._hosts.add((_host(url), url.explicit_port))

    def __contains__(self, url: URL) -> bool:
        host = _host(url)
        return (host, url.port) in self._hosts or (host, None) in self._hosts


def target(address: str | URL, base: URL | None = None) -> URL:
    """The URL to be asked for, in one form, without its fragment; `address` may be relative to `base`. ToolError for
    one that is malformed, neither http nor https, or with a name or password in it: none are sent anywhere."""
    from yarl import URL

    shown = repr(str(address)[:200])
    try:
        str(address).encode()  # yarl would leave out what cannot be
        url = URL(address)
        url = (base.join(url) if base else url).with_fragment(None)
        usable = _is_host(_host(url)) and bool(url.port)
        if usable and url.raw_host != _host(url):
            url = url.with_host(_host(url))
    except (ValueError, IndexError):  # yarl has either for what it cannot read
        raise ToolError(f"{shown} is not the address of a page") from None
    if url.scheme not in ("http", "https"):
        hint = "give an address with http:// or https://"
        raise ToolError(f"{shown} is not the address of a page: only http and https are fetched", hint=hint)
    if not usable:
        raise ToolError(f"{shown} is not the address of a page")
    if url.raw_user is not None or url.raw_password is not None:
        raise ToolError(f"the address of {url.host} holds a user name, which is not sent", hint="leave it out")
    return url


def _host(url: URL) -> str:
    """Lower case, international names as they are looked up, no dot at the end."""
    return (url.raw_host or "").rstrip(".")


def _is_host(name: str) -> bool:
    return bool(re.fullmatch(r"[\w.-]{1,253}|[0-9a-f:.]+(%\w+)?", name, re.ASCII))


def addresses_in(text: str) -> list[str]:
    """The web addresses that a text names, each once, in its order."""
    return list(dict.fromkeys(_trimmed(each) for each in _ADDRESS.findall(text)))


def _trimmed(address: str) -> str:
    """Without the punctuation of the sentence that it stands in; a bracket stays where it was opened."""
    while address.endswith((".", ",", ";", ":", "!", "?", "*", "_")) or (
        address.endswith((")", "]")) and address.count(address[-1]) > address.count({")": "(", "]": "["}[address[-1]])
    ):
        address = address[:-1]
    return address
