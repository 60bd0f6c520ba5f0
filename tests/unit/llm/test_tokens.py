"""Counting and cutting by tokens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gateway.llm import tokens


def test_counts_are_those_of_the_encoding() -> None:
    assert tokens.count("") == 0
    assert tokens.count("hello world") == 2
    assert tokens.count("hello world " * 5000) == 10001


def test_special_tokens_are_ordinary_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


def test_counting_needs_no_network_and_no_litellm() -> None:
    offline = {name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"}
    proxies = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    code = "import sys; from gateway.llm import tokens; print(tokens.count('hello world'), 'litellm' in sys.modules)"
    root = Path(__file__).parents[3]
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, env={**offline, **proxies}, check=True
    )
    assert out.stdout.split() == ["2", "False"]


def test_an_end_that_splits_into_more_tokens_than_it_had_is_cut_further() -> None:
    assert tokens.count("日\u200d٢٢٢22") > 5
    assert tokens.count(tokens.tail("日\u200d٢٢٢22", 5)) <= 5


@given(st.text(max_size=500), st.integers(0, 100))
def test_head_and_tail_are_ends_of_the_text_within_the_limit(text: str, limit: int) -> None:
    first, last = tokens.head(text, limit), tokens.tail(text, limit)
    assert text.startswith(first) and text.endswith(last)
    assert tokens.count(first) <= limit and tokens.count(last) <= limit
    if tokens.count(text) <= limit:
        assert first == last == text
