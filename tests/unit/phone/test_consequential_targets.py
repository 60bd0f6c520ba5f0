from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_screens import checkout, conversation, editor, element, elements, home, look, on, question, settings_list

from gateway.errors import ConfigError
from gateway.phone.actions import (
    ACTION,
    Back,
    Clear,
    DoubleTap,
    Drag,
    Enter,
    Home,
    LongPress,
    Numbered,
    OpenApp,
    Swipe,
    Tap,
    Type,
    Wait,
)
from gateway.phone.element import Element
from gateway.phone.judging.command_words import COMMANDS, fold
from gateway.phone.judging.consequential import UNKNOWN, consequential, words

ALL = words()
FIRST = Numbered(element=1)


def of(role: str, text: str, *others: Element, more: tuple[str, ...] = (), **given: object) -> str:
    """Of a tap on one element."""
    target = element(role, text, **given)
    return consequential(Tap(coordinate=FIRST), target, (target, *others), words((), more), readable=True)


@pytest.mark.parametrize(
    ("label", "word"),
    [
        ("Pay", "pay"),
        ("PAY £94.98", "pay"),
        ("Buy now", "buy"),
        ("Place order · £12.00", "place order"),
        ("Send", "send"),
        ("Send message", "send"),
        ("Delete", "delete"),
        ("Delete contact", "delete"),
        ("Confirm", "confirm"),
        ("Call", "call"),
        ("Call Anna", "call anna"),
        ("Uninstall", "uninstall"),
        ("Erase all data", "erase"),
        ("Transfer", "transfer"),
        ("Transfer £50", "transfer £50"),
        ("Subscribe", "subscribe"),
        ("Post", "post"),
        ("Book", "book"),
        ("Book a table", "book a"),
        ("Order", "order"),
        ("Yes, delete it", "delete"),
        ("Total €12 · Place order", "place order"),
        ("Cancel subscription", "cancel subscription"),
        ("Empty bin", "empty bin"),
    ],
)
def test_what_cannot_be_taken_back_is_known_by_what_a_button_says(label: str, word: str) -> None:
    assert of("button", label) == word


@pytest.mark.parametrize(
    "label",
    [
        "Jetzt kaufen",
        "Löschen",
        "Bestellung abschicken",
        "LÖSCHEN",
        "Überweisen",
        "Anrufen",
        "Payer 12 €",
        "Envoyer",
        "Supprimer",
        "S’abonner",
        "Desinstalar",
        "Enviar",
        "Llamar",
        "Invia",
        "Acquista ora",
        "Elimina",
        "Excluir",
        "Finalizar compra",
        "Betalen",
        "Verwijderen",
        "Zapłać 5 zł",
        "Wyślij",
        "Usuń",
        "Gönder",
        "GÖNDER",
        "SİL",
        "Satın al",
        "Оплатить",
        "Отправить",
        "УДАЛИТЬ",
        "支付 ¥12.00",
        "确认付款",
        "發送",
        "删除",
        "取消订单",
        "送信",
        "注文を確定する",
        "削除する",
        "12,000원 결제하기",
        "보내기",
        "삭제",
        "ادفع الآن",
        "إرسال",
        "حذف",
        "تأكيد الطلب",
        "भुगतान करें",
        "भेजें",
        "हटाएं",
    ],
)
def test_words_of_fifteen_languages_are_known(label: str) -> None:
    assert of("button", label)


@pytest.mark.parametrize(
    "label",
    [
        "Payments",
        "Payment methods · Manage cards",
        "Deleted",
        "Recently deleted",
        "Call log",
        "Call history · 12 calls",
        "Order 1002 · Delivered",
        "Your orders",
        "Post office",
        "Books to read",
        "Sender name",
        "Don't send",
        "Do not delete",
        "Nicht senden",
        "Ne pas envoyer",
        "No enviar",
        "不删除",
        "削除しない",
        "支付宝",
        "结果",
        "送信済み",
        "결제 수단",
        "طرق الدفع",
        "Search",
        "Continue shopping",
        "Add to basket",
        "No thanks",
        "Mum · 09:47 · Call me when you are home. Dad found your old bike. · 2 unread",
        "By tapping Place order you agree to our terms of sale and to the rest",
        "Hindi: भेज",
        "",
    ],
)
def test_what_only_sounds_like_it_is_harmless(label: str) -> None:
    assert of("button", label) == ""


