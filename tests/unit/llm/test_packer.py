"""What holds for every pack."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway.errors import ConfigError, PackOverBudget
from gateway.llm import tokens
from gateway.llm.packer import TEMPLATE_TOKENS, Pack, Section, pack
from gateway.llm.recipes import Recipe

FRAGMENTS = {"prompts/executor.md": "# Task Executor\n\nDecide.", "prompts/patterns/generic.md": "1. CALL any of {*}"}


def recipe(*, results: int = 300, input_docs: int = 700, total: int = 1200, buffer: int = 100, **first: Any) -> Recipe:
    """Sections 0, 1, 3, 4 and the state, as the executor's recipe has them."""
    docs = [
        {"path": "context.md", "sections": ["0"], "optional": False, "max_tokens": 100, "trim": "middle", **first},
        {"path": "context.md", "sections": ["1"], "max_tokens": 100, "priority": 2},
        {"path": "context.md", "sections": ["3"], "optional": False, "max_tokens": 100},
        {"path": "context.md", "sections": ["4"], "max_tokens": results, "trim": "oldest_results"},
        {"path": "context.md", "sections": ["state"], "optional": False, "max_tokens": 100},
    ]
    return Recipe.model_validate(
        {
            "name": "task_executor",
            "role": "executor",
            "phase": "execution",
            "prompt_fragments": ["prompts/executor.md (100 tokens)", "prompts/patterns/{task_type}.md (100 tokens)"],
            "input_docs": docs,
            "token_budget": {
                "total": total,
                "prompt": 200,
                "input_docs": input_docs,
                "output": 100,
                "buffer": buffer,
            },
        }
    )


def document(
    request: str = "Fix it.", context: str = "", plan: str = "EXECUTE", entries: Sequence[str] = (), state: str = "1/5"
) -> dict[str, list[Section]]:
    sections = [
        Section("0", "Request", (request,)),
        Section("1", "Gathered Context", (context,)),
        Section("3", "Task Plan", (plan,)),
        Section("4", "Execution", tuple(entries)),
        Section("state", "Task State", (state,)),
    ]
    return {"context.md": sections}


def packed(documents: dict[str, list[Section]], *, by: Recipe | None = None, question: str = "What next?") -> Pack:
    return pack(
        by or recipe(),
        fragments=FRAGMENTS,
        documents=documents,
        question=question,
        variables={"task_type": "generic"},
    )


def user(made: Pack) -> str:
    return made.messages[1].content


def up_to_results(made: Pack) -> str:
    return user(made).split("## Task State")[0]


def result(number: int, words: int) -> str:
    return f"### {number}. file.read · ok · 0.1 s\n\n```\n" + "word " * words + "\n```"


anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=400)
long_text = st.builds(lambda part, times: (part + "\n") * times, anything, st.integers(1, 40))
results = st.lists(long_text, max_size=12)
recipes = st.builds(recipe, results=st.integers(40, 400), input_docs=st.integers(200, 700), buffer=st.integers(0, 100))


def test_the_order_is_prompt_sections_results_state_question() -> None:
    made = packed(document(context="A known thing.", entries=["### 1. a", "### 2. b"]))
    assert made.messages[0].content == "# Task Executor\n\nDecide.\n\n1. CALL any of {*}"
    assert user(made) == (
        "## §0 Request\n\nFix it.\n\n## §1 Gathered Context\n\nA known thing.\n\n## §3 Task Plan\n\nEXECUTE\n\n"
        "## §4 Execution\n\n### 1. a\n\n### 2. b\n\n## Task State\n\n1/5\n\nWhat next?"
    )


def test_an_empty_optional_section_leaves_no_trace() -> None:
    made = packed(document())
    assert "§1" not in user(made) and "§4" not in user(made)
    assert [part.name for part in made.parts] == [
        "prompts/executor.md",
        "prompts/patterns/generic.md",
        "context.md §0",
        "context.md §3",
        "context.md state",
        "question",
    ]


@given(recipes, anything, long_text, long_text, results, st.integers(0, 300))
@settings(max_examples=60)
def test_never_over_budget_and_what_must_be_there_is_there(
    by: Recipe, request: str, context: str, plan: str, entries: list[str], question_words: int
) -> None:
    assume(request.strip() and plan.strip())
    try:
        made = packed(document(request, context, plan, entries), by=by, question="x" + " word" * question_words)
    except PackOverBudget:
        return
    sent = sum(tokens.count(message.content) for message in made.messages) + TEMPLATE_TOKENS
    assert sent == made.total <= by.token_budget.total - by.token_budget.output
    assert all(part.used <= part.allowed for part in made.parts)
    for heading in ("## §0 Request", "## §3 Task Plan", "## Task State"):
        assert heading in user(made)
    assert user(made).endswith("x" + " word" * question_words)


