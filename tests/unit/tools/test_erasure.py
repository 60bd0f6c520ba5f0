"""Where a forgotten text is found, in which spellings, and what is left alone."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.erasure import MASK, Eraser
from gateway.tools.memories import Erasure

FACT = 'Please remember that my "Häuser & Söhne" PIN\nis 471199 at \\desk.'
FIRST = FACT.partition("\n")[0]


def eraser(*texts: str, key: str = "k") -> Eraser:
    return Eraser([Erasure(number, key, text) for number, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (FACT, "[erased]."),
        ("so: " + FACT.upper() + "..", "so: [erased]..."),
        ('I know: my  "häuser & söhne" PIN is 471199 at \\DESK!', "I know: [erased]!"),
        (unicodedata.normalize("NFD", FACT), "[erased]."),
        (f"User: {FACT[:40]} […]\nnext", "User: [erased] […]\nnext"),
        (f"User: {FACT[:40]}…\nnext", "User: [erased]…\nnext"),
        (FACT[:40], "[erased]"),
        ("the user's PIN is 471199.", "the user's PIN is [erased]."),
        ("on 471199-01-01 in /471199/x, 471199.5 and 4711999", "on 471199-01-01 in /471199/x, 471199.5 and 4711999"),
        ("Please remember that my dog barks", "Please remember that my dog barks"),
    ],
)
def test_it_is_masked_in_every_spelling_and_nothing_else_is(text: str, cleaned: str) -> None:
    assert eraser(FACT).clean(text) == cleaned


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("ascii", [True, False])
def test_json_stays_json_however_deep_it_stands(depth: int, ascii: bool) -> None:
    text = FACT
    for _ in range(depth):
        text = json.dumps({"text": text}, ensure_ascii=ascii)
    found = eraser(FACT)
    assert found.found(text)
    cleaned = found.clean(text)
    for _ in range(depth):
        cleaned = json.loads(cleaned)["text"]
    assert cleaned == "[erased]."


@pytest.mark.parametrize("text", ["yes", "Bob", "of the and with this", "it is so", "…"])
def test_a_text_that_stands_in_innocent_ones_is_not_looked_for(text: str) -> None:
    assert not eraser(text).found(f"they said: {text}") and eraser(text).clean(text) == text


def test_a_sentence_of_it_is_known_by_itself() -> None:
    found = eraser("The pelican is moored in Zwolle. It is so. Ask the harbour master about it.")
    assert found.clean("It is so. He said: the pelican is moored in Zwolle") == "It is so. He said: [erased]"


def test_a_key_that_was_made_from_the_text_goes_and_one_that_a_person_gave_stays() -> None:
    assert eraser(FACT, key="0123456789abcdef").clean('{"key": "0123456789abcdef"}') == '{"key": "[erased]"}'
    assert eraser(FACT, key="port").clean('{"key": "port"}') == '{"key": "port"}'


def test_a_script_without_spaces_is_found_within_a_sentence() -> None:
    assert eraser("我的保险箱密码藏在蓝色花盆下面").clean("记住我的保险箱密码藏在蓝色花盆下面。") == "记住[erased]。"


def test_part_of_another_word_is_another_word() -> None:
    assert not eraser("heron house").found("The sheron houses")


SECRETS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs", "Sm")), min_size=12, max_size=40).map(
    lambda text: f"Zq{text}9042x"
)


@given(SECRETS, st.text(max_size=20), st.booleans())
def test_what_was_cleaned_has_it_no_more(secret: str, around: str, ascii: bool) -> None:
    found = eraser(secret)
    text = json.dumps([f"{around} {secret} {around}"], ensure_ascii=ascii)
    assert found.found(text)
    cleaned = found.clean(text)
    assert MASK in cleaned and not found.found(cleaned) and found.clean(cleaned) == cleaned
    assert "9042x" not in cleaned.replace(json.dumps(around, ensure_ascii=ascii)[1:-1], "")
