"""A list of elements as a small model reads it: one line each, within a budget of tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gateway.llm.tokens import count
from gateway.phone.element import Element

LENGTHS = (200, 80, 40)  # characters of a text: tried in turn, before anything is left out
SHORTEST_LINE = 3  # tokens: number, role, line feed
NAMED = 24  # characters of what the instruction names, where not even that fits

ON_OFF = {"switch": ("on", "off"), "checkbox": ("checked", "unchecked"), "radio": ("chosen", "not chosen")}
VALUED = {"field", "switch", "checkbox", "radio", "slider", "picker"}
WORD = re.compile(r"[^\W_]+")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
COMMON = frozenset(
    "a an and app are as at be by for from go have i in into is it me my next now of on open or please screen select "
    "set so tap tell that the then this to type was what with you your click press enter find show page".split()
)


def listing(elements: Sequence[Element], max_tokens: int = 600, keep: str = "") -> str:
    """One line for each element, such as `3 button "Pay" disabled`, of at most `max_tokens` tokens in all.

    Where not all fit, texts are cut first; then what matters least is left out, and the last line says how many.
    Elements that `keep`, the instruction, names by some of its words go last. Numbers are those of the whole list.
    """
    if len(elements) * SHORTEST_LINE <= max_tokens:
        for length in LENGTHS:
            text = "\n".join(_line(each, length) for each in elements)
            if count(text) <= max_tokens:
                return text
    ranked = _ranked(elements, keep)
    candidates = ranked[: max(max_tokens, 0) // SHORTEST_LINE + 1]
    chosen: list[tuple[int, str]] = []
    left = max_tokens - count(_left_out(len(elements)))
    for index in candidates:
        for length in (LENGTHS[-1], NAMED):
            line = _line(elements[index], length) + "\n"
            if (cost := count(line)) <= left:
                chosen.append((index, line))
                left -= cost
                break
    while True:  # the parts were counted apart: together they may take a token more
        text = "".join(line for _, line in sorted(chosen)) + _left_out(len(elements) - len(chosen))
        if count(text) <= max_tokens:
            return text
        if not chosen:
            return ""
        chosen.pop()


def _left_out(number: int) -> str:
    return f"… {number} more, not shown" if number else ""


def _line(element: Element, length: int) -> str:
    parts = [str(element.number), element.role]
    if element.role == "field":
        parts += [quoted(element.hint, length)] if element.hint else [element.resource_id]
        parts += ["contains", quoted(element.text, length)] if element.text else []
        parts += ["empty"] if not element.text and "filled" not in element.state else []
    else:
        parts.append(quoted(element.text, length) if element.text else element.resource_id)
    if element.role in ON_OFF:
        parts.append(ON_OFF[element.role]["checked" not in element.state])
    parts += [each for each in element.state if each != "checked" or element.role not in ON_OFF]
    return " ".join(each for each in parts if each)


def quoted(text: str, length: int) -> str:
    """In quotation marks that nothing inside can end."""
    text = text.replace('"', "'")
    return f'"{text}"' if len(text) <= length else f'"{text[: length - 1].rstrip()}…"'


def _ranked(elements: Sequence[Element], keep: str) -> list[int]:
    """Indices, what matters most first: named by the instruction, then can be acted on and says what it is, then says
    something; the higher on the screen, the earlier."""
    wanted = set(words(keep)) - COMMON
    said = [wanted.intersection(words(f"{each.text} {each.hint} {each.resource_id}")) for each in elements]
    common = Counter(word for found in said for word in found)

    def rank(index: int) -> tuple[float, int, int]:
        each = elements[index]
        named = sum(1 / common[word] for word in said[index])  # a word that many elements have says little of one
        acts = bool(each.clickable) or each.editable or each.role in VALUED
        says = bool(each.text or each.hint)
        return -named, 0 if "focused" in each.state and acts else 3 - 2 * (acts and says) - (says or acts), index

    return sorted(range(len(elements)), key=rank)


def words(text: str) -> Iterator[str]:
    """Words in lower case without a plural's s; where words are not divided, pairs of characters."""
    for word in WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)):
        if CJK.search(word):
            yield from (word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        else:
            lower = word.casefold()
            yield lower[:-1] if len(lower) > 3 and lower.endswith("s") else lower
