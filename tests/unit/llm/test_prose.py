from __future__ import annotations

import pytest

from gateway.llm.prose import tidied, whole_sentences

LONG = "The function returns the n smallest elements of the dataset."


@pytest.mark.parametrize(
    ("text", "cut", "left"),
    [
        (" It is done. \n", False, "It is done."),
        ("```markdown\n# Notes\n\nOne.\n```", False, "# Notes\n\nOne."),
        ("```\na\n```\nand\n```\nb\n```", False, "```\na\n```\nand\n```\nb\n```"),
        (f"{LONG}\n\nYes.\n\n{LONG}\n\n{LONG}", False, f"{LONG}\n\nYes."),
        ("One.\n\n---\n\nTwo.\n\n---", False, "One.\n\n---\n\nTwo.\n\n---"),
        (f"{LONG} It can be used wi", True, f"{LONG} […]"),
        (f"{LONG} It ends here.", True, f"{LONG} It ends here."),
        ("no end of a sentence", True, "no end of a sentence […]"),
        (f"{LONG}\n\n{LONG}\n\nThe fun", True, f"{LONG} […]"),
    ],
)
def test_a_text_is_tidied(text: str, cut: bool, left: str) -> None:
    assert tidied(text, cut=cut) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{LONG} The `NotEnough`", LONG),
        (LONG, LONG),
        ("Done, and here is the code:", "Done, and here is the code:"),
        ("no end at all", "no end at all"),
    ],
)
def test_a_half_sentence_is_left_out(text: str, left: str) -> None:
    assert whole_sentences(text) == left
