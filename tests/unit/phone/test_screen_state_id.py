from __future__ import annotations

from dataclasses import replace

import pytest
from android_recordings import recorded
from hypothesis import given
from hypothesis import strategies as st
from screens import SIZE, node, screen
from test_element_list import RECORDED

from gateway.phone.elements import Bounds, Element, elements_of
from gateway.phone.hierarchy import parse
from gateway.phone.state_id import StateId, state_id


def of(*nodes: str, activity: str = "org.example/.Main") -> StateId:
    return state_id(elements_of(parse(screen(node("FrameLayout", "[0,0][1080,2400]", *nodes))), SIZE), activity)


def text(said: str, top: int = 100, **more: object) -> str:
    return node("TextView", f"[0,{top}][800,{top + 80}]", text=said, **more)


def button(said: str, top: int = 300, **more: object) -> str:
    return node("Button", f"[0,{top}][800,{top + 80}]", text=said, **{"clickable": True, **more})


def switch(said: str, on: bool, top: int = 500, **more: object) -> str:
    return node("Switch", f"[0,{top}][800,{top + 80}]", text=said, checkable=True, checked=on, clickable=True, **more)


def row(number: int, **more: object) -> str:
    inside = node(
        "TextView", f"[0,{600 + 80 * number}][900,{670 + 80 * number}]", text=f"Message from {'ABC'[number % 3]}"
    )
    return node("LinearLayout", f"[0,{600 + 80 * number}][1080,{675 + 80 * number}]", inside, clickable=True, **more)


def test_all_recorded_screens_differ() -> None:
    ids: dict[str, str] = {}
    for name, (size, *_) in RECORDED.items():
        found = str(state_id(elements_of(parse(recorded(name)), size)))
        assert found not in ids or {name, ids[found]} == {  # the same screen, recorded by two ways
            "uiautomator-dump--bilibili-1440x3060-zh.xml",
            "uiautomator-dump--miui-stacktrace-before-xml.txt",
        }
        ids[found] = name


def test_it_has_two_parts_and_is_a_string() -> None:
    found = of(text("Hello"))
    assert str(found) == f"{found.structure}:{found.content}"
    assert len(found.structure) == len(found.content) == 16


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10:13", "10:14"),
        ("9:59", "10:00"),
        ("4:43pm", "5:02 PM"),
        ("Wed, Apr 15", "Thu, Apr 16"),
        ("30 April 2026", "1 May 2026"),
        ("2 minutes ago", "an hour ago"),
        ("just now", "5 min ago"),
        ("Battery 14 percent", "Battery 9 percent"),
        ("1,204 views", "12.5 views"),
        ("第3页，共12页", "第4页，共12页"),
        ("٣ رسائل", "١٢ رسائل"),
    ],
)
def test_clocks_dates_and_numbers_change_nothing(before: str, after: str) -> None:
    assert of(text(before), button("Pay")) == of(text(after), button("Pay"))


def test_battery_signal_and_clock_of_the_system_change_nothing() -> None:
    def status(*said: str) -> tuple[str, ...]:
        names = ("clock", "battery", "wifi_signal")
        return tuple(
            node("ImageView", f"[{100 * n},0][{100 * n + 90},60]", desc=each, id=name, package="com.android.systemui")
            for n, (name, each) in enumerate(zip(names, said, strict=False))
        )

    assert of(*status("ten past nine", "full", "Wifi signal full."), text("PIN")) == of(
        *status("noon", "low"), text("PIN")
    )


def test_the_focus_changes_nothing() -> None:
    field = {"hint": "Name", "clickable": True}
    assert of(node("EditText", "[0,0][900,90]", **field)) == of(
        node("EditText", "[0,0][900,90]", focused=True, **field)
    )


