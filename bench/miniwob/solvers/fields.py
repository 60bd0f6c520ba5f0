"""Tasks of typing into fields."""

from __future__ import annotations

import re

from bench.miniwob.screen import BACK, ENTER, Moves, Screen, Stuck, double_tap, drag, fill, press, tap, type_text, wait
from bench.miniwob.solving import ordinal, solves


@solves("enter-text", "enter-text-dynamic")
def enter_text(screen: Screen) -> Moves:
    (text,) = screen.quoted()
    screen = yield from fill(screen, screen.all("field")[0], text)
    return (yield from press(screen))


@solves("enter-text-2")
def enter_text_2(screen: Screen) -> Moves:
    (text,) = screen.quoted()
    text = text.upper() if "upper" in screen.task else text.lower()
    screen = yield from fill(screen, screen.all("field")[0], text)
    return (yield from press(screen))


@solves("enter-password")
def enter_password(screen: Screen) -> Moves:
    (password,) = screen.quoted()
    for each in ("password", "verify"):
        screen = yield from fill(screen, screen.named(each), password)
    screen = yield BACK  # the keyboard goes
    return (yield from press(screen))


@solves("login-user")
def login_user(screen: Screen) -> Moves:
    for name, text in zip(("username", "password"), screen.quoted(), strict=True):
        screen = yield from fill(screen, screen.named(name), text)
    return (yield from press(screen, "Login"))


@solves("login-user-popup")
def login_user_popup(screen: Screen) -> Moves:
    for name, text in zip(("username", "password"), screen.quoted(), strict=True):
        screen = yield tap(screen.named(name))
        if cancel := screen.find("Cancel"):
            screen = yield tap(cancel)
            screen = yield tap(screen.named(name))
        screen = yield type_text(text)
    return (yield from press(screen, "OK"))


@solves("text-transform")
def text_transform(screen: Screen) -> Moves:
    letters = "".join(each.text for each in sorted(screen.all("text"), key=lambda each: each.bounds.left))
    screen = yield from fill(screen, screen.all("field")[0], letters)
    return (yield from press(screen))


@solves("simple-arithmetic")
def simple_arithmetic(screen: Screen) -> Moves:
    (problem,) = screen.matching(r"\d+ [-+x] \d+ =")
    one, sign, other = problem.text.split()[:3]
    screen = yield from fill(screen, screen.all("field")[0], str(_result(int(one), sign, int(other))))
    return (yield from press(screen))


@solves("simple-algebra")
def simple_algebra(screen: Screen) -> Moves:
    (problem,) = screen.matching(r"= -?\d+$")
    one, sign, other, _, right = problem.text.split()
    known = int(other if one == "x" else one)
    value = next(
        x
        for x in range(-1000, 1000)
        if _result(x if one == "x" else known, sign, x if other == "x" else known) == int(right)
    )
    screen = yield from fill(screen, screen.all("field")[0], str(value))
    return (yield from press(screen))


def _result(one: int, sign: str, other: int) -> int:
    return one + other if sign == "+" else one - other if sign == "-" else one * other


@solves("find-word")
def find_word(screen: Screen) -> Moves:
    which = ordinal(*screen.asked(r"the (\d+)\w\w word"))
    (paragraph,) = screen.all("text")
    word = re.sub(r"[,.]", "", paragraph.text.split()[which])
    screen = yield from fill(screen, screen.all("field")[0], word)
    return (yield from press(screen))


@solves("scroll-text")
def scroll_text(screen: Screen) -> Moves:
    word = re.sub(r"[,.]", "", screen.named("text-area").text.split()[-1])
    screen = yield from fill(screen, screen.named("answer-input"), word)
    return (yield from press(screen))


@solves("read-table")
def read_table(screen: Screen) -> Moves:
    (key,) = screen.asked("value of (.+) into")
    screen = yield from fill(screen, screen.all("field")[0], _beside(screen, key))
    return (yield from press(screen))


