"""Messages, touched: the record says what was sent, and how often."""

from __future__ import annotations

from app_lab import MESSAGES, Finger

MUM = "+44 1632 960112"


def test_a_message_is_sent_once_and_seen_on_its_way(finger: Finger) -> None:
    finger.change(MESSAGES, send_delay_ms=300)
    finger.open(MESSAGES)
    finger.tap("Mum")
    assert not finger.see("send_message").is_("enabled")
    finger.type("On my way 🚲 — à bientôt", into="compose_message_text")
    finger.tap("send_message")
    assert finger.log(MESSAGES, "sent") == [{"to": MUM, "text": "On my way 🚲 — à bientôt"}]
    finger.see("Sent")
    assert not finger.see("send_message").is_("enabled")
    assert finger.log(MESSAGES, "sent") == [{"to": MUM, "text": "On my way 🚲 — à bientôt"}]


def test_sending_is_shown_until_it_is_done(finger: Finger) -> None:
    finger.change(MESSAGES, send_delay_ms=60_000)
    finger.open(MESSAGES)
    finger.tap("Mum")
    finger.type("Hello", into="compose_message_text")
    finger.tap("send_message")
    finger.see("Sending…")
    assert finger.find("Sent") is None


def test_two_taps_at_once_send_once(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.tap("Mum")
    finger.type("Once", into="compose_message_text")
    finger.double_tap("send_message")
    finger.see("Sent")
    assert len(finger.log(MESSAGES, "sent")) == 1


def test_a_message_that_failed_can_be_tried_again(finger: Finger) -> None:
    finger.change(MESSAGES, send_failures=1, send_delay_ms=10)
    finger.open(MESSAGES)
    finger.tap("Mum")
    finger.type("Are you there?", into="compose_message_text")
    finger.tap("send_message")
    finger.see("Not sent. Tap to try again.")
    assert finger.log(MESSAGES, "sent") == []
    finger.tap("Are you there?")
    finger.see("Sent")
    assert finger.log(MESSAGES, "sent") == [{"to": MUM, "text": "Are you there?"}]


def test_a_recipient_is_searched_among_the_contacts(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.tap("start_chat")
    finger.type("nguyen", into="recipient")
    finger.tap("Linh Nguyễn")
    finger.type("Chào!", into="compose_message_text")
    finger.tap("send_message")
    finger.see("Sent")
    assert finger.log(MESSAGES, "sent") == [{"to": "+84 90 555 01 77", "text": "Chào!"}]
    finger.back()
    finger.see("start_chat")
    assert finger.texts().index("Linh Nguyễn") < finger.texts().index("Mum")


def test_a_recipient_may_be_a_number(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.tap("start_chat")
    finger.type("+1 555 0100 200", into="recipient")
    finger.tap("send_to_number")
    finger.type("Hi", into="compose_message_text")
    finger.tap("send_message")
    finger.see("Sent")
    assert finger.log(MESSAGES, "sent") == [{"to": "+1 555 0100 200", "text": "Hi"}]


def test_a_conversation_that_was_read_is_no_longer_new(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.see("2 unread")
    finger.tap("Mum")
    finger.see("Morning love, did the parcel come?")
    finger.back()
    finger.see("start_chat")
    assert finger.find("2 unread") is None


def test_a_conversation_is_deleted_after_a_question(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.tap("SHOP")
    finger.tap("delete")
    finger.tap("Delete")
    finger.see("start_chat")
    assert all(each["number"] != "SHOP" for each in finger.state(MESSAGES)["conversations"])


def test_search_looks_into_messages(finger: Finger) -> None:
    finger.open(MESSAGES)
    finger.tap("open_search")
    finger.type("kick-off")
    finger.see("Benjamin Carter")
    assert finger.find("Mum") is None
