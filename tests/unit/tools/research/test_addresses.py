"""No address inside is taken for one outside, however it is written."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.research.addresses import NamedHosts, not_public, target

INSIDE = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
]  # fmt: skip
INSIDE_6 = [
    "::/128",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "100::/64",
    "64:ff9b:1::/48",
    "2001::/32",
]


def inside(network: str) -> st.SearchStrategy[IPv4Address]:
    within = IPv4Network(network)
    return st.integers(int(within[0]), int(within[-1])).map(IPv4Address)


def inside_6(network: str) -> st.SearchStrategy[IPv6Address]:
    within = IPv6Network(network)
    return st.integers(int(within[0]), int(within[-1])).map(IPv6Address)


private = st.sampled_from(INSIDE).flatmap(inside)


@st.composite
def notations(draw: st.DrawFn) -> str:
    """An IPv4 address as inet_aton takes it: one to four parts, each decimal, octal or hexadecimal."""
    number = int(draw(private))
    parts = draw(st.integers(1, 4))
    values = [number >> 8 * (3 - at) & 0xFF for at in range(parts - 1)]
    values.append(number & (1 << 8 * (5 - parts)) - 1)
    forms = [draw(st.sampled_from(["{}", "0{:o}", "00{:o}", "{:#x}", "0X{:X}", "0x000{:x}"])) for _ in values]
    return ".".join(form.format(value) for form, value in zip(forms, values, strict=True))


@given(notations())
def test_no_private_address_passes_in_any_notation(written: str) -> None:
    """What a socket is given is judged, or what the system's own name look-up makes of the text."""
    assert not_public(written)
    assert not_public(socket.inet_ntoa(socket.inet_aton(written)))
    for *_, (address, *_) in socket.getaddrinfo(written, 80, socket.AF_INET, flags=socket.AI_NUMERICHOST):
        assert not_public(str(address))


@given(private, st.sampled_from(["::ffff:{0}", "64:ff9b::{0}", "::{0}", "::ffff:0:{0}", "2002:{1:04x}:{2:04x}::1"]))
def test_no_private_address_passes_inside_another(address: IPv4Address, form: str) -> None:
    number = int(address)
    written = form.format(address, number >> 16, number & 0xFFFF)
    assert not_public(written)
    assert not_public(ip_address(written).exploded)
    assert not_public(f"{ip_address(written)}%1")


@given(st.sampled_from(INSIDE_6).flatmap(inside_6))
def test_no_private_ipv6_address_passes(address: IPv6Address) -> None:
    assert not_public(str(address)) and not_public(address.exploded)


@given(st.text(max_size=30))
def test_what_is_no_address_does_not_pass(text: str) -> None:
    try:
        ip_address(text)
    except ValueError:
        assert not_public(text)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_python_knows_no_reason_against_what_passes(address: IPv4Address | IPv6Address) -> None:
    """Python's own judgement is the second opinion, for what leads nowhere else."""
    if not not_public(str(address)) and not (isinstance(address, IPv6Address) and address.sixtofour):
        nat64 = address in IPv6Network("64:ff9b::/96")
        assert nat64 or (address.is_global and not address.is_multicast)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_public_addresses_pass(address: str) -> None:
    assert not_public(address) == ""


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("HTTP://Example.COM", "http://example.com"),
        ("http://example.com/a/../b?c=d#e", "http://example.com/b?c=d"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://①.①.①.①/", "http://1.1.1.1/"),
        ("http://example.com./x", "http://example.com/x"),
        ("https://bücher.example。:8443/", "https://xn--bcher-kva.example:8443/"),
        ("http://example.com../", "http://example.com/"),
    ],
)
def test_an_address_has_one_form(written: str, url: str) -> None:
    assert str(target(written)) == url


@pytest.mark.parametrize(
    "written",
    [
        "", "x", "/x", "ftp://example.com/", "file:///etc/passwd", "http://", "http://[::1", "http://example.com:0/",
        "http://example.com:99999/", "http://user@example.com/", "http://user:word@example.com/", "http://:w@a.com/",
        "http://a.com\\@b.com/", "http://a b.com/", "http://a%00.com/", "http://ex%61mple.com/", "http://\udcff.com/",
        "http://a.com/\udcff", "http://:T]a80[2@", "http://.../",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_said_to_be_none(written: str) -> None:
    with pytest.raises(ToolError) as caught:
        target(written)
    str(caught.value).encode()  # can be written down


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_tool_error(text: str) -> None:
    for written in (text, f"http://{text}", f"http://a.example/{text}"):
        try:
            assert target(written).scheme in ("http", "https")
        except ToolError as error:
            str(error).encode()


def test_a_host_is_named_with_or_without_its_port() -> None:
    named = NamedHosts(["Wiki.Local", "127.0.0.1:8080", "::1", "[fd00::1]:81"])
    for url in ("http://wiki.local/", "https://WIKI.local.:99/", "http://127.0.0.1:8080/", "http://[::1]:5/",
                "http://[fd00::1]:81/"):  # fmt: skip
        assert target(url) in named
    for url in ("http://127.0.0.1/", "http://127.1:8080/", "http://a.wiki.local/", "http://[fd00::1]/"):
        assert target(url) not in named