@solves("read-table-2")
def read_table_2(screen: Screen) -> Moves:
    for which in ("1", "2"):
        label = screen.named(f"ll{which}").text
        screen = yield from fill(screen, screen.named(f"tt{which}"), _beside(screen, label.rstrip(":")))
    return (yield from press(screen))


def _beside(screen: Screen, key: str) -> str:
    """The text to the right of another one."""
    row = screen.get(key, "text")
    beside = [each for each in screen.all("text") if each.bounds.top == row.bounds.top and each is not row]
    return beside[0].text


@solves("multi-layouts", "multi-orderings")
def multi_layouts(screen: Screen) -> Moves:
    genre, director, year = screen.asked(r"Search for (.+) movies directed by (.+) from year (\d+)")
    wanted = {"Genre": genre, "Director": director, "Year": year, "Released Date": year}
    labels = [each for each in screen.elements if re.search("|".join(wanted), f"{each.text}{each.hint}")]
    labels.sort(key=lambda each: each.bounds.centre[1])  # each is beside its field, above it, or below it
    for at, label in enumerate(labels):
        text = next(text for name, text in wanted.items() if name in f"{label.text}{label.hint}")
        screen = yield from fill(screen, screen.all("field")[at], text)
    return (yield tap(screen.matching("^(Submit|Search|Go!)$")[-1]))


@solves("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(screen: Screen) -> Moves:
    begins, *ends = screen.quoted()
    screen = yield tap(screen.all("field")[0])
    screen = yield type_text(begins)
    screen = yield wait(1)  # the page asks for suggestions a moment later
    options = [
        each
        for each in screen.elements
        if each.role != "field" and each.text.startswith(begins) and each.text.endswith(ends[0] if ends else "")
    ]
    if not options:
        raise Stuck(f"nothing offered: {screen.texts()}")
    screen = yield tap(options[0])
    return (yield from press(screen))


@solves("guess-number")
def guess_number(screen: Screen) -> Moves:
    low, high = 0, 9
    while True:
        guess = (low + high) // 2
        screen = yield from fill(screen, screen.all("field")[0], str(guess))
        screen = yield from press(screen)
        said = " ".join(screen.texts())
        if "lower than" in said:
            high = guess - 1
        elif "higher than" in said:
            low = guess + 1
        else:
            return screen


@solves("terminal")
def terminal(screen: Screen) -> Moves:
    screen = yield tap(screen.all("button")[0])
    screen = yield type_text("ls")
    screen = yield ENTER
    listed = screen.all("button")[0].text.split(" · ls · ")[1].split(" · ")[0].split()
    if "no file extension" in screen.task:
        name = next(each for each in listed if "." not in each)
    else:
        (ending,) = screen.asked(r"extension (\.[\w.]+)")
        name = next(each for each in listed if each.endswith(ending))
    screen = yield type_text(f"rm {name}")
    return (yield ENTER)


STYLES = {"bold": 1, "italics": 2, "underlined": 3}  # the nameless buttons of the editor; the first is the colour
MARGIN, LINE, LETTER = 101, 130, 41  # pixels: to the left of the text, to its first line's middle, to the next letter


@solves("text-editor")
def text_editor(screen: Screen) -> Moves:
    (style,) = screen.asked("style (\\w+) and press")
    editor = screen.all("field")[0]
    left, line = editor.bounds.left + MARGIN, editor.bounds.top + LINE
    if "everything" in screen.task:
        screen = yield drag(screen.at(left - 20, line - 20), screen.within(editor, 0.98, 0.9))
    else:
        (word,) = screen.asked("the text (\\S+) the style")
        middle = editor.text.index(word) + len(word) / 2
        screen = yield double_tap(screen.at(left + middle * LETTER, line))
    screen = yield tap(screen.all("button")[STYLES[style]])
    return (yield from press(screen))
