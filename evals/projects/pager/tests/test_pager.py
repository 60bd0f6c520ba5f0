import pytest

from pager import page, page_count


def test_a_full_last_page():
    assert page_count([1, 2, 3, 4], 2) == 2


def test_a_last_page_that_is_not_full_counts_too():
    assert page_count([1, 2, 3, 4, 5], 2) == 3
    assert page([1, 2, 3, 4, 5], 3, 2) == [5]


def test_no_items_make_one_empty_page():
    assert page_count([], 10) == 1


def test_a_page_that_does_not_exist():
    with pytest.raises(IndexError):
        page([1, 2], 3, 1)
