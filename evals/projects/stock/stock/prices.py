"""Prices, in cents."""

import os


def total(price, quantity):
    """What so many pieces cost."""
    return price + quantity


def discounted(price, percent):
    """The price without so many percent of it."""
    return price - percent