@pytest.mark.parametrize("label", ["pay rent", "Send feedback", "Delete account"])
def test_in_doubt_it_counts(label: str) -> None:
    assert of("button", label)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("send_button", "send"),
        ("btnPayNow", "pay"),
        ("fab_call", "call"),
        ("place_order", ""),  # "place" is no command, nor is "order" at the end
        ("delete_selected", "delete"),
        ("messageSend", "send"),
        ("iv_delete", "delete"),
        ("payment_row", ""),
        ("call_log_tab", ""),
        ("order_item", ""),
        ("send_time_label", ""),
        ("search_close", ""),
        ("undo_delete", ""),
        ("up", ""),
    ],
)
def test_a_button_without_words_is_known_by_its_developers_name(name: str, word: str) -> None:
    assert of("button", "", resource_id=name) == word
    assert of("image", "", resource_id=name) == word


def test_a_button_that_says_the_opposite_of_its_developers_name_is_harmless() -> None:
    assert of("button", "Cancel", resource_id="delete_dialog_button") == ""
    assert of("button", "Processing…", resource_id="pay") == "pay"


@pytest.mark.parametrize("role", ["switch", "checkbox", "radio", "tab", "field", "picker", "list"])
def test_what_can_be_put_back_or_only_shows_is_harmless(role: str) -> None:
    assert of(role, "Send read receipts") == ""
    assert of(role, "Call") == ""


def test_a_sentence_is_harmless_and_a_short_text_is_not() -> None:
    assert of("text", "Tap Send to share your location with Anna") == ""
    assert of("text", "Buy now") == "buy"
    assert of("text", "Pay with one click today", clickable=None) == "pay"  # of a picture one cannot know


def test_who_agrees_to_a_question_does_what_it_asks() -> None:
    shown = question("Delete this conversation?", "OK").shown
    tap = Tap(coordinate=Numbered(element=4))
    assert consequential(tap, shown[3], shown, ALL, readable=True) == "delete"
    assert consequential(tap, shown[2], shown, ALL, readable=True) == ""  # Cancel
    shown = question("Use this picture?", "OK").shown[:1] + question("Use this picture?", "OK").shown[2:]
    assert consequential(tap, shown[2], shown, ALL, readable=True) == ""


def test_the_delete_key_of_a_keypad_takes_back_a_digit() -> None:
    keys = [element("button", str(at), (240 * at, 1000, 240 * at + 200, 1200)) for at in range(9)]
    key = element("button", "⌫ · Delete", (0, 1300, 200, 1500), resource_id="timer_delete")
    dial = element("button", "Call", (300, 1300, 500, 1500), resource_id="dial_button")
    tap = Tap(coordinate=FIRST)
    assert consequential(tap, key, (key, *keys), ALL, readable=True) == ""
    assert consequential(tap, key, (key, *keys[:4]), ALL, readable=True) == "delete"
    assert consequential(tap, dial, (dial, *keys), ALL, readable=True) == "call"


def test_a_telephone_number_that_is_a_button_calls() -> None:
    assert of("button", "+49 151 5550 1367 · Mobile", resource_id="phone")
    assert of("button", "+44 7700 900117 · Your parcel is with a neighbour", package="com.android.messaging") == ""
    assert of("text", "+49 151 5550 1367", resource_id="phone") == ""


def test_apps_on_the_home_screen_only_open() -> None:
    icons = elements(
        ("button", "Call Recorder"), ("button", "Send Anywhere"), ("button", "Uninstall"), package="com.miui.home"
    )
    tap = Tap(coordinate=FIRST)
    assert [consequential(tap, each, icons, ALL, readable=True) for each in icons] == ["", "", "uninstall"]
    assert not any(consequential(tap, each, home().shown, ALL, readable=True) for each in home().shown)


