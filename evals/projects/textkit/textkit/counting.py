"""Counting words."""

from collections import Counter


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.strip(".,;:!?").lower() for word in text.split()]


def most_common(text: str, n: int) -> list[str]:
    """The n most frequent words, the most frequent first; equal ones in alphabetical order."""
    counts = Counter(words(text))
    return sorted(counts, key=lambda word: (-counts[word], word))[:n]
