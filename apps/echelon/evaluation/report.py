"""The report on a series of tries: Markdown for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from echelon.evaluation.suite import is_combined
from echelon.evaluation.tries import Try, totals
from echelon.output.evaluation import Evaluation, Totals, TypeFigures

TWO_TYPES = "two types"
MEDIANS = ("model_calls", "tokens", "seconds")


def line(each: Try) -> str:
    """A try on one line, as it ends."""
    outcome = "done" if each.done else f"NOT DONE: {each.problem}"
    return f"{each.name} · {each.model_calls} model calls · {each.tokens:,} tokens · {each.seconds:.1f} s · {outcome}"


def table(tries: Sequence[Try]) -> str:
    """Every try, then each group with its medians, then the sums."""
    return "\n\n".join([_every_try(tries), _every_group(tries), _sums(tries)])


def as_data(suite: str, tries: Sequence[Try]) -> Evaluation:
    types = {
        name: TypeFigures.model_validate({"done": done(members), "n": len(members), **medians(members)})
        for name, members in groups(tries)
    }
    sums = Totals.model_validate(totals(tries))
    return Evaluation(suite=suite, tries=tuple(tries), types=types, totals=sums)


def groups(tries: Iterable[Try]) -> list[tuple[str, list[Try]]]:
    """The tries by type, in order; all that need several types are one group, the last."""
    found: dict[str, list[Try]] = {}
    for each in sorted(tries, key=lambda each: is_combined(each.type)):
        found.setdefault(TWO_TYPES if is_combined(each.type) else each.type, []).append(each)
    return list(found.items())


def done(tries: Iterable[Try]) -> int:
    return sum(each.done for each in tries)


def medians(tries: Sequence[Try]) -> dict[str, float]:
    return {name: round(median(getattr(each, name) for each in tries), 1) for name in MEDIANS}


def _every_try(tries: Sequence[Try]) -> str:
    head = [
        "request",
        "done",
        "model calls",
        "executor decisions",
        "prompt (cached) + completion tokens",
        "s",
        "problem",
    ]
    rows = [
        [
            each.name,
            "yes" if each.done else "no",
            str(each.model_calls),
            str(each.executor_decisions),
            f"{each.prompt_tokens:,} ({each.cached_tokens:,}) + {each.completion_tokens:,}",
            f"{each.seconds:.1f}",
            each.problem,
        ]
        for each in tries
    ]
    return _markdown(head, "--rrrr-", rows)


def _every_group(tries: Sequence[Try]) -> str:
    rows = []
    for name, members in groups(tries):
        middle = medians(members)
        figures = [f"{middle['model_calls']:g}", f"{middle['tokens']:,.0f}", f"{middle['seconds']:.1f}"]
        rows.append([name, f"{done(members)} of {len(members)}", *figures])
    return _markdown(["type", "done", "model calls, median", "tokens, median", "s, median"], "-rrrr", rows)


def _sums(tries: Sequence[Try]) -> str:
    sums = totals(tries)
    tokens = f"{sums['prompt_tokens']:,.0f} ({sums['cached_tokens']:,.0f} cached) + {sums['completion_tokens']:,.0f}"
    counted = f"{sums['model_calls']:,.0f} model calls, {tokens} tokens, {sums['seconds']:,.1f} s"
    return f"{sums['done']:g} of {sums['n']:g} done: {counted}"


def _markdown(head: Sequence[str], align: str, rows: Sequence[Sequence[str]]) -> str:
    """A table; `align` has for each column `r` (right) or `-`."""
    rules = ["--:" if each == "r" else "---" for each in align]
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in (head, rules, *rows))
    return "\n".join(f"| {each} |" for each in lines)
