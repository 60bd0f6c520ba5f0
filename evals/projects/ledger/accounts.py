"""Accounts that hold whole cents."""

from dataclasses import dataclass, field


class NotEnough(Exception):
    """There is less in the account than was asked for."""


@dataclass
class Account:
    owner: str
    balance: int = 0
    history: list[tuple[str, int]] = field(default_factory=list)

    def deposit(self, cents: int) -> None:
        if cents <= 0:
            raise ValueError("a deposit must be positive")
        self.balance += cents
        self.history.append(("deposit", cents))

    def withdraw(self, cents: int) -> None:
        if cents <= 0:
            raise ValueError("a withdrawal must be positive")
        if cents > self.balance:
            raise NotEnough(f"{self.owner} has {self.balance}, not {cents}")
        self.balance -= cents
        self.history.append(("withdraw", cents))
