"""What is remembered of conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from echelon.server.chats import KEPT_S, Begun, Chats, Position
from gateway.errors import StoreError


def test_positions_and_requests_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "home/chats.db"
    chats = Chats(path, 0.0)
    begun = Begun("who", "01", 7, {"tokens": 3.0})
    chats.remember("d", Position("s", 1, 9))
    chats.remember("d", Position("s", 2, 12))
    chats.begin("who", begun)
    chats.close()
    chats = Chats(path, 1.0)
    assert chats.position("d") == Position("s", 2, 12) and chats.position("e") is None
    assert chats.request("who") == begun and chats.request("whom") is None
    chats.end("who", 5.0)
    assert chats.request("who") == Begun("who", "01", 7, {"tokens": 3.0}, ended=5.0)
    chats.begin("who", begun)
    assert chats.request("who") == begun  # begun again: it has no reply yet
    chats.end("who", 5.0)
    chats.close()
    assert Chats(path, 6.0 + KEPT_S).request("who") is None


def test_a_file_that_is_none_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        Chats(path, 0.0)