def test_words_of_a_person_name_anything() -> None:
    assert of("switch", "Airplane mode", more=("airplane*",)) == "airplane mode"
    assert of("button", "Unlock the front door", more=("unlock * door",)) == "unlock the front door"
    assert of("button", "Tür öffnen", more=("tür*",)) == "tur offnen"
    assert of("button", "", more=("garage*",), resource_id="garage_gate") == "garage_gate"
    assert of("button", "Blockade", more=("lock",)) == ""


def test_only_the_chosen_languages_count() -> None:
    target = element("button", "Löschen")
    tap = Tap(coordinate=FIRST)
    assert consequential(tap, target, (target,), words(["de-AT"]), readable=True) == "loschen"
    assert consequential(tap, target, (target,), words(["fr"]), readable=True) == ""


def test_a_language_that_does_not_ship_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no words for tlh") as raised:
        words(["de", "tlh"])
    assert "known: en, de, fr" in raised.value.hint


@pytest.mark.parametrize(
    "action",
    [
        Tap(coordinate=FIRST),
        DoubleTap(coordinate=FIRST),
        LongPress(coordinate=FIRST),
        Drag(start=FIRST, end=(0.9, 0.9)),
        Swipe(start=(0.1, 0.5), end=(0.9, 0.5)),
        Swipe(start=(0.5, 0.5), end=(0.5, 0.5), duration=80),
    ],
)
def test_every_touch_that_starts_on_one_counts(action: Tap) -> None:
    target = element("button", "Pay")
    assert consequential(action, target, (target,), ALL, readable=True) == "pay"


def test_a_finger_that_scrolls_over_one_presses_nothing() -> None:
    target = element("button", "pay rent")
    up = Swipe(start=(0.5, 0.7), end=(0.5, 0.2))
    assert consequential(up, target, (target,), ALL, readable=True) == ""
    slid = element("button", "Swipe up to pay")
    assert consequential(up, slid, (slid,), ALL, readable=True) == "pay"
    slider = element("slider", "Slide to pay")
    assert consequential(Swipe(start=(0.1, 0.5), end=(0.9, 0.5)), slider, (slider,), ALL, readable=True) == "pay"
    assert consequential(Tap(coordinate=FIRST), slider, (slider,), ALL, readable=True) == ""


def test_a_place_about_which_nothing_is_known_counts() -> None:
    tap = Tap(coordinate=(0.5, 0.5))
    assert consequential(tap, None, None, ALL, readable=False) == UNKNOWN
    assert consequential(tap, None, (), ALL, readable=True) == UNKNOWN
    assert consequential(Enter(), None, None, ALL, readable=False) == UNKNOWN
    assert consequential(Swipe(start=(0.5, 0.8), end=(0.5, 0.2)), None, None, ALL, readable=False) == ""
    assert consequential(tap, None, settings_list().shown, ALL, readable=True) == ""
    canvas = element("canvas", "", (0, 0, 1080, 2400))
    assert consequential(tap, canvas, (canvas,), ALL, readable=True) == UNKNOWN
    read = element("text", "Level 1", clickable=None)
    assert consequential(tap, canvas, (canvas, read), ALL, readable=True) == ""


@pytest.mark.parametrize("action", [Enter(), Type(text="hello\n")])
def test_enter_counts_where_it_would_send(action: Enter) -> None:
    assert consequential(action, None, conversation("hello").shown, ALL, readable=True) == "send"
    assert consequential(action, None, editor("milk").shown, ALL, readable=True) == ""  # Delete stands above, for one
    assert consequential(action, None, settings_list().shown, ALL, readable=True) == ""
    search = look(
        ("field", "", (48, 288, 1032, 432), {"hint": "Search the shop", "state": ("focused",)}),
        ("button", "Buy now", (48, 600, 1032, 700)),
    )
    assert consequential(action, None, search.shown, ALL, readable=True) == ""
    form = look(
        ("field", "", (48, 288, 1032, 432), {"hint": "Amount", "state": ("focused",)}),
        ("button", "Überweisen", (48, 2088, 1032, 2232)),
    )
    assert consequential(action, None, form.shown, ALL, readable=True) == "uberweisen"


