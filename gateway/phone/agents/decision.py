"""One decision of the built-in agent: what all kinds of errands have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from gateway.engine.ports import Json
from gateway.phone.agents import moves
from gateway.phone.agents.agent import Chosen, Moment
from gateway.phone.agents.asking import Questions
from gateway.phone.agents.button_words import DISMISSING, SAVING
from gateway.phone.agents.errand import KINDS, Errand, core, names, same_thing
from gateway.phone.agents.moves import Move, called_name, is_field, is_on, is_search, label, shown
from gateway.phone.agents.past import Past, structure
from gateway.phone.agents.spans import spans
from gateway.phone.element import Element
from gateway.phone.judging.launchers import is_launcher
from gateway.phone.labels import SEPARATOR
from gateway.phone.listing import COMMON, listing, quoted, words
from gateway.phone.task.state import Plain

MOVE, TEXTS, JUDGEMENT = "phone_agent", "phone_texts", "phone_judgement"

LISTED = 600  # tokens of what the screen shows
NUMBERS = re.compile(r"^(\d+) ", re.MULTILINE)  # of the elements in a listing
SAID = 200  # characters of what a screen, or a field, says
OPENINGS = 3  # times that the app is opened again after it went away
CHOICES = ("checkbox", "radio")
NOTICE = 6  # elements: what has more is no mere notice
WORD = re.compile(r"\S+")


class Memory(Plain):
    """What one decision leaves for the next: the errand; which of its things is in work, and since which step; texts
    for the form in front, by their fields' labels; forms that were read, screens that do not have the answer; moves
    that came to nothing; whether what was entered has been saved, as far as one knows."""

    errand: Errand | None = None
    thing: int = 0
    since: int = 0
    texts: dict[str, str] | None = None
    read: tuple[str, ...] = ()
    without_answer: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    saving: bool = False
    hidden: tuple[int, ...] = ()


class Decision(ABC):
    """What the screen is, what was done, and what comes next. What is sure is decided by code; the rest a model chooses
    among the moves that the screen allows."""

    def __init__(self, moment: Moment, questions: Questions, memory: Memory) -> None:
        assert memory.errand is not None
        self.moment = moment
        self.questions = questions
        self.memory = memory
        self.errand = memory.errand
        self.elements = shown(moment.elements or ())
        self.past = Past(moment.history, moment.elements or (), questions.visit.artifacts)
        self.here = structure(moment.seen.state_id)

    async def decide(self) -> Chosen:
        if self.moment.elements is None:
            return self._blind()
        return self._opening() or self._dismissal() or await self.go_on()

    @abstractmethod
    async def go_on(self) -> Chosen:
        """In the app, on a screen that can be read."""

    # what is sure

    def _blind(self) -> Chosen:
        """Nothing can be read: it may be for a moment, or on this page."""
        kinds = [str(each.action.get("action")) for each in self.moment.history[-2:]]
        if "wait" not in kinds:
            return self.do({"action": "wait", "seconds": 2}, thinking="the screen cannot be read")
        if "back" not in kinds:
            return self.do(moves.BACK, thinking="the screen cannot be read")
        question = f"I cannot read this screen ({self.moment.seen.unreadable or 'nothing is listed'}). Please help."
        return self.do({"action": "ask_user", "question": question})

    def _opening(self) -> Chosen | None:
        app, opened = self.moment.app or self.errand.app, self.past.did("open_app")
        away = is_launcher(self.moment.seen.package) and len(opened) < OPENINGS
        if not app or ((opened or self.moment.app) and not away):
            return None
        action: dict[str, Json] = {"action": "open_app", "app": app}
        return None if moves.is_one_of(action, self.moment.barred) else self.do(action)

    def _dismissal(self) -> Chosen | None:
        """A notice that has nothing to do with the task is put away."""
        if len(self.elements) > NOTICE or any(map(is_field, self.elements)):
            return None
        said = {word for each in self.elements for word in words(each.text)}
        if any(core(each) <= said for each in (self.errand.about, *self.errand.things) if core(each)):
            return None
        taps = self.taps()
        found = [each for each in taps if each.element and _plain(label(each.element)) in DISMISSING]
        return self.take(found[0]) if len(found) == 1 and len(taps) > 1 else None

    def search(self, wanted: str) -> Chosen | None:
        """What is called so; else the app is asked, where it can be; else the only entry that mentions it."""
        taps = [(each, each.element) for each in self.taps() if each.element is not None]
        for move, element in taps:
            if same_thing(label(element), wanted):
                return self.take(move)
        term = " ".join(each for each in WORD.findall(wanted) if not set(words(each)) <= COMMON | KINDS) or wanted
        if not any(each.action.get("text") == term for each in self.past.steps):
            for field in self.elements:
                if is_field(field) and is_search(field):
                    return self.type(field, term)
            for move, element in taps:
                if element.role == "button" and is_search(element):
                    return self.take(move)
        named = core(wanted) - COMMON
        mentioning = [move for move, element in taps if named and named <= set(words(element.text))]
        return self.take(mentioning[0]) if len(mentioning) == 1 else None

    def named_choice(self) -> Chosen | None:
        """What the task names word for word, and can be chosen but is not yet; each once."""
        tapped = {called_name(each.target) for each in self.past.did("tap")}
        for move in self.taps():
            each = move.element
            open_choice = each is not None and each.role in CHOICES and is_on(each) is False
            if each is not None and open_choice and each.text not in tapped and names(self.moment.task, each.text):
                return self.take(move)
        return None

    def only_match(self, things: Sequence[str]) -> Move | None:
        """What one of the things names, where that is one thing; the first where it stands there twice."""
        for thing in things:
            wanted = core(thing)
            found = [
                each
                for each in self.taps()
                if each.element is not None and wanted and wanted <= set(words(each.element.text.split(SEPARATOR)[0]))
            ]
            if len({each.element.text for each in found if each.element}) == 1:
                return found[0]
        return None

    # the moves that there are

    def moves(self) -> list[Move]:
        """Those that make sense."""
        assert self.moment.elements is not None
        found = moves.moves_of(
            self.moment.elements, self.moment.seen.size, keyboard=self.moment.seen.keyboard, barred=self.moment.barred
        )
        vain = self.past.scrolled_in_vain(self.moment.seen.state_id)
        never_down = not self.past.has_scrolled(self.moment.seen.state_id)  # so what is above was not seen yet
        tapped = self.tapped()
        return [
            each
            for each in found
            if each.name not in self.memory.passed_over
            and (each.kind != "scroll" or (vain and never_down if each.name == "scroll up" else not vain))
            and not (each.kind == "back" and self._is_first_screen())
            and not (each.kind == "tap" and each.element and (each.element.text or each.element.resource_id) in tapped)
            and self.makes_sense(each)
        ]

    def taps(self) -> list[Move]:
        return [each for each in self.moves() if each.kind == "tap"]

    def tapped(self) -> set[str]:
        """The names of what was tapped on this very screen already."""
        return self.past.since(self.memory.since).tapped(self.moment.seen.state_id)

    def _is_first_screen(self) -> bool:
        """Of the task's own app: who goes back there leaves it."""
        steps = self.past.steps
        return bool(self.moment.app) and (not steps or structure(steps[0].state_id) == self.here)

    def makes_sense(self, move: Move) -> bool:
        """Whether the errand can be brought on by it."""
        return True

    # what the model is asked

    async def choose(self, offered: Sequence[Move], now: str, text: str = "") -> Chosen:
        """What the model chooses; `text` is what is to be typed, should it choose a field. One is asked for else."""
        screen = listing(self.elements, LISTED, keep=self.moment.task)
        listed = {int(each) for each in NUMBERS.findall(screen)}
        offered = [each for each in offered if each.element is None or each.element.number in listed]
        if not offered:
            return self._lost(now)
        if len(offered) == 1 and offered[0].kind == "tap":
            return self.take(offered[0])
        documents = {"Task": f"{self.moment.task}\nNow: {now}", "Done": self.past.lines(), "Screen": screen}
        schema = moves.schema([each.name for each in offered])
        said = await self.questions.ask(MOVE, documents, self._note(), schema, "PHONE_MOVE")
        move = next(each for each in offered if each.name == said["move"])
        if move.kind == "done":
            return await self.done()
        if move.kind != "type" or move.element is None:
            return self.take(move)
        field = move.element
        text = text or (await self.texts([field])).get(label(field), "")
        if text and not moves.is_one_of(moves.typing(field, text)[0], self.moment.barred):
            return self.type(field, text)
        if not text and "focused" not in field.state and not moves.is_one_of(moves.tap(field), self.moment.barred):
            return self.do(moves.tap(field))  # where there is nothing to type, it can still be touched
        self.remember(passed_over=(*self.memory.passed_over, move.name))
        return await self.choose([each for each in offered if each is not move], now, text)

    async def done(self) -> Chosen:
        return self.finish("done")

    async def texts(self, fields: Sequence[Element]) -> dict[str, str]:
        """What the task gives for fields, by their labels."""
        names = {f"{each.number} {label(each)}": label(each) for each in fields}
        text = {"type": "string", "enum": ["", *spans(self.moment.task)]}
        lines = "\n".join(
            f'{each.number} "{label(each)}" '
            + (f"contains {quoted(each.text, SAID)}" if each.text and each.hint else "empty")
            for each in fields
        )
        documents = {"Task": self.moment.task, "Fields": lines}
        said = await self.questions.ask(TEXTS, documents, "", _object(dict.fromkeys(names, text)), "PHONE_TEXTS")
        return {names[name]: str(value) for name, value in said.items() if value}

    async def judge(self, question: str, answers: Sequence[str]) -> str:
        """One of the answers."""
        screen = listing(self.elements, LISTED, keep=self.moment.task)
        documents = {"Task": self.moment.task, "Done": self.past.lines(), "Screen": screen}
        schema = _object({"answer": {"type": "string", "enum": list(answers)}})
        said = await self.questions.ask(JUDGEMENT, documents, question, schema, "PHONE_JUDGEMENT")
        return str(said["answer"])

    def _note(self) -> str:
        result = self.moment.tool_result
        return "\n".join(each for each in (self.moment.note, f"Answer: {result}" if result else "") if each)

    def _lost(self, now: str) -> Chosen:
        if any(each.action.get("action") == "ask_user" for each in self.past.steps):  # also where nobody answered
            return self.finish(f"nothing on this screen leads on: {now}", success=False)
        return self.do({"action": "ask_user", "question": f"I do not know how to go on: {now}. What shall I do?"})

    # what comes out

    def remember(self, **changes: Any) -> None:
        self.memory = self.memory.with_(**changes)

    def type(self, field: Element, text: str) -> Chosen:
        if "password" in field.state and text in self.errand.things:
            self.remember(hidden=(*self.memory.hidden, self.errand.things.index(text)))
        return self.do(*moves.typing(field, text))

    def take(self, move: Move) -> Chosen:
        assert move.action is not None
        return self.do(move.action)

    def finish(self, reason: str, *, success: bool = True) -> Chosen:
        return self.do({"action": "FINISH", "reason": reason, "success": success})

    def do(self, *actions: dict[str, Json], thinking: str = "") -> Chosen:
        return Chosen(
            actions=actions,
            thinking=thinking,
            text="\n".join(self.questions.said),
            pack=self.questions.pack,
            calls=self.questions.asked,
            memory=self.memory.model_dump(),
        )


def saves(move: Move) -> bool:
    """Whether it says that it ends an entry."""
    return move.element is not None and not SAVING.isdisjoint(words(label(move.element)))


def _object(properties: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
