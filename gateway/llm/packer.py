"""Packs: the exact messages of a model call, filled by a recipe within its token budget.

One system message holds the prompt fragments, which stay the same for a whole task. One user message holds the sections
in the recipe's order and ends with the question. The same input gives the same pack, to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.errors import ConfigError, PackOverBudget
from gateway.fence import fenced
from gateway.llm import tokens
from gateway.llm.model import Message
from gateway.llm.recipes import InputDoc, Recipe
from gateway.llm.results import fit_results
from gateway.llm.trim import LEAST, notice, shorten

TEMPLATE_TOKENS = 11  # what a chat template adds: 4 for each of the two messages, 3 for the start of the answer
NUMBERED = frozenset("0123456")  # sections of context.md
STEP = 64  # a squeezed allowance of results moves in such steps, so that it does not move at every call


@dataclass(frozen=True)
class Section:
    """A section of a document, "0" … "6" or "state" in context.md; each entry is a paragraph or a tool result."""

    name: str
    title: str
    entries: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"## §{self.name} {self.title}" if self.name in NUMBERED else f"## {self.title}"

    @property
    def paragraphs(self) -> tuple[str, ...]:
        return tuple(entry.strip() for entry in self.entries if entry.strip())

    @property
    def body(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True)
class Part:
    """What a part of a pack was allowed and what it used, in tokens."""

    name: str
    allowed: int
    used: int
    trimmed: bool = False


@dataclass(frozen=True)
class Pack:
    """A filled prompt. `total` counts everything that is sent, `allowed` is the recipe's total without the output."""

    recipe: str
    messages: tuple[Message, ...]
    parts: tuple[Part, ...]
    total: int
    allowed: int

    @property
    def text(self) -> str:
        """For people: what was spent of what was allowed, then the exact messages."""
        rows = [
            f"| {part.name} | {part.used} | {part.allowed} | {'yes' if part.trimmed else ''} |" for part in self.parts
        ]
        table = ["| part | used | allowed | trimmed |", "|---|--:|--:|---|", *rows]
        table.append(f"| **total** | {self.total} | {self.allowed} | |")
        shown = [f"## {message.role}\n\n{fenced(message.content)}" for message in self.messages]
        return "\n\n".join([f"# Pack {self.recipe}", "\n".join(table), *shown]) + "\n"


def sections_of(name: str, text: str) -> list[Section]:
    """A Markdown document as sections, by the headings of its second level; what stands before the first is called
    after the document. Other texts are one section."""
    title, *rest = re.split(r"^## +(.+?)[ \t]*$", text, flags=re.MULTILINE)
    found = [Section(name, name, (title,))] if title.strip() else []
    return found + [Section(heading, heading, (body,)) for heading, body in zip(rest[::2], rest[1::2], strict=True)]


def pack(
    recipe: Recipe,
    *,
    fragments: Mapping[str, str],
    documents: Mapping[str, Sequence[Section]],
    question: str,
    variables: Mapping[str, str] | None = None,
) -> Pack:
    """Fill a recipe. `fragments` are the texts of its prompt files, as `recipes.fragment_texts` gives them; `documents`
    are by `InputDoc.key`.

    The question is kept whole; what it needs beyond the buffer is taken from what the prompt left over, then from the
    documents.
    Raises PackOverBudget where what must be there does not fit, ConfigError where it is not there.
    """
    budget = recipe.token_budget
    prompt_parts, system = _prompt(recipe, fragments, variables or {})
    question = question.strip()
    asked = tokens.count(question)
    fixed = tokens.count(system) + asked + TEMPLATE_TOKENS
    room = min(budget.input_docs, budget.input - fixed)
    if room < 0:
        raise PackOverBudget(
            f"recipe {recipe.name}: the prompt and the question have {fixed} tokens of {budget.input}",
            hint="raise the recipe's total, or shorten its prompt files",
        )
    doc_parts, user = _documents(recipe, documents, room)
    messages = (Message(role="system", content=system), Message(role="user", content=user + question))
    # Each part ends with a blank line, where no token crosses: the parts' counts add up to the message's.
    total = fixed + tokens.count(user)
    asked_part = Part("question", max(budget.buffer, asked), asked)
    return Pack(recipe.name, messages, (*prompt_parts, *doc_parts, asked_part), total, budget.input)