def test_a_button_that_is_disabled_is_not_triggered_unless_the_text_enables_it() -> None:
    empty = conversation("").shown
    assert consequential(Enter(), None, empty, ALL, readable=True) == ""
    assert consequential(Type(text="hello\n"), None, empty, ALL, readable=True) == "send"
    assert consequential(Type(text="hello"), None, empty, ALL, readable=True) == ""


@pytest.mark.parametrize("action", [Back(), Home(), Clear(), Wait(), OpenApp(app="PayPal")])
def test_keys_and_apps_are_harmless(action: Back) -> None:
    assert consequential(action, None, checkout().shown, ALL, readable=True) == ""
    assert consequential(action, None, None, ALL, readable=False) == ""


def test_the_paying_button_of_a_form_is_one_and_its_choices_are_none() -> None:
    shown = checkout().shown
    found = {each.text: consequential(Tap(coordinate=FIRST), each, shown, ALL, readable=True) for each in shown}
    assert {text for text, word in found.items() if word} == {"Pay £94.98"}
    shown = conversation("hello").shown
    found = {each.text: consequential(Tap(coordinate=FIRST), each, shown, ALL, readable=True) for each in shown}
    assert {text for text, word in found.items() if word} == {"Call", "Delete conversation", "Send message"}
    assert on(checkout(), "pay").text == "Pay £94.98"


@given(
    st.sampled_from(["Pay", "Löschen", "Envoyer", "Удалить", "Öde"]), st.sampled_from([str.upper, str.lower, str.title])
)
def test_case_does_not_matter(label: str, form: object) -> None:
    assert ALL.command(form(label)) is not None  # type: ignore[operator]


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


TEXTS = st.one_of(
    st.text(max_size=60), st.sampled_from(["Pay", "Pay · now", "OK", "削除", "Call 5", "+49 151 5550 1367", "7"])
)
ROLES = st.sampled_from("button field switch checkbox radio tab slider picker text image list progress canvas".split())
ELEMENT = st.builds(
    element,
    ROLES,
    TEXTS,
    st.tuples(*[st.integers(-50, 1500)] * 2, *[st.integers(-50, 3000)] * 2),
    hint=TEXTS,
    resource_id=st.one_of(st.text(max_size=20), st.sampled_from(["send_button", "pay", "button1", "phone"])),
    state=st.sampled_from([(), ("focused",), ("disabled",), ("checked",)]),
    clickable=st.sampled_from([True, False, None]),
    package=st.sampled_from(["", "com.miui.home", "org.example"]),
)
PLACE = st.one_of(st.tuples(st.floats(0, 1), st.floats(0, 1)), st.builds(Numbered, element=st.integers(1, 5)))
ACTIONS = st.one_of(
    *(st.builds(kind, coordinate=PLACE) for kind in (Tap, LongPress, DoubleTap)),
    *(st.builds(kind, start=PLACE, end=PLACE) for kind in (Swipe, Drag)),
    st.builds(Type, text=st.text(min_size=1, max_size=20)),
    st.sampled_from(
        [ACTION.validate_python({"action": name}) for name in ("back", "home", "recent", "enter", "clear")]
    ),
)


@given(ACTIONS, st.none() | ELEMENT, st.none() | st.lists(ELEMENT, max_size=6), st.booleans())
def test_whatever_is_on_the_screen_there_is_an_answer(
    action: Tap, target: Element | None, shown: list[Element] | None, readable: bool
) -> None:
    found = consequential(action, target, shown, ALL, readable=readable)
    if not readable and target is None and isinstance(action, Tap | LongPress | DoubleTap | Drag):
        assert found == UNKNOWN


@given(ACTIONS, ELEMENT, st.lists(ELEMENT, max_size=6))
def test_a_word_that_a_person_named_always_counts(action: Tap, target: Element, shown: list[Element]) -> None:
    named = element("switch", f"x garage {target.text}")
    if isinstance(action, Tap | LongPress | DoubleTap | Drag):
        assert consequential(action, named, [named, *shown], words((), ("garage",)), readable=True)


def test_every_kind_has_words_in_every_language() -> None:
    for code in ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru", "zh", "ja", "ko", "ar", "hi"):
        assert words([code]) is words([code])
        assert set(COMMANDS) <= set(words([code])._languages[0]._kinds.values())
