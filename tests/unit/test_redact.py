from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.config import Settings
from gateway.redact import MASK, SHORTEST, redactor

KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAQABAo\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-4f9Kd82mQx71ZpLw03Ry",
        "sk-ant-api03-aaaaaaaaaaaaaaaaaaaa",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 9,
        "AKIAIOSFODNN7EXAMPLE",
        "glpat-" + "a1B2" * 5,
        "AIza" + "Sy-D0" * 7,
        "ya29." + "a0Af" * 6,
        "xoxb-" + "1234567890-abc",
        "hooks.slack.com/services/" + "T000/B000/" + "x1Y2" * 4,
        "sk_live_" + "a1B2" * 5,
        "hf_" + "a1B2" * 9,
        "npm_" + "a1B2" * 9,
        "pypi-" + "AgEI" * 13,
        "eyJhbGciOiJI" + ".eyJzdWIiOiIx" + ".c2lnbmF0dXJl",
        "Bearer abc.def-123_456",
        "bearer 0123456789",
        KEY_BLOCK,
        KEY_BLOCK[:50],
        "://user:pass@",
    ],
)
def test_well_known_token_shapes_are_masked_wherever_they_stand(secret: str) -> None:
    redact = redactor(Settings(), {})
    assert redact(secret) == MASK
    assert redact(f'{{"x": "{secret}"}}').startswith(f'{{"x": "{MASK}')


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-estimator-documentation-link",
        "task-1234567890123456789012345",
        "half_of_the_names_that_are_in_use_here_are_long",
        "hf_hub_download(repo_id=name)",
        "eyJ is how base64 of a JSON object begins",
        "the bearer of this letter, Bearer authentication",
        "https://example.org/a:b@c",
        "AKIAIOSFODNN7EXAMPLEX",
        "-----BEGIN CERTIFICATE-----",
        "max_tokens=4096",
        "",
    ],
)
def test_what_only_resembles_a_token_stays(text: str) -> None:
    assert redactor(Settings(), {})(text) == text


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "aws_secret", "PGPASSWORD", "DB_PASSWORD", "TOKEN"])
def test_the_environment_says_by_its_names_what_is_secret(name: str) -> None:
    assert redactor(Settings(), {name: "correct horse"})("a correct horse!") == f"a {MASK}!"


@pytest.mark.parametrize("name", ["MONKEY", "TOKENS", "KEYBOARD", "HOME", "SECRETARY"])
def test_other_variables_are_no_secrets(name: str) -> None:
    assert redactor(Settings(), {name: "correct horse"})("a correct horse") == "a correct horse"


def test_configured_secrets_are_masked_also_as_json_writes_them() -> None:
    secret = 'päss"word\nline'
    redact = redactor(Settings.load({"api_key": secret}, environ={}), {})
    for ascii_only in (True, False):
        assert redact(json.dumps({"x": secret}, ensure_ascii=ascii_only)) == f'{{"x": "{MASK}"}}'


def test_short_values_and_blanks_are_left_alone() -> None:
    environ = {"A_KEY": "local", "B_KEY": "", "C_KEY": " " * 20, "D_KEY": "redacted"}
    assert redactor(Settings(), environ)("local " + " " * 30 + "redacted") == "local " + " " * 30 + "redacted"


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    assert redactor(Settings(), {"A_KEY": "abcdefgh", "B_KEY": "abcdefghijkl"})("abcdefghijkl") == MASK


secrets = st.text(min_size=SHORTEST, max_size=20).filter(lambda each: len(each.strip()) >= SHORTEST) | st.text(
    alphabet="[redact]", min_size=SHORTEST, max_size=12
)


@given(st.lists(secrets, min_size=1, max_size=3), st.data())
@example(["]hunter22", "12345678"], None)
def test_a_redacted_text_contains_no_secret_and_is_redacted_once_and_for_all(
    values: list[str], data: st.DataObject | None
) -> None:
    values = [each.strip() for each in values if each.strip() not in MASK]
    redact = redactor(Settings(), {f"S{number}_KEY": each for number, each in enumerate(values)})
    pieces = st.lists(st.sampled_from([*values, MASK, "[", "]", "d", "hunter22"]) | st.text(max_size=6), max_size=8)
    text = "".join(data.draw(pieces)) if data else "12345678hunter22"
    clean = redact(text)
    assert not [each for each in values if each in clean]
    assert redact(clean) == clean


def test_a_long_text_without_secrets_costs_little() -> None:
    redact = redactor(Settings(), {f"S{number}_KEY": f"{number}-secret-value" for number in range(10)})
    text = "The quick brown fox jumps over the lazy dog: see https://example.org, sk-learn and begin again.\n" * 5000
    begin = time.process_time()
    assert redact(text) == text
    assert time.process_time() - begin < 0.5
