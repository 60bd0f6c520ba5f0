"""Errands in which things are chosen, one after the other: added, bought, played, opened."""

from __future__ import annotations

from gateway.phone.agents import moves
from gateway.phone.agents.agent import Chosen
from gateway.phone.agents.button_words import SAVING
from gateway.phone.agents.decision import Decision, saves
from gateway.phone.agents.errand import core
from gateway.phone.agents.moves import Move, is_field, label
from gateway.phone.agents.past import Past, structure
from gateway.phone.listing import COMMON, words

RETURNS = 3  # times back in a row, to where the thing before was chosen


class Getting(Decision):
    """A thing is looked for and opened; then the model chooses what is done with it. The next one is looked for where
    the one before was found."""

    async def go_on(self) -> Chosen:
        thing = self._thing()
        past = self.past.since(self.memory.since)
        last = past.last
        if (
            last is not None
            and last.action.get("action") == "tap"
            and last.result.ok is not False
            and self._may_end(last.target)
            and await self.judge(f'Is "{thing}" done now?', ["yes", "no"]) == "yes"
        ):
            return await self.done()
        opened = any(core(thing) <= set(words(each.target)) for each in past.did("tap"))
        if opened:
            ending = [each for each in self.taps() if saves(each) and _shares(each, self._asked())]
            if len(ending) == 1:
                return self.take(ending[0])
        else:
            if (move := self.only_match([thing])) is not None:
                return self.take(move)
            if (found := self._as_before(thing, past) or self.search(thing)) is not None:
                return found
        offered = [each for each in self.moves() if each.kind != "type" or not opened]
        if opened:
            offered.append(Move("done", "done"))
        return await self.choose(offered, f'"{thing}"', thing)

    async def done(self) -> Chosen:
        """The one in work is."""
        self.remember(thing=self.memory.thing + 1, since=len(self.moment.history))
        return self.finish("all done") if self.memory.thing >= len(self.errand.things) else await self.go_on()

    def _thing(self) -> str:
        things = self.errand.things or (self.errand.about or self.moment.task,)
        return things[min(self.memory.thing, len(things) - 1)]

    def _asked(self) -> set[str]:
        """The words of the task besides those of the things."""
        return set(words(self.moment.task)) - COMMON - set(words(" ".join(self.errand.things)))

    def _may_end(self, target: str) -> bool:
        """Whether a tap on it may have been the last one for this thing."""
        said = set(words(target))
        return not core(self._thing()) <= said and not said.isdisjoint(self._asked() | SAVING)

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
