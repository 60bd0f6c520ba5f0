"""Typing text of any script into the field that has the focus, and reading back what stands there.

Three ways, the first that can: `input text`, which knows what a keyboard's keys have; an input method that takes base64
(com.android.adbkeyboard), which is chosen for that moment; the clipboard, by an app that sets it (ca.zgrs.clipper).
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from gateway.errors import ActionFailed, DeviceError, HierarchyUnreadable, TextNotTyped
from gateway.phone.calls import LOOK, Calls
from gateway.phone.deadline import Deadline
from gateway.phone.field import Field, focused, matches
from gateway.phone.harmless import harmless
from gateway.phone.hierarchy import Hierarchy
from gateway.phone.reading.input_method import input_method_of, input_methods_of, was_chosen
from gateway.phone.reading.packages import packages_of

Way = Literal["input text", "input method", "clipboard"]

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
CLIPPER = "ca.zgrs.clipper"
INSTALL = (
    "install an input method for text of any script, once: adb install ADBKeyboard.apk "
    "(github.com/senzhk/ADBKeyBoard), then: adb shell ime enable com.android.adbkeyboard/.AdbIME"
)
PIECE = 200  # characters at a time: `input` takes long for more
B64_PIECE = 700  # characters, at most 3,800 bytes as base64 or quoted: what a line of the shell surely takes
CHOSEN_S = 3.0  # an input method that was chosen has to come up
READ_BACK_S = 3.0
AGAIN_S = 0.25
RESTORE_S = 5.0
KEY_ENTER, KEY_DELETE, KEY_DELETE_FORWARD, KEY_END, KEY_PASTE = 66, 67, 112, 123, 279
NOTES = {True: "", False: "the field says something else", None: "the text is the field's hint: it may be empty"}
CTRL_A = "113 29"
KEYS = 100  # at a time


@dataclass(frozen=True)
class Typed:
    """`read` is what the field says afterwards, None where it cannot be read; `matches` whether the text stands in it,
    None where that cannot be told; `note` says what is to be known besides."""

    way: Way
    read: str | None
    matches: bool | None
    note: str = ""


class TextInput:
    """`look` gives the hierarchy of the screen now; it may raise HierarchyUnreadable."""

    def __init__(self, calls: Calls, look: Callable[[Deadline], Hierarchy]) -> None:
        self._calls = calls
        self._look = look
        self._owed = ""  # an input method that is to be put back as soon as the device is there again

    def type(self, text: str, deadline: Deadline) -> Typed:
        """Type it, each part at most once. Raises TextNotTyped where no way is open or no field has the focus."""
        if "\0" in text:  # it would end the line that the shell reads
            raise TextNotTyped("the text has a NUL character in it", hint="type it without")
        self.restore(deadline)
        before = self._field(deadline)
        way = self._way(text, deadline)
        if way == "input text":
            self._calls.in_turn(commands(text), deadline)
        elif way == "input method":
            with self._chosen(deadline):
                self._calls.in_turn(broadcasts(text), deadline)
                return self._read_back(before, text, way, deadline)
        else:
            self._paste(text, deadline)
        return self._read_back(before, text, way, deadline)

    def clear(self, deadline: Deadline) -> Typed:
        """Empty the field: select all and delete; where keys cannot be combined, delete as often as it has
        characters."""
        self.restore(deadline)
        before = self._field(deadline)
        try:
            self._calls.act(f"input keycombination {CTRL_A}", deadline)
            self._calls.act(f"input keyevent {KEY_DELETE}", deadline)
        except ActionFailed as error:
            if not error.unknown:
                raise
            # Android 11 and earlier
            self._delete(len(before.text) if before else KEYS, deadline)
        left = self._after(deadline, lambda now: not now.text)
        if left is not None and left.text:  # a field that does not know Ctrl and A
            self._delete(len(left.text), deadline)
            left = self._after(deadline, lambda now: not now.text)
        if left is None:
            return Typed("input text", None, None, "what stands in the field cannot be read")
        return Typed("input text", left.text, not left.text)

    def ways(self, deadline: Deadline) -> list[Way]:
        """Those that are open on this device; the first alone types no more than ASCII."""
        found: list[Way] = ["input text"]
        if ADB_KEYBOARD in input_methods_of(self._calls.query("ime list -a -s", deadline)):
            found.append("input method")
        if CLIPPER in packages_of(self._calls.query(f"pm list packages {CLIPPER}", deadline)):
            found.append("clipboard")
        return found

    def restore(self, deadline: Deadline) -> None:
        """Put back an input method that could not be put back when its time had come."""
        if self._owed:
            self._calls.act(f"ime set {shlex.quote(self._owed)}", deadline)
            self._owed = ""

    def _way(self, text: str, deadline: Deadline) -> Way:
        if typable(text):
            return "input text"
        others = self.ways(deadline)[1:]
        if not others:
            strange = next(each for each in text if not typable(each))
            raise TextNotTyped(f"`input text` has no key for {strange!r}, and nothing else is installed", hint=INSTALL)
        return others[0]

    def _field(self, deadline: Deadline) -> Field | None:
        """None where the screen cannot be read, but a keyboard is shown."""
        try:
            found = focused(self._look(deadline))
        except HierarchyUnreadable:
            found = None
        if found is None and not self.keyboard_shown(deadline):
            raise TextNotTyped("no field has the focus", hint="tap the field first")
        return found

    def keyboard_shown(self, deadline: Deadline) -> bool:
        """Whether the on-screen keyboard is up."""
        return bool(input_method_of(self._calls.query("dumpsys input_method", deadline)).shown)

    def _paste(self, text: str, deadline: Deadline) -> None:
        with suppress(ActionFailed):  # where it runs already, or may not run in the background, the next call tells
            self._calls.act(f"am startservice -n {CLIPPER}/.ClipboardService", deadline)
        pasted = False
        for at in range(0, len(text), B64_PIECE):
            try:
                self._paste_piece(text[at : at + B64_PIECE], deadline)
            except DeviceError as error:
                if pasted:
                    error.performed, error.hint = None, LOOK
                raise
            pasted = True

    def _paste_piece(self, piece: str, deadline: Deadline) -> None:
        done = self._calls.act(f"am broadcast -a clipper.set -e text {shlex.quote(piece)}", deadline)
        if "result=-1" not in done.text:
            raise TextNotTyped(
                f"{CLIPPER} did not set the clipboard: {harmless(done.text, 200)}",
                hint=f"open that app once and leave it in front, or: {INSTALL}",
            )
        self._calls.act(f"input keyevent {KEY_PASTE}", deadline)

    @contextmanager
    def _chosen(self, deadline: Deadline) -> Iterator[None]:
        """The input method that takes base64, and afterwards the former one again, whatever happened."""
        former = self._calls.query("settings get secure default_input_method", deadline).strip()
        if former == ADB_KEYBOARD:
            yield
            return
        self._owed = "" if former in ("", "null") else former
        try:
            self._calls.act(f"ime enable {ADB_KEYBOARD}", deadline)
            said = self._calls.act(f"ime set {ADB_KEYBOARD}", deadline).text
            if not was_chosen(said):
                raise TextNotTyped(f"the input method cannot be chosen: {said.strip()}", hint=INSTALL)
            self._wait_until_chosen(deadline)
            yield
        finally:
            self._put_back()

    def _put_back(self) -> None:
        """Now, or when the device is there again: this never hides what went wrong before."""
        with suppress(DeviceError):
            self.restore(Deadline(RESTORE_S, "putting back the input method"))

    def _wait_until_chosen(self, deadline: Deadline) -> None:
        until = deadline.within(CHOSEN_S)
        while input_method_of(self._calls.query("dumpsys input_method", deadline)).current != ADB_KEYBOARD:
            if until.remaining <= AGAIN_S:
                raise TextNotTyped(f"{ADB_KEYBOARD} was chosen and did not come up", hint=INSTALL)
            until.pause(AGAIN_S)

    def _read_back(self, before: Field | None, text: str, way: Way, deadline: Deadline) -> Typed:
        after = self._after(deadline, lambda now: matches(before, now, text) is not False)
        if after is None:
            return Typed(way, None, None, "what stands in the field cannot be read")
        if after.password:
            return Typed(way, None, None, f"a password cannot be read: {len(after.text)} characters stand in the field")
        same = matches(before, after, text)
        return Typed(way, after.text, same, NOTES[same])

    def _after(self, deadline: Deadline, done: Callable[[Field], bool]) -> Field | None:
        """The field once it is `done`, or as it is after READ_BACK_S: an app may show what was typed a moment later.
        None where it cannot be read, also for want of a link: what was typed is typed."""
        until = Deadline(min(READ_BACK_S, max(deadline.remaining / 2, AGAIN_S)))
        try:
            while True:
                now = focused(self._look(deadline))
                if now is None or now.password or done(now) or until.remaining <= AGAIN_S:
                    return now
                deadline.pause(AGAIN_S)
        except DeviceError:
            return None

    def _delete(self, characters: int, deadline: Deadline) -> None:
        """From the end of the line backwards, then what stands behind the cursor."""
        keys = [KEY_END, *([KEY_DELETE] * characters), *([KEY_DELETE_FORWARD] * characters)]
        parts = (keys[at : at + KEYS] for at in range(0, len(keys), KEYS))
        self._calls.in_turn((f"input keyevent {' '.join(map(str, part))}" for part in parts), deadline)


def typable(text: str) -> bool:
    """Whether `input text` has keys for all of it. It throws where it has none, types nothing, and on some devices
    ends with exit code 0."""
    return re.fullmatch(r"[ -~\n]*", text) is not None


def commands(text: str) -> Iterator[str]:
    """Shell lines that type the text: in pieces, with Enter between its lines. `input` makes a space of `%s`: so a
    space is written like that, and a piece ends between a percent sign and an s."""
    for number, line in enumerate(text.split("\n")):
        if number:
            yield f"input keyevent {KEY_ENTER}"
        for run in re.split("(?<=%)(?=s)", line):
            for at in range(0, len(run), PIECE):
                piece = run[at : at + PIECE].replace(" ", "%s")
                yield f"input text {shlex.quote(piece)}"


def broadcasts(text: str) -> Iterator[str]:
    """Shell lines that hand the text to the input method: in pieces, as base64 of UTF-8."""
    for at in range(0, len(text), B64_PIECE):
        coded = base64.b64encode(text[at : at + B64_PIECE].encode("utf-8", "replace")).decode()
        yield f"am broadcast -a ADB_INPUT_B64 --es msg {coded}"