def _prompt(recipe: Recipe, fragments: Mapping[str, str], variables: Mapping[str, str]) -> tuple[list[Part], str]:
    parts, texts = [], []
    for fragment in recipe.prompt_fragments:
        path = fragment.place(variables)
        if path not in fragments:
            raise ConfigError(f"recipe {recipe.name}: the prompt {path} is not there")
        text = fragments[path].strip()
        used = tokens.count(text)
        if used > fragment.tokens:
            raise PackOverBudget(
                f"recipe {recipe.name}: {path} has {used} tokens, {fragment.tokens} are allowed",
                hint="shorten the file, or raise its figure in the recipe",
            )
        parts.append(Part(path, fragment.tokens, used))
        texts.append(text)
    return parts, "\n\n".join(texts)


def _documents(recipe: Recipe, documents: Mapping[str, Sequence[Section]], room: int) -> tuple[list[Part], str]:
    """The parts and the text of the documents, in the recipe's order, filled in the order of their importance."""
    filled: dict[int, tuple[Part, str]] = {}
    ranked = sorted(enumerate(recipe.input_docs), key=lambda item: (item[1].optional, item[1].priority, item[0]))
    for number, doc in ranked:
        sections = _selected(doc, documents)
        if not sections:
            if not doc.optional:
                raise ConfigError(f"recipe {recipe.name}: {_name(doc)} is required and not there")
            continue
        text, trimmed = _fit(sections, doc, _allowance(doc, room))
        if trimmed and not text:
            if not doc.optional:
                raise PackOverBudget(
                    f"recipe {recipe.name}: no room for {_name(doc)}, which is required",
                    hint="raise token_budget.input_docs, or lower max_tokens of the other required documents",
                )
            text = _dropped(sections, room)
        used = tokens.count(text)
        room -= used
        filled[number] = (Part(_name(doc), doc.max_tokens, used, trimmed), text)
    inorder = [filled[number] for number in sorted(filled)]
    return [part for part, _ in inorder], "".join(text for _, text in inorder)


def _selected(doc: InputDoc, documents: Mapping[str, Sequence[Section]]) -> list[Section]:
    there = [section for section in documents.get(doc.key, ()) if section.body]
    if not doc.sections:
        return there
    return [section for name in doc.sections for section in there if section.name == name]


def _allowance(doc: InputDoc, room: int) -> int:
    if room >= doc.max_tokens:
        return doc.max_tokens
    return room // STEP * STEP if doc.trim == "oldest_results" else room


def _fit(sections: Sequence[Section], doc: InputDoc, allowed: int) -> tuple[str, bool]:
    """The sections' text, ending with a blank line, and whether it was trimmed; no text where nothing of it fits."""
    heading = sections[0].heading + "\n\n"
    body = "\n\n".join([sections[0].body, *(f"{other.heading}\n\n{other.body}" for other in sections[1:])])
    whole = f"{heading}{body}\n\n"
    if tokens.count(whole) <= allowed:
        return whole, False
    room = allowed - tokens.count(heading)
    while room >= LEAST:
        if doc.trim == "oldest_results":
            text = fit_results(sections[0].paragraphs, room)
        else:
            short = shorten(body, room - tokens.count("\n\n"), doc.trim)
            text = None if short is None else short + "\n\n"
        if text is None:
            break
        over = tokens.count(heading + text) - allowed  # some texts take a token more before a blank line
        if over <= 0:
            return heading + text, True
        room -= over
    return "", True


def _dropped(sections: Sequence[Section], room: int) -> str:
    """What stands for sections that had no room at all, if there is room for that."""
    left_out = sum(tokens.count(section.body) for section in sections)
    text = f"{sections[0].heading}\n\n{notice(left_out)}\n\n"
    return text if tokens.count(text) <= room else ""


def _name(doc: InputDoc) -> str:
    return " ".join([doc.key, *(f"§{name}" if name.isdigit() else name for name in doc.sections)])
