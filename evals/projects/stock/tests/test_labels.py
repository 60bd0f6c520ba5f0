from stock.labels import label, shortened


def test_label_has_the_name_in_capitals():
    assert label("tea", 250) == "TEA 250 g"


def test_shortened_name():
    assert shortened("chamomile", 4) == "cham"