@given(recipes, long_text, results)
@settings(max_examples=25)
def test_the_same_input_gives_the_same_pack(by: Recipe, context: str, entries: list[str]) -> None:
    documents = document(context=context, entries=entries)
    try:
        first = packed(documents, by=by)
    except PackOverBudget:
        return
    assert packed(documents, by=by) == first


@given(st.lists(st.integers(1, 120), min_size=2, max_size=14), st.integers(120, 400))
@settings(max_examples=60)
def test_a_new_result_keeps_the_prefix_unless_room_had_to_be_made(sizes: list[int], allowed: int) -> None:
    entries = [result(number, words) for number, words in enumerate(sizes)]
    by = recipe(results=allowed)
    before = packed(document(entries=entries[:-1], state="1/5"), by=by)
    after = packed(document(entries=entries, state="2/5"), by=by)
    as_it_is = tokens.count(up_to_results(before).split("## §4 Execution")[1] + entries[-1]) + 20
    if as_it_is <= allowed:
        assert up_to_results(after).startswith(up_to_results(before))


def test_room_for_results_is_made_in_large_steps() -> None:
    entries = [result(number, 40) for number in range(30)]
    prompts = [up_to_results(packed(document(entries=entries[:n]))) for n in range(1, 31)]
    steps = sum(not after.startswith(before) for before, after in itertools.pairwise(prompts))
    assert 5 < steps < 14


def test_an_old_result_is_shortened_to_its_first_line_and_the_newest_stays() -> None:
    entries = [result(number, 100) for number in range(1, 4)]
    text = user(packed(document(entries=entries)))
    assert "### 1. file.read · ok · 0.1 s\n[… 10" in text
    assert entries[-1] in text


def test_a_result_larger_than_its_allowance_is_cut_in_the_middle_with_its_fence_whole() -> None:
    made = packed(document(entries=["### 1. file.read · ok\n\n```\nfirst\n" + "word " * 2000 + "\nlast\n```"]))
    text = up_to_results(made)
    assert "first" in text and "last" in text and "tokens left out]" in text
    assert text.count("```") == 4  # closed before the gap, opened again after it
    assert next(part for part in made.parts if part.name == "context.md §4").trimmed


def test_a_text_that_takes_more_tokens_before_a_blank_line_stays_within_its_allowance() -> None:
    request = "word " * 60 + '#]@s>]=\\"'
    allowed = tokens.count(f"## §0 Request\n\n{request}\n\n") - 1
    assert tokens.count(f"{request}\n\n") > tokens.count(request) + 1
    made = packed(document(request=request), by=recipe(max_tokens=allowed))
    assert next(part.used for part in made.parts if part.name == "context.md §0") <= allowed


def test_what_is_required_is_filled_before_what_is_optional() -> None:
    made = packed(
        document(context="known " * 90, plan="goal " * 90, entries=[result(1, 200)]),
        by=recipe(input_docs=200, results=200),
    )
    parts = {part.name: part for part in made.parts}
    assert not parts["context.md §3"].trimmed and parts["context.md §3"].used > 90
    assert parts["context.md §4"].trimmed and 0 < parts["context.md §4"].used <= 64
    assert "## §1 Gathered Context\n\n[… 90 tokens left out]" in user(made)


def test_a_long_question_takes_from_the_documents_not_over_the_total() -> None:
    made = packed(document(entries=[result(1, 250)]), by=recipe(total=900, input_docs=400), question="word " * 500)
    assert made.total <= 800
    assert next(part for part in made.parts if part.name == "context.md §4").trimmed


def test_a_required_part_that_cannot_fit_is_an_error() -> None:
    with pytest.raises(PackOverBudget, match="required"):
        packed(document(request="word " * 90, plan="word " * 90), by=recipe(input_docs=110))


def test_a_question_over_the_whole_budget_is_an_error() -> None:
    with pytest.raises(PackOverBudget, match="the prompt and the question"):
        packed(document(), question="word " * 2000)


def test_a_fragment_over_its_own_figure_is_an_error_that_names_it() -> None:
    with pytest.raises(PackOverBudget, match=r"prompts/patterns/generic\.md has \d+ tokens, 100 are allowed"):
        pack(
            recipe(),
            fragments={**FRAGMENTS, "prompts/patterns/generic.md": "word " * 200},
            documents=document(),
            question="?",
            variables={"task_type": "generic"},
        )


def test_a_required_document_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"context\.md §0 is required"):
        packed({"context.md": []})


def test_the_text_for_people_shows_what_was_spent_and_the_exact_messages() -> None:
    made = packed(document(request="Quote ``` this"))
    assert "| prompts/executor.md | " in made.text and f"| **total** | {made.total} | 1100 | |" in made.text
    for message in made.messages:
        assert f"````\n{message.content}\n````" in made.text or f"```\n{message.content}\n```" in made.text
