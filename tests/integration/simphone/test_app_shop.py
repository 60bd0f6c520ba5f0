"""The shop, touched: the record says what was ordered and paid, and how often."""

from __future__ import annotations

import pytest
from app_lab import SHOP, Finger

CARD = {"card_number": "4242 4242 4242 4242", "expiry": "09/27", "cvc": "123"}
ADDRESS = {"name": "Zoë Müller", "street": "3 Mill Lane", "city": "York", "postcode": "YO1 7HH"}
KETTLE = {"id": 1, "product": 11, "name": "Kettle Swan 1.7 l", "variant": "White", "price": 3495, "quantity": 1}


@pytest.fixture
def shop(finger: Finger) -> Finger:
    """Somebody who was there before: no pop-up."""
    finger.change(SHOP, popup_shown=True, payment_delay_ms=10)
    return finger


@pytest.fixture
def checkout(shop: Finger) -> Finger:
    """With a kettle in the basket and an address that is known."""
    shop.change(SHOP, basket=[KETTLE], signed_in=True)
    shop.open(SHOP)
    shop.tap("basket")
    shop.tap("Go to checkout")
    return shop


def fill(finger: Finger, fields: dict[str, str]) -> None:
    for name, text in fields.items():
        finger.seek(name)
        finger.type(text, into=name)


def test_the_pop_up_comes_once(finger: Finger) -> None:
    finger.open(SHOP)
    finger.see("Spring sale")
    finger.tap("No thanks")
    finger.see("31 products")
    assert finger.state(SHOP)["popup_shown"]
    finger.phone.call(lambda phone: phone.system.activities.stop(SHOP))
    finger.open(SHOP)
    finger.see("31 products")
    assert finger.find("Spring sale") is None


def test_products_are_searched_sorted_and_filtered(shop: Finger) -> None:
    shop.open(SHOP)
    shop.tap("category_home")
    shop.see("5 products")
    shop.tap("sort")
    shop.tap("Price: low to high")
    shown = shop.texts()
    assert shown.index("Scented candle Cedar") < shown.index("Plant pot set") < shown.index("Wool blanket Fjord")
    shop.tap("filter")
    shop.tap("in_stock")
    shop.tap("apply_filter")
    shop.see("4 products")
    shop.type("wool", into="search")
    shop.see("1 product")
    shop.back()  # to all of them
    shop.see("27 products")


def test_a_variant_is_chosen_before_anything_is_bought(shop: Finger) -> None:
    shop.open(SHOP)
    shop.tap("Wireless headphones Aria 2")
    shop.tap("add_to_basket")
    shop.see("Choose a colour")
    assert shop.state(SHOP)["basket"] == []
    assert not shop.seek("variant_white").is_("enabled")
    shop.tap("variant_navy")
    shop.seek_and_tap("Increase quantity")
    shop.tap("add_to_basket")
    shop.see("Added to basket")
    line = {
        "id": 1,
        "product": 1,
        "name": "Wireless headphones Aria 2",
        "variant": "Navy",
        "price": 8999,
        "quantity": 2,
    }
    assert shop.state(SHOP)["basket"] == [line]
    shop.tap("View basket")
    shop.see("£179.98")


def test_what_is_out_of_stock_cannot_be_bought(shop: Finger) -> None:
    shop.open(SHOP)
    shop.seek_and_tap("Record player Revolve")
    assert not shop.see("add_to_basket").is_("enabled")
    shop.tap("add_to_basket")
    assert shop.state(SHOP)["basket"] == []


def test_no_more_is_sold_than_there_is(shop: Finger) -> None:
    lamp = {"id": 1, "product": 4, "name": "Soundbar Linea 300", "variant": "", "price": 17900, "quantity": 3}
    shop.change(SHOP, basket=[lamp])
    shop.open(SHOP)
    shop.tap("basket")
    shop.tap("line_1_quantity_more")
    assert shop.see("line_1_quantity").text == "4"
    assert not shop.see("line_1_quantity_more").is_("enabled")


def test_a_line_is_removed_and_had_back(shop: Finger) -> None:
    shop.change(SHOP, basket=[KETTLE])
    shop.open(SHOP)
    shop.tap("basket")
    shop.see("£38.94")  # with delivery
    shop.tap("Remove Kettle Swan 1.7 l")
    shop.see("Your basket is empty")
    shop.tap("Undo")
    shop.see("£38.94")
    assert shop.state(SHOP)["basket"] == [KETTLE]


