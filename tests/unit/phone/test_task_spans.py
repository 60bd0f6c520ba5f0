"""What can be copied out of a task."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.phone.agents.errand import Errand, errand_of, is_pressed, names, same_thing
from gateway.phone.agents.spans import MOST, quoted, spans


@pytest.mark.parametrize(
    ("task", "texts"),
    [
        ('Write "Grüße" and „Kuchen 🎂“', ["Grüße", "Kuchen 🎂"]),
        ("Say ‘see you’ and «à bientôt»", ["see you", "à bientôt"]),
        ("I'm late, it's mum's birthday", []),
    ],
)
def test_what_is_quoted_is_found_whatever_the_marks(task: str, texts: list[str]) -> None:
    assert quoted(task) == texts


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("at 6:30", {"6", "30"}),
        ("at 5 pm", {"5", "17", "00"}),
        ("at 12:05 am", {"12", "0", "05"}),
        ("8.15 Uhr", {"8", "15"}),
    ],
)
def test_a_time_can_be_entered_in_its_parts(task: str, parts: set[str]) -> None:
    assert parts <= set(spans(task))


@given(st.text('ab ,."!?()🎂é1:', max_size=300))
def test_spans_are_few_distinct_and_never_empty(task: str) -> None:
    found = spans(task)
    assert len(found) <= MOST and len(set(found)) == len(found) and all(each.strip() for each in found)


@given(st.lists(st.text("abcé🎂", min_size=1, max_size=6), min_size=1, max_size=12), st.data())
def test_every_run_of_words_of_a_short_task_can_be_copied(words: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    assert " ".join(words[begin:end]) in spans(" ".join(words))


def test_the_end_of_a_long_task_can_be_copied_whole() -> None:
    task = "Note: " + " ".join(f"word{each}" for each in range(60))
    assert task.removeprefix("Note: ") in spans(task)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("wifi", "Wi-Fi", True),
        ("dark mode", "Dark theme", True),
        ("Wi-Fi", "Wi-Fi hotspot", False),
        ("mode", "theme", False),
    ],
)
def test_two_names_of_one_switch(one: str, other: str, same: bool) -> None:
    assert same_thing(one, other) is same


def said(goal: str, *things: str) -> dict[str, object]:
    return {"goal": goal, "about": "x", "things": list(things), "app": "Calendar"}


def test_what_is_quoted_is_always_among_the_things() -> None:
    read = errand_of(said("write", "the text Hi"), 'write the text "Hi"')
    assert read == Errand(goal="write", about="x", things=("Hi",), app="Calendar")


def test_numbers_are_entered_and_times_are_no_switches() -> None:
    assert errand_of(said("get things", "0171 234"), "save 0171 234").goal == "write"
    assert errand_of(said("switch on"), "wake me at 7:15").things == ("7:15",)
    assert errand_of(said("switch on", "noise"), "turn it on").things == ()


@pytest.mark.parametrize(
    ("goal", "task", "about", "read"),
    [
        ("switch off", "Select nothing and click Submit.", "nothing", "other"),
        ("find out", 'Find the fourth word, type it and press the "Submit" button', "fourth word", "other"),
        ("switch off", 'Close the dialog box by clicking the "x".', "dialog box", "other"),
        ("switch on", 'Turn "Dark mode" on', "dark mode", "switch on"),
        ("switch on", "Turn on the saving of drafts and tap on it", "saving of drafts", "switch on"),
        ("find out", "What happens when I press the red button?", "red button", "find out"),
        ("find out", "Find the mail of Helena and click the star", "Helena", "other"),
    ],
)
def test_who_is_told_what_to_press_does_more_than_look(goal: str, task: str, about: str, read: str) -> None:
    assert errand_of({**said(goal), "about": about}, task).goal == read


@pytest.mark.parametrize(
    ("thing", "task", "pressed"),
    [
        ("Terms", 'Go through the tabs and click on the link "Terms".', True),
        ("Terms", "Tap Terms", True),
        ("New note", "press the button New note, please", True),
        ("Terms", 'Put "Terms" on the list and click Submit', False),
        ("Term", "Tap Terms", False),
    ],
)
def test_what_shall_be_pressed_itself(thing: str, task: str, pressed: bool) -> None:
    assert is_pressed(thing, task) is pressed


@pytest.mark.parametrize(
    ("task", "text", "named"),
    [
        ("Select ZMhn, S4 and click Submit", "S4", True),
        ("a pizza with extra cheese", "Extra cheese", True),
        ("a pizza with cheese", "Extra cheese", False),
        ("everything except S4", "S4", False),
        ("don't choose S4", "S4", False),
        ("S4", "", False),
    ],
)
def test_what_a_task_names_word_for_word(task: str, text: str, named: bool) -> None:
    assert names(task, text) is named
