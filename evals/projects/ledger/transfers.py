"""Money from one account to another: both change, or none."""

from accounts import Account


def transfer(source: Account, target: Account, cents: int) -> None:
    """Move `cents`; where the source has too little, NotEnough is raised and nothing has changed."""
    target.deposit(cents)
    source.withdraw(cents)
