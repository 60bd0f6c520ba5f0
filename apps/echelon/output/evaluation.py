"""The report on a suite that was carried out."""

from __future__ import annotations

from echelon.evaluation.tries import Try
from echelon.output.shape import Number, Shape


class TypeFigures(Shape):
    """Of the `n` tries of a type, how many were done, and medians of their model calls, tokens, and seconds."""

    done: int
    n: int
    model_calls: Number
    tokens: Number
    seconds: Number


class Totals(Shape):
    """Sums over all `n` tries; `prompt_tokens` include the cached ones."""

    done: int
    n: int
    model_calls: int
    executor_decisions: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: Number


class Evaluation(Shape):
    """The tries of a suite, by its name; `types` has the figures of each type of request."""

    suite: str
    tries: tuple[Try, ...]
    types: dict[str, TypeFigures]
    totals: Totals