def test_an_order_is_paid_once(checkout: Finger) -> None:
    fill(checkout, CARD)
    checkout.tap("pay")
    checkout.see("Thank you for your order!")
    assert checkout.see("order_number").text == "S-10042"
    payment = {"method": "card", "amount": 3894, "card": "4242", "status": "accepted"}
    assert checkout.log(SHOP, "payment") == [payment]
    orders = checkout.log(SHOP, "order")
    assert [(each["number"], each["total"], each["address"]["street"]) for each in orders] == [
        ("S-10042", 3894, "14 Harbour Street")
    ]
    state = checkout.state(SHOP)
    assert state["basket"] == []
    assert state["orders"][-1] == orders[0]
    assert state["products"][10]["stock"] == 10
    checkout.tap("Continue shopping")
    checkout.see("31 products")


def test_impatience_pays_once(checkout: Finger) -> None:
    checkout.change(SHOP, payment_delay_ms=1000)
    fill(checkout, CARD)
    checkout.double_tap("pay")
    assert not checkout.see("pay").is_("enabled")
    assert checkout.see("pay").text == "Processing…"
    checkout.tap("pay")
    checkout.back()
    assert checkout.toasts()[-1] == "Your order is being processed"
    checkout.see("Thank you for your order!")
    assert len(checkout.log(SHOP, "payment")) == len(checkout.log(SHOP, "order")) == 1


def test_an_order_stands_when_the_app_dies_before_the_answer(checkout: Finger) -> None:
    checkout.change(SHOP, payment_delay_ms=60_000)
    fill(checkout, CARD)
    checkout.tap("pay")
    checkout.phone.call(lambda phone: phone.system.activities.stop(SHOP))
    checkout.open(SHOP)
    checkout.tap("account")
    checkout.tap("Your orders")
    checkout.see("Order S-10042")
    assert checkout.state(SHOP)["basket"] == []


def test_a_declined_card_costs_nothing_and_can_be_tried_again(checkout: Finger) -> None:
    checkout.change(SHOP, payment_declines=1)
    fill(checkout, CARD)
    checkout.tap("pay")
    checkout.see("declined")
    assert [each["status"] for each in checkout.log(SHOP, "payment")] == ["declined"]
    assert checkout.log(SHOP, "order") == []
    assert checkout.state(SHOP)["basket"] == [KETTLE]
    checkout.tap("pay")
    checkout.see("Thank you for your order!")
    assert [each["status"] for each in checkout.log(SHOP, "payment")] == ["declined", "accepted"]
    assert len(checkout.log(SHOP, "order")) == 1


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("card_number", "4242 4242 4242 4241", "Enter a valid card number"),
        ("expiry", "02/26", "This card has expired"),
        ("cvc", "12", "Enter the 3 digits on the back"),
        ("postcode", "?", "Enter a valid postcode"),
    ],
)
def test_a_field_that_is_wrong_is_named(checkout: Finger, name: str, text: str, problem: str) -> None:
    fill(checkout, CARD)
    checkout.phone.call(lambda phone: phone.display.swipe(540, 600, 540, 2000, 100))
    checkout.phone.call(lambda phone: phone.display.swipe(540, 600, 540, 2000, 100))
    fill(checkout, {name: text})
    checkout.tap("pay")
    checkout.see(problem)
    assert checkout.log(SHOP, "payment") == checkout.log(SHOP, "order") == []


def test_a_guest_has_it_delivered_and_pays_at_the_door(shop: Finger) -> None:
    shop.change(SHOP, basket=[KETTLE])
    shop.open(SHOP)
    shop.tap("basket")
    shop.tap("Go to checkout")
    fill(shop, ADDRESS)
    shop.seek_and_tap("delivery_express")
    shop.seek_and_tap("payment_on_delivery")
    shop.tap("Place order · £42.94")
    shop.see("Thank you for your order!")
    assert shop.log(SHOP, "payment") == []
    assert [(each["delivery"], each["total"]) for each in shop.log(SHOP, "order")] == [("express", 4294)]


def test_the_address_of_who_has_signed_in_is_known(shop: Finger) -> None:
    shop.change(SHOP, basket=[KETTLE])
    shop.open(SHOP)
    shop.tap("account")
    shop.tap("Sign in")
    shop.type("alex.morgan@example.com", into="email")
    shop.type("1111", into="pin")
    shop.tap("sign_in")
    shop.see("E-mail address or PIN is wrong")
    shop.type("2468", into="pin")
    shop.tap("sign_in")
    shop.see("Alex Morgan")
    assert shop.state(SHOP)["signed_in"]
    shop.back()
    shop.tap("basket")
    shop.tap("Go to checkout")
    assert shop.see("street").text == "14 Harbour Street"


def test_the_page_with_the_pin_is_secure(shop: Finger) -> None:
    shop.open(SHOP)
    system = shop.phone.phone.system
    assert not system.packages.is_secure(system.activities.front.component)
    shop.tap("account")
    shop.tap("Sign in")
    shop.see("pin")
    assert system.packages.is_secure(system.activities.front.component)
