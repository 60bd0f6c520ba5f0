import pytest
from chunks import chunks


def test_the_last_may_be_shorter():
    assert [list(each) for each in chunks([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]


def test_all_are_full():
    assert [list(each) for each in chunks(["a", "b", "c", "d"], 2)] == [["a", "b"], ["c", "d"]]


def test_no_items_make_no_chunks():
    assert list(chunks([], 3)) == []


def test_a_size_below_one_is_refused():
    with pytest.raises(ValueError):
        list(chunks([1, 2], 0))
