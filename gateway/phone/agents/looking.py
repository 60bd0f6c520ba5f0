"""Errands that are done as soon as the right place is found: a switch to be flipped, a question to be answered."""

from __future__ import annotations

from gateway.engine.ports import Json
from gateway.phone.agents.agent import Chosen
from gateway.phone.agents.decision import Decision, saves
from gateway.phone.agents.errand import core, same_thing
from gateway.phone.agents.moves import Move, is_field, is_on, is_search, label
from gateway.phone.element import Element
from gateway.phone.labels import SEPARATOR
from gateway.phone.listing import COMMON, words

ANSWERS = 60  # texts of a screen that may be the answer
NOT_HERE = "(not on this screen)"


class Looking(Decision):
    """Goes through menus: nothing is typed but what is searched for, and no place is looked at twice."""

    def tapped(self) -> set[str]:
        return self.past.tapped(self.moment.seen.state_id, whatever_stood_there=True)

    def makes_sense(self, move: Move) -> bool:
        """Who only looks makes, saves and sends nothing."""
        return not saves(move)

    async def roam(self, now: str) -> Chosen:
        """On to another place."""
        found = self.search(self.errand.about)
        return found or await self.choose([each for each in self.moves() if each.kind != "type"], now)


class Switching(Looking):
    """Flips the switch that is called like what the errand is about, unless it stands right."""

    async def go_on(self) -> Chosen:
        wanted = self.errand.wanted
        meant = [each for each in self.elements if is_on(each) is not None and self._is_meant(each)]
        if any(is_on(each) is wanted for each in meant):
            return self.finish(f"{label(meant[0])} is {'on' if wanted else 'off'}")
        for move in self.taps():
            if move.element in meant:
                return self.take(move)
        return self._flipped() or await self.roam(f'find the switch of "{self.errand.about}"')

    def tapped(self) -> set[str]:
        """Switches may be tapped again: one was perhaps missed."""
        return super().tapped() - {each.text for each in self.elements if is_on(each) is not None}

    def makes_sense(self, move: Move) -> bool:
        """No switch of something else, and none that stands as it shall."""
        if move.element is None or is_on(move.element) is None:
            return super().makes_sense(move)
        about = core(self.errand.about)
        return is_on(move.element) is not self.errand.wanted and not about.isdisjoint(core(label(move.element)))

    def _is_meant(self, element: Element) -> bool:
        return same_thing(label(element), self.errand.about)

    def _flipped(self) -> Chosen | None:
        """What was flipped by the model's choice, and stands right now."""
        last = self.past.last
        for each in self.elements:
            tapped = last is not None and bool(each.text) and last.target == f'{each.role} "{each.text}"'
            if tapped and is_on(each) is self.errand.wanted:
                return self.finish(f"{label(each)} is {'on' if self.errand.wanted else 'off'}")
        return None


class Answering(Looking):
    """Reads the answer off the screen: it is one of the texts that stand there."""

    async def go_on(self) -> Chosen:
        last = self.past.last
        if last is not None and last.action.get("action") == "answer":
            return self.finish("answered")
        return await self._answer() or await self.roam(f'find "{self.errand.about}"')

    async def _answer(self) -> Chosen | None:
        seen, about = self.moment.seen.look, core(self.errand.about) - COMMON
        named = any(about and about <= set(words(f"{each.text} {each.hint}")) for each in self.elements)
        searching = any(is_field(each) and is_search(each) for each in self.elements)
        if not named or searching or seen in self.memory.without_answer:
            return None
        self.remember(without_answer=(*self.memory.without_answer, seen))
        texts = dict.fromkeys(part for each in self.elements for part in _parts(each))
        answer = await self.judge("Which text is the answer?", [*list(texts)[:ANSWERS], NOT_HERE])
        if answer == NOT_HERE:
            return None
        found = f"{self.errand.about}: {answer}"
        finish: dict[str, Json] = {"action": "FINISH", "reason": found, "success": True}
        return self.do({"action": "answer", "text": answer}, finish, thinking=found)


def _parts(element: Element) -> list[str]:
    """What an element says that may be an answer by itself."""
    state = is_on(element)
    if state is not None:
        return [f"{label(element)}: {'on' if state else 'off'}"]
    return [part for part in dict.fromkeys(element.text.split(SEPARATOR)) if part]
