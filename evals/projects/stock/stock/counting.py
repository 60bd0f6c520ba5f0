"""Lists of what was counted."""

import hashlib


def fingerprint(lines):
    """The same for the same lines."""
    return hashlib.md5("\n".join(lines).encode()).hexdigest()


def counted(lines):
    """How many pieces there are of each article: lines are like "tea 3"."""
    found = {}
    for line in lines:
        article, pieces = line.split()
        found[article] = found.get(article, 0) + int(pieces)
    return found
