"""Errands in which texts are entered and saved, or sent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.phone.agents import moves
from gateway.phone.agents.agent import Chosen
from gateway.phone.agents.button_words import SAVING, SENDING
from gateway.phone.agents.decision import Decision, saves
from gateway.phone.agents.errand import is_pressed
from gateway.phone.agents.moves import Move, is_field, is_search, label
from gateway.phone.agents.spans import TIME, times
from gateway.phone.element import Element
from gateway.phone.listing import words

NUMERIC = re.compile(r"[\d\s:./+-]{0,8}")  # what a field has before anything was entered, such as a time
CLOCK = re.compile(r"\d{2}")
WRITTEN = [["text"], ["message"], ["mail"], ["email"]]  # as a task's first word
TRIES = 2  # of the same text
LEAVINGS = 3  # times back: the first may only close the keyboard


class Writing(Decision):
    """A form is read once, and filled in field by field; then what saves it is tapped. Where nothing does, leaving
    saves it."""

    async def go_on(self) -> Chosen:
        last = self.past.last
        if self.memory.saving and last is not None and last.result.ok is False:
            self.remember(saving=False)
        if self.memory.saving and not any(is_field(each) and self._is_ours(each) for each in self.elements):
            return self.finish(", ".join(["saved", *self.errand.things]))
        if (choice := self.named_choice()) is not None:
            return choice
        form = self._form()
        left = [each for each in self.errand.things if not self._is_entered(each)]
        if len(form) < 2 and (move := self.only_match([*self._suggested(), *left])) is not None:
            return self.take(move)
        if form and left and self.here not in self.memory.read:
            texts = self._time(form) or ({label(form[0]): left[0]} if len(form) == len(left) == 1 else {})
            self.remember(texts=texts or await self.texts(form), read=(*self.memory.read, self.here))
        if (typing := self._next_text(form)) is not None:
            return typing
        typed = bool(self.past.did("type"))
        if typed and not left and (saving := await self._save()) is not None:
            return saving
        unsent = self._sends() and not any(
            each.consequential and each.result.ok is not False for each in self.past.steps
        )
        if unsent and typed and not left and self.moment.tool_result is None and not self._can_save():
            return self._lost("nothing here sends it")
        now = "enter " + ", ".join(f'"{each}"' for each in left) if left else "send it" if unsent else "save it"
        offered = self.moves()
        if typed and not unsent:
            offered.append(Move("done", "done"))
        return await self.choose(offered, now)

    def tapped(self) -> set[str]:
        """What saves may be tapped again, where that came to nothing."""
        return {each for each in super().tapped() if self.memory.saving or SAVING.isdisjoint(words(each))}

    def makes_sense(self, move: Move) -> bool:
        """No field in which something stands already."""
        field = move.element
        return move.kind != "type" or field is None or not (field.text or "filled" in field.state) or is_search(field)

    def _form(self) -> list[Element]:
        """The fields that are to be filled in: what another has written there is left alone."""
        fields = [each for each in self.elements if is_field(each) and "disabled" not in each.state]
        return [
            each for each in fields if not is_search(each) and (NUMERIC.fullmatch(each.text) or self._is_ours(each))
        ]

    def _is_ours(self, field: Element) -> bool:
        """Whether what stands in a field was typed in this task."""
        return field.text in {str(each.action.get("text")) for each in self.past.did("type")}

    def _is_entered(self, thing: str) -> bool:
        """Whether it was typed or tapped, of a time its parts."""
        if self.errand.things.index(thing) in self.memory.hidden:
            texts = self.memory.texts or {}
            return all("filled" in each.state for each in self._form() if texts.get(label(each)) == thing)
        used = self.past.has_used
        if used(thing):
            return True
        said = times(thing) if TIME.fullmatch(thing) else []
        return bool(said) and all((used(hour) or used(whole)) and used(minute) for hour, whole, minute in said)

    def _time(self, form: Sequence[Element]) -> dict[str, str]:
        """The only time of the task, where the form is a clock: two fields of two digits."""
        said = times(self.moment.task)
        if len(said) != 1 or len(form) != 2 or not all(CLOCK.fullmatch(each.text) for each in form):
            return {}
        hour, whole, minute = said[0]
        halves = any({"am", "pm"} & set(words(each.text)) for each in self.elements)
        return dict(zip(map(label, form), (hour if halves else whole, minute), strict=True))

    def _suggested(self) -> list[str]:
        """What was typed just now: it may be offered for choice."""
        last = self.past.last
        typed = str(last.action.get("text", "")) if last is not None else ""
        return [each for each in self.errand.things if each == typed]

    def _next_text(self, form: Sequence[Element]) -> Chosen | None:
        """The next field whose text does not stand there yet."""
        for field in form:
            text = (self.memory.texts or {}).get(label(field))
            if not text or field.text == text or "filled" in field.state:
                continue
            if len([each for each in self.past.steps if each.action.get("text") == text]) < TRIES:
                return self.type(field, text)
        return None

    def _can_save(self) -> bool:
        return any(each.role == "button" and not SAVING.isdisjoint(words(label(each))) for each in self.elements)

    def _sends(self) -> bool:
        """Whether it shall go off: who leaves it then has done nothing."""
        things = set(words(" ".join(self.errand.things)))
        said = list(words(self.moment.task))
        return not SENDING.isdisjoint(set(said) - things) or said[:1] in WRITTEN

    async def _save(self) -> Chosen | None:
        saving = [each for each in self.taps() if saves(each)]
        steps = self.past.steps
        typed = max(at for at, each in enumerate(steps) if each.action.get("action") == "type")
        left = [each for each in steps[typed:] if each.action.get("action") == "back"]
        pressed = [each for each in self.taps() if each.element and is_pressed(label(each.element), self.moment.task)]
        if len(pressed) == 1 and not self.memory.saving:
            self.remember(saving=True)
            return self.take(pressed[0])
        secret = any("password" in each.state for each in self.elements)  # nobody logs in by leaving
        leaves = not self._can_save() and not self._sends() and not secret
        if leaves and len(left) < LEAVINGS and not moves.is_one_of(moves.BACK, self.moment.barred):
            self.remember(saving=True)
            return self.do(moves.BACK, thinking="leaving saves it")
        if not saving or self.memory.saving:
            return None
        self.remember(saving=True)
        return self.take(saving[0]) if len(saving) == 1 else await self.choose(saving, "save it")
