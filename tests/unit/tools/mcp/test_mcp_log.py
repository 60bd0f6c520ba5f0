"""What a server writes to its standard error is kept without secrets, however it comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.config import McpServer, Settings
from gateway.redact import redactor
from gateway.tools.mcp.server import Server
from gateway.tools.mcp.trouble import KEPT, MAX_LINE, MAX_LOG, TAIL, Log

SECRET = "0123456789abcdef-heron-" * 4
HALF = len(SECRET) // 2
REDACT = redactor(Settings(), {"A_KEY": SECRET})


def logged(path: Path, *pieces: bytes) -> tuple[str, str]:
    """The file's text, and the last line as it was before the end."""
    log = Log(path / "s.log", REDACT)
    for each in pieces:
        log.feed(each)
    last = log.last
    log.close()
    return (path / "s.log").read_text(), last


def leaks(text: str) -> bool:
    return SECRET[:HALF] in text or SECRET[HALF:] in text


@pytest.mark.parametrize("before", [TAIL - HALF, 2 * TAIL - HALF, 4 * TAIL - HALF, KEPT, MAX_LINE - HALF])
def test_a_secret_across_a_cut_of_a_line_that_does_not_end_is_masked(tmp_path: Path, before: int) -> None:
    line = "x" * before + SECRET + "y" * (TAIL - HALF)
    text, _ = logged(tmp_path, line[: before + HALF].encode(), line[before + HALF :].encode())
    assert not leaks(text) and text.replace("\n", "") == line.replace(SECRET, "[redacted]")


def test_a_key_that_does_not_end_is_left_out_to_the_end_of_its_line(tmp_path: Path) -> None:
    pieces = [b"-----BEGIN PRIVATE KEY-----", *[b"MIIEow" * 1000] * 20, b"\nwell\n"]
    text, last = logged(tmp_path, *pieces)
    assert "MIIEow" not in text and text.endswith("well\n") and last == "well"


@settings(max_examples=10)
@given(st.integers(0, KEPT + len(SECRET)), st.booleans())
def test_the_end_of_a_flood_begins_with_no_half_of_a_secret(
    tmp_path_factory: pytest.TempPathFactory, after: int, ends: bool
) -> None:
    flood = [b"a complaint\n" * 5000] * (MAX_LOG // 60_000 + 2)
    end = ("z" * 50 + ("\n" if ends else " ")) * (after // 50 + 1)
    text, last = logged(tmp_path_factory.mktemp("log"), *flood, SECRET.encode() + end[:after].encode())
    assert not leaks(text) and not leaks(last)


def test_secrets_are_taken_out_of_each_text_that_a_server_offers(tmp_path: Path) -> None:
    server = Server("s", "s", McpServer(command="x"), tmp_path, REDACT)
    schema = {"type": "object", "properties": {"at": {"type": "string", "description": "c@d.e"}}}
    texts = ("see http://x", "-----BEGIN PRIVATE KEY----- abc")
    offered = [{"name": f"t{n}", "description": text, "inputSchema": schema} for n, text in enumerate(texts)]
    declared = server._keep(offered)
    assert [each.description for each in declared.tools] == ["see http://x", "[redacted]"]