@pytest.mark.parametrize("name", ["", "row"])
def test_the_number_of_rows_and_what_stands_in_them_change_nothing(name: str) -> None:
    def messages(*numbers: int) -> StateId:
        return of(text("Inbox"), *[row(n, id=name) for n in numbers])

    assert messages(0, 1, 2) == messages(*range(12)) == messages(1, 2, 5, 6)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([text("Inbox")], [text("Outbox")]),
        (  # paragraphs are no rows of a list
            [text("News"), text("It rained.", 200), text("It snowed.", 300), text("Then the sun came out.", 400)],
            [text("News"), text("It rained.", 200), text("It snowed.", 300), text("Then it froze.", 400)],
        ),
        ([text("Inbox")], [text("Inbox"), button("Compose")]),
        ([button("Pay", enabled=False)], [button("Pay", enabled=True)]),
        ([switch("Wi-Fi", False)], [switch("Wi-Fi", True)]),
        (
            [switch(f"App {n}", n == 4, 100 * n, id="switch") for n in b"abcdef" and range(1, 7)],
            [switch(f"App {n}", False, 100 * n, id="switch") for n in range(1, 7)],
        ),
        (
            [switch(name, name == "Mail", 100 * n, id="switch") for n, name in enumerate(["Chat", "Mail", "Maps"], 1)],
            [switch(name, name == "Maps", 100 * n, id="switch") for n, name in enumerate(["Chat", "Mail", "Maps"], 1)],
        ),
        (
            [switch("07:00", True, 100, id="alarm"), switch("08:00", False, 300, id="alarm")],
            [switch("07:00", True, 100, id="alarm"), switch("08:00", True, 300, id="alarm")],
        ),
        (
            [button("A", id="tab", selected=True), button("B", 600, id="tab")],
            [button("A", id="tab"), button("B", 600, id="tab", selected=True)],
        ),
        ([node("EditText", "[0,0][900,90]", hint="Sum")], [node("EditText", "[0,0][900,90]", hint="Sum", text="5")]),
        (
            [node("EditText", "[0,0][900,90]", hint="Sum", text="15")],
            [node("EditText", "[0,0][900,90]", hint="Sum", text="16")],
        ),
        (
            [node("EditText", "[0,0][900,90]", password=True)],
            [node("EditText", "[0,0][900,90]", password=True, text="•")],
        ),
        ([row(0), row(1), row(2)], [row(0), row(1), row(2), button("Delete all", 1500), text("Delete?", 1300)]),
    ],
)
def test_what_matters_makes_another_state(before: list[str], after: list[str]) -> None:
    assert of(*before) != of(*after)


def test_another_activity_is_another_screen() -> None:
    one, other = of(text("Hi"), activity="a/.A"), of(text("Hi"), activity="a/.B")
    assert one.structure != other.structure
    assert one.content == other.content


def test_a_dialog_is_another_structure_and_a_typed_text_is_not() -> None:
    field = node("EditText", "[0,700][900,790]", hint="Name", text="{}")
    page = [text("Hi", id="title"), button("Pay", id="pay")]
    assert of(*page).structure != of(*page, button("OK", 900, id="ok")).structure
    assert of(*page, field.format("A")).structure == of(*page, field.format("B")).structure
    assert of(*page, field.format("A")).content != of(*page, field.format("B")).content


SOME = st.builds(
    Element,
    st.just(0),
    st.sampled_from(["button", "text", "field", "switch", "list"]),
    st.sampled_from(["", "OK", "Pay 5", "12:30", "שלום"]),
    st.builds(Bounds, st.integers(0, 3), st.integers(0, 9), st.integers(10, 13), st.integers(10, 19)),
    resource_id=st.sampled_from(["", "row", "title"]),
    state=st.sampled_from([(), ("checked",), ("disabled",)]),
    clickable=st.booleans(),
    package=st.sampled_from(["a", "b"]),
)
SCREENS = st.lists(SOME, max_size=12).map(
    lambda made: [replace(each, number=number) for number, each in enumerate(made, 1)]
)


@given(SCREENS, st.randoms(use_true_random=False))
def test_neither_order_nor_focus_nor_digits_nor_height_matter(elements: list[Element], random: object) -> None:
    changed = [
        replace(
            each,
            text=each.text if each.role == "field" else each.text.replace("5", "77").replace("12:30", "9:05"),
            state=(*each.state, "focused"),
            bounds=each.bounds._replace(top=each.bounds.top + 3, bottom=each.bounds.bottom + 99),
        )
        for each in elements
    ]
    random.shuffle(changed)  # type: ignore[attr-defined]
    assert state_id(elements, "x") == state_id(changed, "x")


@given(SCREENS, st.integers(0, 11))
def test_flipping_any_switch_and_typing_into_any_field_matters(elements: list[Element], index: int) -> None:
    if index >= len(elements):
        return
    each = elements[index]
    if each.role == "switch" and not each.state:
        changed = replace(each, text="only one", state=("checked",))
    elif each.role == "field":
        changed = replace(each, text=each.text + "7")
    else:
        return
    before = [replace(each, text="only one") if each.role == "switch" else each, *elements[:index]]
    after = [changed, *elements[:index]]
    if each.role == "field" and any(other.role == "field" for other in elements[:index]):
        return
    assert state_id(before) != state_id(after)


@given(SCREENS, st.integers(2, 20))
def test_more_rows_of_a_kind_do_not_matter(elements: list[Element], number: int) -> None:
    def rows(some: int) -> list[Element]:
        place = Bounds(0, 0, 9, 9)
        return [Element(100 + n, "button", f"row {n}", place, resource_id="list_row", package="a") for n in range(some)]

    assert state_id([*elements, *rows(2)]) == state_id([*elements, *rows(number)])
