"""Which actions do something that cannot be taken back: paying, sending, deleting, confirming, calling.

Told by what the target says. What looks like such a target and is none costs a question at worst; what is one and does
not look like it may be paid twice. So in doubt it counts: a note called "pay rent", a row "Send feedback".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.phone.actions import (
    DeviceAction,
    DoubleTap,
    Drag,
    Enter,
    LongPress,
    Numbered,
    Place,
    Swipe,
    Tap,
    Type,
)
from gateway.phone.element import Element
from gateway.phone.judging.command_words import LETTER, WIDE, Command, Words, fold, words
from gateway.phone.judging.launchers import is_launcher
from gateway.phone.labels import SEPARATOR

__all__ = ["Words", "consequential", "words"]

UNKNOWN = "unknown place"
ROLES = ("button", "image", "text", "progress")  # switches and the like can be put back, tabs and fields only show
LABEL, FURTHER, TEXT = 6, 3, 3  # words: a longer text is a sentence; what stands in a row below its name; a mere text
WIDE_WORD = 2  # characters of a script without spaces are about a word
QUESTION = 20  # words of a dialog's question
DIALOG = 14  # elements: what has more is no dialog
DIGIT_KEYS = 8
ALIKE = 0.25  # of its width and height: keys of one keypad
ROUTE = 0.1  # of the screen: a finger that moves further up or down scrolls

DECORATION = frozenset("btn button bt fab ic icon ib iv img image imageview action menu bar now text tv txt id".split())
SHOWS = frozenset(
    "item row list title label name status cell card container layout tab history log settings info field input edit "
    "hint option options method link count header group summary state progress spinner".split()
)
UNDOES = frozenset("cancel close dismiss undo back no dont not search clear".split())
CALLS = frozenset("phone call dial number mobile tel telephone".split())
PHONE_NUMBER = re.compile(r"\+?\(?\d[\d\s().\-/]{5,}\d")


def consequential(
    action: DeviceAction,
    target: Element | None,
    elements: Sequence[Element] | None,
    words: Words,
    *,
    readable: bool,
) -> str:
    """The word that makes it so, UNKNOWN where nothing is known about the place or the screen, empty where it is
    harmless. `target` is what it touches (`target.target_of`), `elements` what is on the screen; not `readable` means
    that the screen could not be read."""
    shown = elements or ()
    if isinstance(action, Enter):
        return _by_enter(shown, words, readable and bool(shown), typed=False)
    if isinstance(action, Type):
        return _by_enter(shown, words, readable and bool(shown), typed=True) if "\n" in action.text else ""
    if not isinstance(action, Tap | DoubleTap | LongPress | Swipe | Drag):
        return ""
    if isinstance(action, Swipe) and _scrolls(action, shown) and not _is_slid(target, words):
        return ""
    if target is None:
        return "" if shown and readable else UNKNOWN
    if target.role == "canvas" and not any(each.clickable is None for each in shown):
        return UNKNOWN
    pulled = isinstance(action, Swipe | Drag)
    return _word(target, shown, words, pulled=pulled)


def _word(element: Element, elements: Sequence[Element], words: Words, *, pulled: bool = False) -> str:
    if found := words.named(element.text, element.hint, element.resource_id):
        return found
    if element.role not in ROLES and not (pulled and element.role == "slider"):
        return ""
    command = _command(element, words)
    if command is None:
        return _number_to_call(element) or _answered(element, elements, words)
    if command.kind in ("delete", "alone") and _is_key(element, elements):
        return ""
    if is_launcher(element.package) and (command.kind == "alone" or fold(element.text) != command.word):
        return ""  # an app's icon
    return command.word


def _command(element: Element, words: Words) -> Command | None:
    label, *further = element.text.split(SEPARATOR)
    first = TEXT if element.role == "text" and element.clickable is False else LABEL
    if _length(label) <= first and (found := words.command(label)):
        return found
    for each in further:
        if _length(each) <= FURTHER and (found := words.command(each)):
            return found
    if element.role == "text" and element.clickable is False:
        return None
    parts = _parts(element.resource_id)
    if not parts or set(parts) & UNDOES or parts[-1] in SHOWS or _refuses(label, words):
        return None
    return words.command_of_name(parts)


def _refuses(label: str, words: Words) -> bool:
    """What says the opposite of its developers' name: their dialogs call the second button `confirm_cancel`."""
    return bool(label) and set(fold(label).split()) & UNDOES != set()


