"""The field that has the focus, as the screen's hierarchy tells it, and what came of typing into it."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.phone.hierarchy import Hierarchy, Node
from gateway.phone.roles import role_of


@dataclass(frozen=True)
class Field:
    """`text` is what stands in it; of a password there are only bullets. An empty field shows its hint, and a dump has
    that as its text: so a text that is the `hint` is taken for none."""

    text: str
    password: bool = False
    hint: str = ""


def focused(hierarchy: Hierarchy) -> Field | None:
    """The field that has the focus; a view of another kind that has it where no field does."""
    having = [node for node in hierarchy.nodes() if node.focused]
    node = next((each for each in reversed(having) if role_of(each) == "field"), having[-1] if having else None)
    return None if node is None else _field(node)


def _field(node: Node) -> Field:
    empty = bool(node.hint) and node.text == node.hint
    return Field("" if empty else node.text, node.password, node.hint)


def matches(before: Field | None, after: Field | None, typed: str) -> bool | None:
    """Whether the text stands in the field once more than before; None where that cannot be read. Apps may show white
    space in another way."""
    if after is None or after.password or (not after.text and _plain(typed) == _plain(after.hint)):
        return None
    now, text, then = _plain(after.text), _plain(typed), _plain(before.text if before else "")
    if not text:
        return len(after.text) > len(before.text if before else "")
    return now.count(text) > then.count(text) or _inserted(then, now, text)


def _inserted(then: str, now: str, text: str) -> bool:
    """Whether `now` is `then` with the text somewhere in it: it may overlap with what stood there."""
    if len(now) != len(then) + len(text):
        return False
    same = next((at for at, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), len(then))
    return any(now[at : at + len(text)] == text and now[at + len(text) :] == then[at:] for at in range(same, -1, -1))


def _plain(text: str) -> str:
    return " ".join(text.split())
