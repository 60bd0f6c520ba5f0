"""Plain data without secrets has the form that it had."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from gateway.config import Settings
from gateway.engine.records import plain
from gateway.redact import redactor

SECRET = "hunter22-hunter22"
REDACT = redactor(Settings(), {"A_KEY": SECRET})

pieces = st.sampled_from([SECRET, "-----BEGIN PRIVATE KEY-----", "://", "x:y", "@", '"', "\\", "Bearer 123456789", "a"])
texts = st.lists(pieces, max_size=5).map("".join) | st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def form(value: Any) -> Any:
    """The value without its texts."""
    match value:
        case dict():
            return [form(each) for each in value.values()]
        case list():
            return ["list", *map(form, value)]
        case str():
            return "text"
    return value


@given(values)
@example({"text": "http://x", "key": "c@d.e"})
@example({"text": "-----BEGIN PRIVATE KEY----- abc", "more": [1, {"a": None}]})
@example({SECRET: 1, f"{SECRET} ": 2, "-----BEGIN PRIVATE KEY-----a": 3, "-----BEGIN PRIVATE KEY-----b": 4})
def test_redaction_keeps_the_structure_and_leaves_no_secret(value: Any) -> None:
    clean = plain(value, REDACT)
    assert form(clean) == form(value)
    assert SECRET not in str(clean)
    assert plain(clean, REDACT) == clean
