"""Labels on the shelf."""

import json


def label(name, size):
    """The name in capitals and the size: "TEA 250 g"."""
    return f"{name} {size} g"


def shortened(name, length):
    """At most so many characters of the name."""
    return name[:length]
