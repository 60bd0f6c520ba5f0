import pytest
from accounts import Account, NotEnough
from transfers import transfer


def test_a_transfer_moves_the_money():
    ann, bob = Account("Ann", 100), Account("Bob", 5)
    transfer(ann, bob, 30)
    assert (ann.balance, bob.balance) == (70, 35)


def test_a_transfer_that_fails_changes_nothing():
    ann, bob = Account("Ann", 10), Account("Bob", 0)
    with pytest.raises(NotEnough):
        transfer(ann, bob, 50)
    assert (ann.balance, bob.balance) == (10, 0)
    assert bob.history == []
