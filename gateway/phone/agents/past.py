"""What was done so far, as the next decision needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.engine.ports import Artifacts
from gateway.phone.agents.moves import called_name, is_field, is_search, shown
from gateway.phone.element import Element
from gateway.phone.harmless import harmless
from gateway.phone.labels import SEPARATOR
from gateway.phone.listing import quoted, words
from gateway.phone.task.state import Step, load_elements

LINES = 6  # steps that the model is told
SHORT = 60  # characters of a text in such a line
FEW_NEW = 4  # texts: where more are new, it is another screen


@dataclass(frozen=True)
class Past:
    """The steps of a task, the oldest first, and what the screen shows after the last of them."""

    steps: Sequence[Step]
    now: Sequence[Element]
    artifacts: Artifacts

    def since(self, number: int) -> Past:
        """Without the first so many."""
        return Past(self.steps[number:], self.now, self.artifacts)

    @property
    def last(self) -> Step | None:
        return self.steps[-1] if self.steps else None

    def lines(self) -> str:
        """The last steps in words, numbered."""
        told = [(number, line) for number, each in enumerate(self.steps) if (line := self._line(number, each))]
        return "\n".join(f"{at}. {line}" for at, (_, line) in enumerate(told, 1) if at > len(told) - LINES)

    def did(self, kind: str) -> list[Step]:
        return [each for each in self.steps if each.action.get("action") == kind and each.result.ok is not False]

    def tapped(self, state_id: str, *, whatever_stood_there: bool = False) -> set[str]:
        """The names of what was tapped on a screen that was the same, or of the same kind."""
        taps = [each for each in self.steps if each.action.get("action") == "tap"]
        if whatever_stood_there:
            return {called_name(each.target) for each in taps if structure(each.state_id) == structure(state_id)}
        return {called_name(each.target) for each in taps if each.state_id == state_id}

    def scrolled_in_vain(self, state_id: str) -> bool:
        """Whether the last that was done here was scrolling, and nothing moved."""
        last = self.last
        return (
            last is not None
            and last.action.get("action") == "swipe"
            and last.result.ok is not True
            and structure(last.state_id) == structure(state_id)
        )

    def has_scrolled(self, state_id: str) -> bool:
        """Whether this screen was ever moved by scrolling, or tried to be moved upwards."""
        swipes = [each for each in self.steps if each.action.get("action") == "swipe"]
        here = [each for each in swipes if structure(each.state_id) == structure(state_id)]
        return any(each.result.ok or each.action["start"][1] < each.action["end"][1] for each in here)

    def used(self) -> set[str]:
        """The words of what was typed, and of what was tapped that is no field."""
        typed = [str(each.action.get("text", "")) for each in self.did("type") if not self._searched(each)]
        tapped = [_first(called_name(each.target)) for each in self.did("tap") if not each.target.startswith("field")]
        return {word.lstrip("0") or "0" for text in (*typed, *tapped) for word in words(text)}

    def has_used(self, text: str) -> bool:
        return {word.lstrip("0") or "0" for word in words(text)} <= self.used()

    def _searched(self, step: Step) -> bool:
        """Whether what was typed was only looked for."""
        before = load_elements(self.artifacts, step.elements) or ()
        return any("focused" in each.state and is_field(each) and is_search(each) for each in before)

    def new(self, number: int) -> list[str]:
        """What the screen said after the step of that index and not before it; nothing where it was another screen."""
        step = self.steps[number]
        before = load_elements(self.artifacts, step.elements) or ()
        if number + 1 < len(self.steps):
            after: Sequence[Element] = load_elements(self.artifacts, self.steps[number + 1].elements) or ()
        else:
            after = self.now
        there = {each.text for each in shown(before)}
        found = [each.text for each in shown(after) if each.text and each.text not in there and not is_field(each)]
        return found if 0 < len(found) <= FEW_NEW else []

    def still_shows(self, step: Step) -> bool:
        """Whether most of what stood on the screen at that step stands there now."""
        before = {each.text for each in shown(load_elements(self.artifacts, step.elements) or ()) if each.text}
        return 2 * len(before.intersection(each.text for each in self.now)) > len(before)

    def _line(self, number: int, step: Step) -> str:
        kind, failed = step.action.get("action"), step.result.ok is False
        ending = f": {harmless(step.result.note) or 'nothing happened'}" if failed else ""
        if kind == "tap":
            if step.target.startswith("field") and not failed:
                return ""
            new = "" if failed else "; ".join(quoted(each, SHORT) for each in self.new(number))
            return f"tapped {_touched(step.target)}{ending}" + (f"; new on the screen: {new}" if new else "")
        if kind == "type":
            return f"typed {quoted(harmless(str(step.action['text'])), SHORT)}{ending}"
        if kind == "swipe":
            return f"scrolled{ending}"
        if kind == "open_app":
            return f"opened {quoted(harmless(str(step.action['app'])), SHORT)}{ending}"
        if kind == "back":
            return f"went back{ending}"
        if kind in ("ask_user", "mcp_call"):
            asked = step.action.get("question") or step.action.get("tool")
            return f"asked {quoted(harmless(str(asked)), SHORT)}: {_short(step.result.note or step.result.output)}"
        if kind in ("clear", "FINISH", "answer", None):
            return ""
        return f"{kind}{ending}"


def structure(state_id: str) -> str:
    """The part of a screen's id that tells which screen it is."""
    return state_id.partition(":")[0]


def _first(text: str) -> str:
    return text.split(SEPARATOR)[0]


def _touched(target: str) -> str:
    """`button "Pay · £12.00"` without what follows the name, in quotation marks that the name cannot end."""
    role, mark, name = _first(target).partition(' "')
    return f"{role} {quoted(name.removesuffix(mark[1:]), SHORT - len(role) - 2)}" if mark else _short(target)


def _short(text: str) -> str:
    return harmless(text, SHORT)
