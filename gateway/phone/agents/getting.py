"""Errands in which things are chosen, one after the other: added, bought, played, opened."""

from __future__ import annotations

from gateway.phone.agents import moves
from gateway.phone.agents.agent import Chosen
from gateway.phone.agents.button_words import SAVING
from gateway.phone.agents.decision import CHOICES, SAID, Decision, saves
from gateway.phone.agents.errand import core, is_pressed
from gateway.phone.agents.moves import Move, called_name, is_field, is_on, label
from gateway.phone.agents.past import Past, structure
from gateway.phone.listing import COMMON, quoted, words

STEM = 3  # letters
RETURNS = 3  # times back in a row, to where the thing before was chosen


class Getting(Decision):
    """A thing is looked for and opened; then the model chooses what is done with it. The next one is looked for where
    the one before was found."""

    async def go_on(self) -> Chosen:
        if (choice := self.named_choice()) is not None:
            return choice
        thing = self._thing()
        past = self.past.since(self.memory.since)
        last = past.last
        if (
            last is not None
            and last.action.get("action") == "tap"
            and last.result.ok is not False
            and self._may_end(last.target)
            and (self._is_opened(thing, past) or not is_pressed(thing, self.moment.task))
            and (self._says_done(last.target) or await self.judge(f'Is "{thing}" done now?', ["yes", "no"]) == "yes")
        ):
            return await self.done()
        if not self._is_opened(thing, past):
            if (move := self.only_match([thing])) is not None:
                return self.take(move)
            found = self._as_before(thing, past) or self.search(thing)
            return found or await self.choose(self.moves(), f'"{thing}"', thing)
        again = ""  # not before something else was done; but a dialog may ask in the same words
        if last is not None and self.past.still_shows(last):
            again = called_name(last.target)
        offered = [each for each in self.moves() if each.element is None or each.element.text != again]
        ending = [each for each in offered if each.kind == "tap" and saves(each) and _shares(each, self._asked())]
        if len(ending) == 1:
            return self.take(ending[0])
        open_choices = [each for each in offered if each.element and is_on(each.element) is False]
        if open_choices and last is not None and self._may_end(last.target):  # it waits for one of them
            return await self.choose(open_choices, f'"{thing}"')
        new = [] if last is None else self.past.new(len(self.past.steps) - 1)
        now = "; ".join([f'"{thing}"', *(f"the screen says {quoted(each, SAID)}" for each in new)])
        return await self.choose([*(each for each in offered if each.kind != "type"), Move("done", "done")], now)

    async def done(self) -> Chosen:
        """The one in work is."""
        self.remember(thing=self.memory.thing + 1, since=len(self.moment.history))
        everything = ", ".join(["done", *self.errand.things])
        return self.finish(everything) if self.memory.thing >= len(self.errand.things) else await self.go_on()

    def _thing(self) -> str:
        things = self.errand.things or (self.errand.about or self.moment.task,)
        return things[min(self.memory.thing, len(things) - 1)]

    def _is_opened(self, thing: str, past: Past) -> bool:
        """Whether it was tapped, and not left since."""
        left = max((at for at, each in enumerate(past.steps) if each.action.get("action") == "back"), default=-1)
        return any(core(thing) <= set(words(each.target)) for each in past.since(left + 1).did("tap"))

    def _asked(self) -> set[str]:
        """The words of the task besides those of the things."""
        return set(words(self.moment.task)) - COMMON - set(words(" ".join(self.errand.things)))

    def _may_end(self, target: str) -> bool:
        """Whether a tap on it may have been the last one for this thing: a choice among others waits for what comes."""
        said = set(words(target))
        return (
            not target.startswith(CHOICES)
            and not core(self._thing()) <= said
            and not said.isdisjoint(self._asked() | SAVING)
        )

    def _says_done(self, target: str) -> bool:
        """Whether the screen says since then, in the past tense, what was tapped: "Added …" after "Add …"."""
        stems = {each[:STEM]: each for each in set(words(target)) & SAVING}
        new = {word for text in self.past.new(len(self.past.steps) - 1) for word in words(text)}
        return any(each[:STEM] in stems and each != stems[each[:STEM]] for each in new)

    def _as_before(self, thing: str, past: Past) -> Chosen | None:
        """Back to where the thing before was chosen, and there the same: its name was typed into a field."""
        before = self.past.steps[: self.memory.since]
        if not before or not self.memory.thing:
            return None
        other = self.errand.things[self.memory.thing - 1]
        taps = [each for each in before if each.action.get("action") == "tap"]
        found = [each for each in taps if core(other) <= set(words(each.target))]
        if not found:
            return None
        if structure(found[0].state_id) != self.here:
            returns = [each for each in past.steps if each.action.get("action") == "back"]
            may = len(returns) < RETURNS and not moves.is_one_of(moves.BACK, self.moment.barred)
            return self.do(moves.BACK, thinking="back to the list") if may else None
        typed = any(each.action.get("text") == other for each in before)
        fields = [each for each in self.elements if is_field(each)]
        return self.type(fields[0], thing) if typed and len(fields) == 1 and fields[0].text != thing else None


def _shares(move: Move, said: set[str]) -> bool:
    return move.element is not None and not said.isdisjoint(words(label(move.element)))
