"""Counting tokens, without a network and without importing litellm."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "cl100k_base"  # what the vocabularies of the Qwen models grew from, and what litellm loads anyway
CACHED_UP_TO = 8192  # characters: longer texts are counted anew, so that the cache stays below some megabytes


def count(text: str) -> int:
    """How many tokens a text has; special tokens in it count as ordinary text."""
    return _count_short(text) if len(text) <= CACHED_UP_TO else len(_encoding().encode_ordinary(text))


def head(text: str, limit: int) -> str:
    """A beginning of `text` of at most `limit` tokens and hardly fewer, ending between two characters."""
    return _cut(text, limit, from_start=True)


def tail(text: str, limit: int) -> str:
    """As `head`, the end of `text`."""
    return _cut(text, limit, from_start=False)


def _cut(text: str, limit: int, *, from_start: bool) -> str:
    if limit <= 0:
        return ""
    tokens = _encoding().encode_ordinary(text)
    keep = limit
    while len(tokens) > keep > 0:
        kept = tokens[:keep] if from_start else tokens[-keep:]
        part = _encoding().decode(kept, errors="ignore")
        over = count(part) - limit  # a cut text may be split into tokens in another way
        if over <= 0:
            return part
        keep -= over
    return text if len(tokens) <= limit else ""


@lru_cache(maxsize=1024)
def _count_short(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    """tiktoken's encoding, read from the copy that litellm ships: tiktoken would download it."""
    spec = find_spec("litellm")
    if spec is not None and spec.origin is not None:
        shipped = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(shipped))
    import tiktoken

    return tiktoken.get_encoding(ENCODING)
