from intervals import merge, total


def test_apart():
    assert merge([(5, 6), (1, 2)]) == [(1, 2), (5, 6)]


def test_overlapping():
    assert merge([(1, 4), (3, 8)]) == [(1, 8)]


def test_one_inside_the_other():
    assert merge([(1, 10), (2, 3)]) == [(1, 10)]
    assert total([(1, 10), (2, 3), (9, 12)]) == 12
