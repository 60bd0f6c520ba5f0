from stock.prices import discounted, total


def test_total_of_several_pieces():
    assert total(250, 3) == 750


def test_discount_is_a_share_of_the_price():
    assert discounted(500, 10) == 450
