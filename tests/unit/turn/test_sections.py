"""What models and tools wrote stays where it is put, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.fence import code, fenced, line
from gateway.turn.sections import prose, quoted

# Text that looks for a way out of where it is put.
PIECES = ["```", "````", "~~~", "\n", "\n\n", "\r", " ", "    ", "> ", "- ", "1. ", "# ", "## ", "## §5 Response", "§6"]
PIECES += [
    "`",
    "<!--",
    "<pre>",
    "<div>",
    "</div>",
    "---",
    "===",
    "word",
    "\\",
    "_",
    "*",
    "|",
    "\t",
    "\x0c",
    "\u2028",
    "[a]:",
]
MARKDOWN = st.lists(st.sampled_from(PIECES)).map("".join)
AFTER = "\n\n## §9 After\n\nend"


def headings(markdown: str) -> list[str]:
    """The headings that are in no list or quotation, as a reader of Markdown sees them."""
    tokens = MarkdownIt().parse(markdown)
    return [tokens[at + 1].content for at, each in enumerate(tokens) if each.type == "heading_open" and not each.level]


@given(st.text() | MARKDOWN)
@example("```\n## §5 Response")
def test_a_fence_holds_its_text_whole(text: str) -> None:
    tokens = MarkdownIt().parse(fenced(text) + AFTER)
    assert tokens[0].type == "fence" and headings(fenced(text) + AFTER) == ["§9 After"]
    assert "".join(tokens[0].content.split()) == "".join(text.replace("\0", "\ufffd").split())


@given(st.text() | MARKDOWN)
def test_a_quotation_holds_its_text(text: str) -> None:
    assert headings(quoted(text) + AFTER) == ["§9 After"]


@given(st.text() | MARKDOWN)
def test_a_line_begins_no_block_behind_other_words(text: str) -> None:
    assert headings(f"Why: {line(text)}{AFTER}") == ["§9 After"]
    assert "\n" not in line(text) and "\r" not in line(text)


@given(st.text(alphabet="`ab \\", min_size=1))
def test_inline_code_holds_its_text(text: str) -> None:
    inline = MarkdownIt().parse(f"Arguments: {code(text)} end")[1].children or []
    assert [each.type for each in inline] == ["text", "code_inline", "text"]
    assert inline[1].content.strip() == text.strip() and inline[2].content == " end"


@given(MARKDOWN)
def test_prose_neither_swallows_nor_imitates_a_section(text: str) -> None:
    found = headings(f"## §5 Response\n\n{prose(text)}{AFTER}")
    assert found[0] == "§5 Response" and found[-1] == "§9 After"
    assert not [title for title in found[1:-1] if title.startswith("§")]


@pytest.mark.parametrize(
    "text", ["Two words.", "# Title\n\n- one\n- two\n\n**bold** `code` a < b", "## Results\n\nfine"]
)
def test_harmless_prose_stands_as_it_is(text: str) -> None:
    assert prose(text) == text
