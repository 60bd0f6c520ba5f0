"""One decision of the built-in agent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.engine.ports import Json
from gateway.phone.agents import errand as errands
from gateway.phone.agents import moves
from gateway.phone.agents.agent import Chosen, Moment
from gateway.phone.agents.asking import Questions
from gateway.phone.agents.errand import KINDS, Errand, core, same_thing
from gateway.phone.agents.moves import Move, is_field, is_on, is_search, label, shown
from gateway.phone.agents.past import Past, structure
from gateway.phone.agents.spans import spans
from gateway.phone.element import Element
from gateway.phone.labels import SEPARATOR
from gateway.phone.listing import COMMON, listing, words
from gateway.phone.task.state import Plain, Step

ERRAND, MOVE, TEXTS, JUDGEMENT = RECIPES = ("phone_errand", "phone_agent", "phone_texts", "phone_judgement")

LISTED = 600  # tokens of what the screen shows
ANSWERS = 60  # texts of a screen that may be the answer
NOT_HERE = "(not on this screen)"
OPENINGS = 3  # times that the app is opened again after it went away
RETURNS = 3  # times back in a row, to where the thing before was chosen
HOME = "launcher"  # in the package of home screens
NOTICE = 6  # elements: what has more is no mere notice
NUMERIC = re.compile(r"[\d\s:./+-]{0,8}")  # what a field has before anything was entered, such as a time
WORDS = re.compile(r"\S+")
NUMBERS = re.compile(r"^(\d+) ", re.MULTILINE)  # of the elements in a listing

# What ends an entry, on buttons: in the languages that most phones are set to.
COMMITTING = frozenset(
    "save done ok okay send add create apply confirm submit finish set post share update sichern speichern fertig senden "
    "anlegen hinzufügen übernehmen enregistrer terminé envoyer ajouter guardar listo enviar añadir salva fatto invia".split()
)


DISMISSING = frozenset(
    (
        "no thanks",
        "no thank you",
        "not now",
        "later",
        "maybe later",
        "skip",
        "dismiss",
        "close",
        "got it",
        "remind me later",
        "nein danke",
        "nicht jetzt",
        "später",
        "überspringen",
        "schließen",
        "non merci",
        "plus tard",
        "fermer",
        "ahora no",
        "no gracias",
        "más tarde",
        "cerrar",
        "non ora",
        "chiudi",
    )
)


class Memory(Plain):
    """What one decision leaves for the next: the errand; which of its things is in work and since which step; texts for
    the fields of the form in front, by their labels; on which screens what was asked in vain."""

    errand: Errand | None = None
    thing: int = 0
    since: int = 0
    texts: dict[str, str] = {}
    filled: tuple[str, ...] = ()
    looked: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    closing: bool = False


class Deciding:
    """What the screen is, what was done, and what comes next."""

    def __init__(self, moment: Moment, questions: Questions) -> None:
        self.moment = moment
        self.questions = questions
        self.memory = Memory.model_validate(moment.memory or {})
        self.elements = shown(moment.elements or ())
        self.past = Past(moment.history, moment.elements or (), questions.visit.artifacts)
        self.here = structure(moment.seen.state_id)

    async def decide(self) -> Chosen:
        last = self.past.last
        if last is not None and last.action.get("action") == "answer":
            return self._finish("answered")
        if self.memory.errand is None:
            self._remember(errand=await self._errand())
        if self.moment.elements is None:
            return self._blind()
        if (sure := self._opening() or self._dismissal()) is not None:
            return sure
        about, wanted = self.errand.about, self.errand.wanted
        if wanted is not None:
            found = self._switch(wanted) or self._search(about)
            return found or await self._move(f'find the switch of "{about}"')
        if self.errand.goal == "find out":
            found = await self._answer() or self._search(about)
            return found or await self._move(f'find "{about}"')
        if self.errand.goal == "write":
            return await self._write()
        return await self._get()

    @property
    def errand(self) -> Errand:
        assert self.memory.errand is not None
        return self.memory.errand

    async def _errand(self) -> Errand:
        apps = [each for each in self.moment.apps if HOME not in each.casefold()]
        said = await self.questions.ask(
            ERRAND,
            {"Task": self.moment.task, "Apps": ", ".join(apps)},
            "",
            errands.schema(self.moment.task, apps),
            "PHONE_ERRAND",
        )
        return errands.errand_of(said, self.moment.task)

    # what needs no model

    def _blind(self) -> Chosen:
        """Nothing can be read: it may be for a moment, or on this page."""
        kinds = [str(each.action.get("action")) for each in self.moment.history[-2:]]
        if "wait" not in kinds:
            return self._do({"action": "wait", "seconds": 2}, thinking="the screen cannot be read")
        if "back" not in kinds:
            return self._do(moves.BACK, thinking="the screen cannot be read")
        question = f"I cannot read this screen ({self.moment.seen.unreadable or 'nothing is listed'}). Please help."
        return self._do({"action": "ask_user", "question": question})

    def _opening(self) -> Chosen | None:
        app, opened = self.errand.app, self.past.did("open_app")
        away = HOME in self.moment.seen.package and len(opened) < OPENINGS
        if not app or (opened and not away):
            return None
        action: dict[str, Json] = {"action": "open_app", "app": app}
        return None if action in self.moment.barred else self._do(action)

    def _switch(self, wanted: bool) -> Chosen | None:
        for each in self.elements:
            if is_on(each) is None or not same_thing(label(each), self.errand.about):
                continue
            if is_on(each) is wanted:
                return self._finish(f"{label(each)} is {'on' if wanted else 'off'}")
            if (move := self._tapping(each)) is not None:
                return self._take(move)
        return None

    def _dismissal(self) -> Chosen | None:
        """A notice that has nothing to do with the task is put away."""
        said = {word for each in self.elements for word in words(each.text)}
        if len(self.elements) > NOTICE or any(map(is_field, self.elements)):
            return None
        if any(core(each) <= said for each in (self.errand.about, *self.errand.things) if core(each)):
            return None
        taps = [each for each in self._moves() if each.kind == "tap"]
        found = [each for each in taps if each.element and _plain(label(each.element)) in DISMISSING]
        return self._take(found[0]) if len(found) == 1 and len(taps) > 1 else None

    def _search(self, about: str) -> Chosen | None:
        """Where the app itself can look for it: search, then what was found; else the only entry that mentions it."""
        taps = [each for each in self._moves() if each.kind == "tap" and each.element is not None]
        named = [each for each in taps if each.element and same_thing(label(each.element), about)]
        if named:
            return self._take(named[0])
        term = " ".join(word for word in WORDS.findall(about) if not set(words(word)) <= COMMON | KINDS) or about
        searched = any(each.action.get("text") == term for each in self.past.steps)
        if not searched:
            for field in self.elements:
                if is_field(field) and is_search(field):
                    return self._type(field, term)
            for each in taps:
                if each.element and each.element.role == "button" and is_search(each.element):
                    return self._take(each)
        wanted = core(about) - COMMON
        mentioned = [each for each in taps if each.element and wanted and wanted <= set(words(each.element.text))]
        return self._take(mentioned[0]) if len(mentioned) == 1 else None

    # what there is to know

    async def _answer(self) -> Chosen | None:
        about = core(self.errand.about) - COMMON
        seen = self.moment.seen.look
        named = [each for each in self.elements if about and about <= set(words(f"{each.text} {each.hint}"))]
        searching = any(is_field(each) and is_search(each) for each in self.elements)
        if not named or searching or seen in self.memory.looked:
            return None
        self._remember(looked=(*self.memory.looked, seen))
        texts = dict.fromkeys(part for each in self.elements for part in _parts(each))
        answer = await self._judge("Which text is the answer?", [*list(texts)[:ANSWERS], NOT_HERE])
        if answer == NOT_HERE:
            return None
        found = f"{self.errand.about}: {answer}"
        finish: dict[str, Json] = {"action": "FINISH", "reason": found, "success": True}
        return self._do({"action": "answer", "text": answer}, finish, thinking=found)

    # texts to be entered and saved

    async def _write(self) -> Chosen:
        errand, past = self.errand, self.past
        if self.memory.closing and not self._stands_in_a_field():
            return self._finish("saved")
        fields = [each for each in self.elements if is_field(each) and "disabled" not in each.state]
        form = [
            each for each in fields if not is_search(each) and (self._is_ours(each) or NUMERIC.fullmatch(each.text))
        ]
        left = [each for each in errand.things if not past.has_used(each)]
        typed = past.did("type")
        suggested = [each for each in errand.things if typed and typed[-1] is past.last and _said(typed[-1]) == each]
        if len(form) < 2 and (move := self._only_match([*suggested, *left])) is not None:
            return self._take(move)
        if form and left and self.here not in self.memory.filled:
            texts = await self._texts(form) if len(form) > 1 or len(left) > 1 else {label(form[0]): left[0]}
            self._remember(texts=texts, filled=(*self.memory.filled, self.here))
        if (typing := self._next_text(form)) is not None:
            return typing
        if typed and not left and past.last is not None and not self.memory.closing:
            commits = [each for each in self._moves() if each.kind == "tap" and _commits(each)]
            self._remember(closing=True)
            if len(commits) == 1:
                return self._take(commits[0])
            if not commits:
                return self._do(moves.BACK, thinking="leaving saves it")
            return await self._choose(commits, "save it")
        now = "enter " + ", ".join(f'"{each}"' for each in left) if left else "save it"
        return await self._move(now, done=bool(typed))

    async def _texts(self, form: Sequence[Element]) -> dict[str, str]:
        """What goes into the fields of a form, by their labels."""
        said = spans(self.moment.task)
        names = {f"{each.number} {label(each)}": label(each) for each in form}
        text = {"type": "string", "enum": ["", *said]}
        schema = {
            "type": "object",
            "properties": dict.fromkeys(names, text),
            "required": list(names),
            "additionalProperties": False,
        }
        fields = "\n".join(
            f'{each.number} "{label(each)}" ' + (f'contains "{each.text}"' if each.text and each.hint else "empty")
            for each in form
        )
        answer = await self.questions.ask(
            TEXTS, {"Task": self.moment.task, "Fields": fields}, "", schema, "PHONE_TEXTS"
        )
        return {names[name]: str(value) for name, value in answer.items() if value}

    def _next_text(self, form: Sequence[Element]) -> Chosen | None:
        """The next field whose text does not stand there yet."""
        typed = {str(each.action.get("text")) for each in self.past.did("type")}
        for field in form:
            text = self.memory.texts.get(label(field))
            if text and field.text != text and ("password" not in field.state or text not in typed):
                tries = [each for each in self.past.steps if each.action.get("text") == text]
                if len(tries) < 2:
                    return self._type(field, text)
        return None

    def _is_ours(self, field: Element) -> bool:
        """Whether what stands in a field was typed in this task."""
        return field.text in {str(each.action.get("text")) for each in self.past.did("type")}

    def _stands_in_a_field(self) -> bool:
        """Whether a text that was typed still stands in a field."""
        return any(is_field(each) and self._is_ours(each) for each in self.elements)

    # things to be chosen, one after the other

    async def _get(self) -> Chosen:
        things = self.errand.things or (self.errand.about,)
        current = things[min(self.memory.thing, len(things) - 1)]
        past = self.past.since(self.memory.since)
        last = past.last
        if (
            last is not None
            and last.action.get("action") == "tap"
            and last.result.ok is not False
            and self._looks_final(last.target, current)
            and await self._judge(f'Is "{current}" done now?', ["yes", "no"]) == "yes"
        ):
            return await self._next_thing()
        opened = any(core(current) <= set(words(each.target)) for each in past.did("tap"))
        if not opened:
            if (move := self._only_match([current])) is not None:
                return self._take(move)
            if (again := self._as_before(current, past) or self._search(current)) is not None:
                return again
        asked = set(words(self.moment.task)) - COMMON
        commits = [each for each in self._moves() if each.kind == "tap" and _commits(each) and _shares(each, asked)]
        if opened and len(commits) == 1:
            return self._take(commits[0])
        return await self._move(f'"{current}"', text=None if opened else current, done=opened)

    async def _next_thing(self) -> Chosen:
        """The one in work is done."""
        self._remember(thing=self.memory.thing + 1, since=len(self.moment.history))
        return self._finish("all done") if self.memory.thing >= len(self.errand.things) else await self._get()

    def _looks_final(self, target: str, current: str) -> bool:
        """Whether a tap on it may have been the last one for this thing."""
        said = set(words(target))
        asked = set(words(self.moment.task)) - COMMON - set(words(" ".join(self.errand.things)))
        return not core(current) <= said and not said.isdisjoint(asked | COMMITTING)

    def _as_before(self, current: str, past: Past) -> Chosen | None:
        """To where the thing before was chosen, and there the same: its text was typed into a field."""
        before = self.past.steps[: self.memory.since]
        if not before or not self.memory.thing:
            return None
        thing = self.errand.things[self.memory.thing - 1]
        found = [each for each in before if core(thing) <= set(words(each.target)) and each.action["action"] == "tap"]
        if not found:
            return None
        if structure(found[0].state_id) != self.here:
            returns = [each for each in past.steps if each.action.get("action") == "back"]
            return self._do(moves.BACK, thinking="back to the list") if len(returns) < RETURNS else None
        typed = [each for each in before if each.action.get("text") == thing]
        fields = [each for each in self.elements if is_field(each)]
        if typed and len(fields) == 1 and fields[0].text != current:
            return self._type(fields[0], current)
        return None

    # choosing among moves

    def _moves(self) -> list[Move]:
        assert self.moment.elements is not None
        found = moves.moves_of(
            self.moment.elements, self.moment.seen.size, keyboard=self.moment.seen.keyboard, barred=self.moment.barred
        )
        looking = self.errand.wanted is not None or self.errand.goal == "find out"
        tapped = self.past.since(self.memory.since).tapped_here(self.moment.seen.state_id, anyhow=looking)
        vain = self.past.scrolled_in_vain(self.moment.seen.state_id)
        return [each for each in found if not self._makes_no_sense(each, tapped, vain)]

    def _makes_no_sense(self, move: Move, tapped: set[str], vain: bool) -> bool:
        element = move.element
        if move.name in ("scroll up",) or (move.kind == "scroll" and vain):
            return True
        if element is None:
            return False
        if move.kind == "type":
            return bool(element.text) and not is_search(element)
        if (element.text or element.resource_id) in tapped:
            return True
        state, wanted = is_on(element), self.errand.wanted
        return state is not None and wanted is not None and core(label(element)).isdisjoint(core(self.errand.about))

    def _tapping(self, element: Element) -> Move | None:
        return next((each for each in self._moves() if each.kind == "tap" and each.element is element), None)

    def _only_match(self, things: Sequence[str]) -> Move | None:
        """The only element that one of the things names; the first where it stands there twice."""
        for thing in things:
            wanted = core(thing)
            found = [
                each
                for each in self._moves()
                if each.kind == "tap"
                and each.element is not None
                and wanted
                and wanted <= set(words(each.element.text.split(SEPARATOR)[0]))
            ]
            if len({each.element.text for each in found if each.element}) == 1:
                return found[0]
        return None

    async def _move(self, now: str, *, text: str | None = None, done: bool = False) -> Chosen:
        """What the model chooses of all that can be done."""
        offered = self._moves()
        if text is None:
            offered = [each for each in offered if each.kind != "type" or self.errand.goal == "write"]
        offered = [each for each in offered if each.name not in self.memory.passed_over]
        if done:
            offered.append(Move("done", "done"))
        return await self._choose(offered, now, text)

    async def _choose(self, offered: Sequence[Move], now: str, text: str | None = None) -> Chosen:
        if not offered:
            if self.past.did("ask_user"):
                return self._finish(f"nothing on this screen leads on: {now}", success=False)
            return self._do({"action": "ask_user", "question": f"I do not know how to go on: {now}. What shall I do?"})
        screen = self._screen()
        listed = {int(each) for each in NUMBERS.findall(screen)}
        offered = [each for each in offered if each.element is None or each.element.number in listed]
        documents = {"Task": f"{self.moment.task}\nNow: {now}", "Done": self.past.lines(), "Screen": screen}
        schema = moves.schema([each.name for each in offered])
        said = await self.questions.ask(MOVE, documents, self._note(), schema, "PHONE_MOVE")
        move = next(each for each in offered if each.name == said["move"])
        if move.kind == "type":
            assert move.element is not None
            text = text or (await self._texts([move.element])).get(label(move.element))
            if not text or moves.is_one_of(moves.typing(move.element, text)[0], self.moment.barred):
                self._remember(passed_over=(*self.memory.passed_over, move.name))
                return await self._choose([each for each in offered if each is not move], now)
            return self._type(move.element, text)
        if move.kind == "done":
            return await self._next_thing() if self.errand.goal in ("get things", "other") else self._finish("done")
        return self._take(move)

    async def _judge(self, question: str, answers: Sequence[str]) -> str:
        schema = {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": list(answers)}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        documents = {"Task": self.moment.task, "Done": self.past.lines(), "Screen": self._screen()}
        said = await self.questions.ask(JUDGEMENT, documents, question, schema, "PHONE_JUDGEMENT")
        return str(said["answer"])

    def _screen(self) -> str:
        return listing(self.elements, LISTED, keep=self.moment.task)

    def _note(self) -> str:
        note = self.moment.note
        result = self.moment.tool_result
        return "\n".join(each for each in (note, f"Answer: {result}" if result else "") if each)

    # what comes out

    def _remember(self, **changes: Json) -> None:
        self.memory = self.memory.with_(**changes)

    def _type(self, field: Element, text: str) -> Chosen:
        return self._do(*moves.typing(field, text))

    def _take(self, move: Move) -> Chosen:
        assert move.action is not None
        return self._do(move.action)

    def _finish(self, reason: str, *, success: bool = True) -> Chosen:
        return self._do({"action": "FINISH", "reason": reason, "success": success})

    def _do(self, *actions: dict[str, Json], thinking: str = "") -> Chosen:
        return Chosen(
            actions=actions,
            thinking=thinking,
            text="\n".join(self.questions.said),
            pack=self.questions.pack,
            calls=self.questions.asked,
            memory=self.memory.model_dump(),
        )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _said(step: Step) -> str:
    return str(step.action.get("text", ""))


def _shares(move: Move, said: set[str]) -> bool:
    return move.element is not None and not said.isdisjoint(words(label(move.element)))


def _commits(move: Move) -> bool:
    return move.element is not None and not COMMITTING.isdisjoint(words(label(move.element)))


def _parts(element: Element) -> list[str]:
    """What an element says that may be an answer by itself."""
    state = is_on(element)
    if state is not None:
        return [f"{label(element)}: {'on' if state else 'off'}"]
    return [part for part in dict.fromkeys([*element.text.split(SEPARATOR)]) if part]