def _parts(resource_id: str) -> list[str]:
    """The words of a developers' name, without what only decorates it: `btnPayNow` is pay."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", resource_id)
    found = [each for each in re.split(r"[\W_\d]+", spaced.lower()) if each]
    return [each for each in found if each not in DECORATION]


def _length(label: str) -> float:
    """In words."""
    wide = len(re.findall(f"[{WIDE}]", label))
    return len(re.findall(f"(?:(?![{WIDE}\\d_])[{LETTER}'’-])+", label)) + wide / WIDE_WORD


def _number_to_call(element: Element) -> str:
    """A telephone number that is a button of its own calls."""
    if element.clickable is False:
        return ""
    label, *further = element.text.split(SEPARATOR)
    names = {*_parts(element.resource_id), *element.package.lower().split(".")}
    if not PHONE_NUMBER.fullmatch(label.strip()) or len(further) > 1 or not names & (CALLS | {"contacts", "dialer"}):
        return ""
    return label if all(_length(each) <= FURTHER for each in further) else ""


def _answered(element: Element, elements: Sequence[Element], words: Words) -> str:
    """What a dialog asks about, of the button that agrees to it."""
    positive = element.resource_id == "button1" or (_length(element.text) <= FURTHER and words.agrees(element.text))
    if element.role != "button" or not positive or len(elements) > DIALOG:
        return ""
    for each in elements:
        if each.role != "text" or each.clickable or each is element:
            continue
        for part in re.split(r"[.!?。！？؟।]\s*|" + re.escape(SEPARATOR), each.text):
            if _length(part) <= QUESTION and (found := words.command(part)):
                return found.word
    return ""


def _is_key(element: Element, elements: Sequence[Element]) -> bool:
    """Whether it is a key beside digits, where Delete takes back the last one. What calls is no such key."""
    if _parts(element.resource_id)[:1] in (["call"], ["dial"]) or fold(element.text).startswith(("call", "dial")):
        return False
    keys = [each for each in elements if each.role == "button" and re.fullmatch(r"\d\W*.{0,6}", each.text)]
    return len(keys) >= DIGIT_KEYS and any(
        abs(each.bounds.width - element.bounds.width) <= ALIKE * each.bounds.width
        and abs(each.bounds.height - element.bounds.height) <= ALIKE * each.bounds.height
        for each in keys
    )


def _by_enter(elements: Sequence[Element], words: Words, readable: bool, *, typed: bool) -> str:
    """What Enter would trigger: a button beside the field that has the focus, or below it in a form. A button that is
    disabled may be so for want of the text that is typed."""
    if not readable:
        return UNKNOWN
    for focused in elements:
        if "focused" not in focused.state:
            continue
        if focused.role != "field":
            if found := _word(focused, elements, words):
                return found
            continue
        if words.searches(focused.hint, *_parts(focused.resource_id)):
            continue
        for each in elements:
            if each.role not in ("button", "image") or each.bounds.bottom <= focused.bounds.top:
                continue
            command = None if "disabled" in each.state and not typed else _command(each, words)
            if command is not None and command.kind not in ("delete", "call"):
                return command.word
    return ""


def _scrolls(action: Swipe, elements: Sequence[Element]) -> bool:
    """Whether the finger moves up or down: over a button, too, that scrolls and presses nothing."""
    start, end = (_fraction(each, elements) for each in (action.start, action.end))
    if start is None or end is None:
        return False
    across, along = abs(start[0] - end[0]), abs(start[1] - end[1])
    return along >= ROUTE and along >= across


def _fraction(place: Place, elements: Sequence[Element]) -> tuple[float, float] | None:
    """As a fraction of the screen; of an element of the area that the elements take, which is nearly that."""
    if not isinstance(place, Numbered):
        return place
    found = next((each for each in elements if each.number == place.element), None)
    if found is None:
        return None
    width, height = (max(each.bounds[side] for each in elements) or 1 for side in (2, 3))
    x, y = found.bounds.centre
    return x / width, y / height


def _is_slid(target: Element | None, words: Words) -> bool:
    return target is not None and (target.role == "slider" or words.slides(target.text))
