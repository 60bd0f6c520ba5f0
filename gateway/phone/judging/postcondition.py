"""Whether an action did what it is for, as the screen tells it: without a model.

Each kind has its postcondition: a field has the focus, a toggle is flipped, the text stands in its field, the content
has moved, the app is in front; of all else the screen is another one. What goes on by itself is no proof. The note says
in 25 words at most what happened and what the agent may do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateway.engine.ports import Json
from gateway.phone import actions
from gateway.phone.actions import DeviceAction
from gateway.phone.element import Element
from gateway.phone.judging import crash
from gateway.phone.judging.happened import happened
from gateway.phone.judging.launchers import is_dialog, is_launcher
from gateway.phone.judging.look import Difference, Look
from gateway.phone.judging.refusal import refused
from gateway.phone.judging.target import again
from gateway.phone.judging.typed_text import Verdict, cleared, quoted, typed
from gateway.phone.roles import CHECKABLE
from gateway.phone.task.state import Result

__all__ = ["Look", "happened", "judge"]

EDGE = 0.04  # of the screen: a swipe that starts there is the system's
UNDER_KEYBOARD = 0.55  # of the screen's height: a keyboard takes no more from below
LEAVING = ("home", "back", "recent", "open_app")

DONE = Verdict(True)
GONE = "The app has crashed or left: it is not in front any more. It has to be started again."
DARK = "The screen went dark. Nothing can be told until it is on again."
BY_ITSELF = "Only a clock or progress changed, which may go on by itself. Look whether it did what you wanted."
PICTURE = "Only the picture changed, nothing in the list. Look whether it did what you wanted."
SECURE = "This screen hides its picture, so that nothing tells whether it worked. Go on, but do not repeat it."
UNREADABLE = "The screen cannot be read, so nothing tells whether it worked. Look at the picture."
COVERED = "The keyboard covers it. Go back once to close the keyboard, then do it again."
TYPED_INSTEAD = "The keyboard covers it: the tap typed a letter. Clear the field, go back to close the keyboard."


def judge(
    action: DeviceAction,
    target: Element | None,
    before: Look,
    after: Look,
    outcome: Mapping[str, Json],
    *,
    screen_change: bool,
    consequential: str = "",
) -> Result:
    """Of an act that was done between two looks. `target` is what it touched, `outcome` what `device.act` gave.

    `ok` is None where it cannot be told. `cause` is empty, or one of: dropped, unchanged, covered, disabled, secure,
    unreadable, not_typed, not_cleared, no_input_method, no_such_app, denied, failed, unusable, scrolled_to_end,
    wrong_app, app_gone, screen_off. Without `screen_change` an unchanged screen counts for nothing. What is
    `consequential` may be slow: there, what goes on by itself is no more than an unchanged screen, to be looked at
    again.
    """
    how, output = str(outcome.get("how") or ""), str(outcome.get("output") or "")
    if outcome.get("ok") is False:
        return refused(outcome)
    verdict = _verdict(action, target, Difference(before, after), outcome)
    if consequential and verdict.note == BY_ITSELF:
        verdict = Verdict(False, "unchanged", BY_ITSELF)
    if not screen_change and verdict.cause in ("dropped", "unchanged", "disabled", "scrolled_to_end"):
        verdict = Verdict(None)
    return Result(ok=verdict.ok, cause=verdict.cause, note=verdict.note, how=how, output=output)


def _verdict(
    action: DeviceAction, target: Element | None, difference: Difference, outcome: Mapping[str, Json]
) -> Verdict:
    before, after = difference.before, difference.after
    if isinstance(action, actions.Wait):
        return DONE
    if crash.says_so(after) and not crash.says_so(before):
        return Verdict(False, "app_gone", GONE)
    if action.action not in LEAVING and not _from_edge(action) and crash.gone(before, after):
        return Verdict(False, "app_gone", GONE)
    if after.seen.screen_on is False:
        return Verdict(None, "screen_off", DARK)
    if isinstance(action, actions.Type):
        return typed(action.text, before, after, outcome)
    if isinstance(action, actions.Clear):
        return cleared(before, after, outcome)
    if isinstance(action, actions.OpenApp):
        return _opened(action, difference, outcome)
    if isinstance(action, actions.Back | actions.Home | actions.Recent | actions.Enter):
        return KEYS[action.action](difference)
    if isinstance(action, actions.Swipe | actions.Drag) and action.start != action.end:
        return _moved(action, target, difference)
    return _touched(action, target, difference)


def _touched(action: DeviceAction, target: Element | None, difference: Difference) -> Verdict:
    single = isinstance(action, actions.Tap | actions.Swipe)
    later = None if target is None else again(target, difference.after.shown)
    if single and target is not None and later is not None and difference.readable:
        if target.role in CHECKABLE and not difference.screen:
            return _toggled(target, later, difference)
        if target.role == "field" and "focused" in later.state:
            return DONE
    if _typed_instead(target, difference):
        return Verdict(False, "covered", TYPED_INSTEAD)
    if difference.by_itself:
        return Verdict(None, "", BY_ITSELF)
    if difference.anything:
        return DONE
    return _unchanged(action, target, difference)


def _toggled(target: Element, later: Element, difference: Difference) -> Verdict:
    if ("checked" in target.state) != ("checked" in later.state):
        return DONE
    now = "on" if "checked" in later.state else "off"
    if target.role == "radio" and "checked" in later.state:
        return Verdict(None, "", f"{_name(target)} is chosen, and was before. Go on.")
    if difference.anything and not difference.by_itself:
        return Verdict(
            None, "", f"{_name(target)} is still {now}, but something else on the screen changed. Look at it."
        )
    return _unchanged(None, target, difference)


def _unchanged(action: DeviceAction | None, target: Element | None, difference: Difference) -> Verdict:
    """Of a touch after which nothing in the list is different."""
    before, after = difference.before, difference.after
    if target is not None and "disabled" in target.state:
        return Verdict(False, "disabled", f"{_name(target)} is disabled. Fill in or choose what it waits for first.")
    if before.seen.secure or after.seen.secure:
        return Verdict(None, "secure", SECURE)
    if difference.picture:
        return Verdict(None, "", PICTURE)
    if not difference.readable and difference.picture is None:
        return Verdict(None, "unreadable", UNREADABLE)
    if _is_under_keyboard(target, before):
        return Verdict(False, "covered", COVERED)
    did = {"long_press": "The long press", "double_tap": "The double tap"}.get(
        action.action if action else "", "The tap"
    )
    on = f" on {_name(target)}" if target is not None else ""
    return Verdict(False, "dropped", f"{did}{on} changed nothing. Choose something else, scroll, or wait.")


def _moved(action: actions.Swipe | actions.Drag, target: Element | None, difference: Difference) -> Verdict:
    if difference.anything and not difference.by_itself:
        return DONE
    if difference.before.seen.secure or difference.after.seen.secure:
        return Verdict(None, "secure", SECURE)
    if difference.picture:
        return Verdict(None, "", PICTURE)
    if not difference.readable and difference.picture is None:
        return Verdict(None, "unreadable", UNREADABLE)
    if isinstance(action, actions.Drag):
        return Verdict(
            False, "dropped", "The drag moved nothing. Start it on the thing itself, or use another control."
        )
    if any(each.role == "list" for each in difference.before.shown):
        return Verdict(
            False, "scrolled_to_end", f"Nothing moved: this is the end{_way(action, difference)}. Swipe the other way."
        )
    return Verdict(False, "dropped", "The swipe moved nothing: there may be no more to see. Do something else.")


def _from_edge(action: DeviceAction) -> bool:
    """Whether it is a gesture of the system: from below home, from the side back."""
    if not isinstance(action, actions.Swipe) or isinstance(action.start, actions.Numbered):
        return False
    x, y = action.start
    return y >= 1 - EDGE or min(x, 1 - x) <= EDGE


def _way(action: actions.Swipe | actions.Drag, difference: Difference) -> str:
    """In which direction there is no more, where both places are told."""
    if isinstance(action.start, actions.Numbered) or isinstance(action.end, actions.Numbered):
        return ""
    right, down = action.end[0] - action.start[0], action.end[1] - action.start[1]
    width, height = difference.before.seen.size
    if abs(right) * width > abs(down) * height:
        return " on the right" if right < 0 else " on the left"
    return " at the bottom" if down < 0 else " at the top"


def _back(difference: Difference) -> Verdict:
    after = difference.after.seen
    if is_launcher(after.package) and difference.app:
        return Verdict(True, "", "Back left the app: the home screen is in front.")
    if difference.only_places or (difference.before.seen.keyboard and not after.keyboard and not difference.screen):
        return Verdict(True, "", "Back closed the keyboard; the same screen is shown. Go back again to leave it.")
    return _pressed(difference, "Back changed nothing. Use the button of the app for it, or home.")


def _home(difference: Difference) -> Verdict:
    if is_launcher(difference.after.seen.package):
        return DONE
    return DONE if difference.app else _pressed(difference, "The home screen did not come. Try again, or open the app.")


def _recent(difference: Difference) -> Verdict:
    return _pressed(difference, "The list of recent apps did not come. Use open_app instead.")


def _enter(difference: Difference) -> Verdict:
    return _pressed(difference, "Enter changed nothing. Tap the button for it, such as Search, Go or Done.")


KEYS: Mapping[str, Callable[[Difference], Verdict]] = {"back": _back, "home": _home, "recent": _recent, "enter": _enter}


def _pressed(difference: Difference, otherwise: str) -> Verdict:
    if difference.by_itself:
        return Verdict(None, "", BY_ITSELF)
    if difference.anything:
        return DONE
    if difference.before.seen.secure or difference.after.seen.secure:
        return Verdict(None, "secure", SECURE)
    if difference.picture:
        return Verdict(None, "", PICTURE)
    if not difference.readable and difference.picture is None:
        return Verdict(None, "unreadable", UNREADABLE)
    return Verdict(False, "dropped", otherwise)


def _opened(action: actions.OpenApp, difference: Difference, outcome: Mapping[str, Json]) -> Verdict:
    """`how` tells which package a name meant: `started org.example/.Main`."""
    front = difference.after.seen.package
    started = str(outcome.get("how") or "").removeprefix("started ").partition("/")[0]
    wanted = started or (action.app if "." in action.app else "")
    if not front:
        return Verdict(None, "", "Which app is in front is not told. Look at the screen.")
    if front == wanted:
        return DONE
    if is_dialog(front):
        return Verdict(None, "", "A dialog of the system lies above the app. Answer it first.")
    if not wanted and difference.app:
        return DONE
    if is_launcher(front):
        return Verdict(
            False, "wrong_app", f"{quoted(action.app)} did not open: the home screen is in front. Try again."
        )
    return Verdict(
        False, "wrong_app", f"{quoted(front)} is in front, not {quoted(action.app)}. Go home and open it again."
    )


def _typed_instead(target: Element | None, difference: Difference) -> bool:
    """Whether a tap hit a key of the keyboard: the field has one character more, of which the target says nothing."""
    then, now = difference.before.field, difference.after.field
    if then is None or now is None or target is None or target.role == "field" or difference.screen:
        return False
    typed = len(now.text) == len(then.text) + 1 and again(then, difference.after.shown) is now
    return typed and now.text[-1] not in target.text and _is_under_keyboard(target, difference.before)


def _is_under_keyboard(target: Element | None, look: Look) -> bool:
    return target is not None and look.seen.keyboard and target.bounds.centre[1] >= UNDER_KEYBOARD * look.seen.size[1]


def _name(element: Element) -> str:
    said = element.text or element.hint or element.resource_id
    return f"{element.role} {quoted(said)}" if said else f"this {element.role}"
