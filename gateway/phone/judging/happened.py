"""Whether an act whose answer was lost happened all the same, as the screen tells it."""

from __future__ import annotations

import re

from gateway.phone.actions import Clear, DeviceAction, Type, Wait
from gateway.phone.element import Element
from gateway.phone.judging import crash
from gateway.phone.judging.command_words import fold, whole
from gateway.phone.judging.look import Difference, Look
from gateway.phone.judging.target import again
from gateway.phone.judging.typed_text import handed_over

ADVERTISEMENT = re.compile(r"AdActivity|\.ads?\.|Interstitial")  # in the app's own name, above whatever it shows


def happened(
    action: DeviceAction, target: Element | None, consequential: str, before: Look, after: Look
) -> bool | None:
    """True: it did. False: it did not, and may be done again. None: the screen cannot tell, now at least.

    Of what is harmless any difference tells, also one that came by itself: what is seen then is what the agent goes on
    from. Of what is consequential an unchanged screen proves nothing, for the app may be slow; nor does another app in
    front, or something that lies above the target. It happened where the app shows another screen without the target,
    where it asks about the very thing, or where the text that was to be sent has left its field.
    """
    difference = Difference(before, after)
    if isinstance(action, Wait):
        return True
    if consequential:
        return _took_effect(action, target, consequential, difference)
    if isinstance(action, Type | Clear):
        return _field_has(action, difference)
    if difference.anything or difference.picture:
        return True
    hidden = before.seen.secure or after.seen.secure
    return False if difference.readable and not hidden else difference.picture


def _took_effect(action: DeviceAction, target: Element | None, word: str, difference: Difference) -> bool | None:
    before, after = difference.before, difference.after
    if difference.app or crash.gone(before, after) or after.seen.screen_on is False or after.elements is None:
        return None
    if after.is_popup and not before.is_popup:
        return True if _asks_about(word, difference) else None
    if ADVERTISEMENT.search(after.seen.activity) and difference.screen:
        return None
    if any(handed_over(text, field, before, after) for text, field in _texts(action, before)):
        return True
    if target is not None and again(target, after.shown) is not None:
        return None
    other = bool(before.structure) and bool(after.structure) and before.structure != after.structure
    return True if other and bool(after.shown) and not _is_waiting(difference) else None


def _texts(action: DeviceAction, before: Look) -> list[tuple[str, Element | None]]:
    """What may have been sent, and from which field: what was to be typed, and what stood in fields."""
    typed = [(action.text, before.field)] if isinstance(action, Type) else []
    return [*typed, *((each.text, each) for each in before.shown if each.role == "field" and each.text)]


def _asks_about(word: str, difference: Difference) -> bool:
    """Whether what came up names the very thing: Delete asks `Delete this note?`."""
    named = whole([word])
    before = {each.text for each in difference.before.shown}
    return any(named.search(fold(each.text)) for each in difference.after.shown if each.text not in before)


def _is_waiting(difference: Difference) -> bool:
    """Nothing but a sign that something is under way: what it leads to is not known yet."""
    return all(each.role in ("progress", "image", "list") or not each.text for each in difference.after.shown)


def _field_has(action: Type | Clear, difference: Difference) -> bool | None:
    """What the field says: the rest is for the verification, which reads it, too."""
    before, after = difference.before, difference.after
    then = before.field
    now = (again(then, after.shown) if then is not None else None) or after.field
    if not difference.readable:
        return True if difference.screen else None
    if now is None:
        return difference.anything or bool(difference.picture)
    if isinstance(action, Clear):
        return not now.text and "filled" not in now.state
    if then is None:
        return True if now.text and now.text.strip() in action.text else None
    if "password" in now.state:
        was, has = "filled" in then.state, "filled" in now.state
        return (None if was else True) if has else False
    return now.text != then.text or difference.screen
