"""A series of tries: the wordings of a suite that were chosen, those that are already on record left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from echelon.evaluation.attempt import attempt
from echelon.evaluation.runner import Runner
from echelon.evaluation.suite import Suite, Wording
from echelon.evaluation.tries import Log, Try
from gateway import Settings

LOG = "tries.jsonl"


def evaluate(
    suite: Suite,
    chosen: Sequence[Wording],
    runner: Runner,
    settings: Settings,
    folder: Path,
    *,
    again: bool = False,
    told: Callable[[Try], None],
) -> list[Try]:
    """Try each wording and append the try to `folder/tries.jsonl` as it ends, `told` about it.

    A try of the same request, wording, runner and model that stands there is taken for it, unless `again`. Returns the
    tries in the wordings' order. Raises what `attempt` raises; what was tried until then is on record.
    """
    log = Log(folder / LOG)
    known = {} if again else log.read()
    model = runner.model(settings)
    index(suite, folder)
    tries = []
    for wording in chosen:
        found = known.get((wording.request.id, wording.number, runner.name, model))
        if found is None:
            found = attempt(suite, wording, runner, settings, folder)
            log.add(found)
            told(found)
        tries.append(found)
    return tries


def index(suite: Suite, folder: Path) -> None:
    """Index the corpus before the first try, which would else pay for all."""
    from gateway.tools.research.corpus import Corpus

    if suite.corpus_folder is not None:
        Corpus(suite.corpus_folder, folder.absolute() / "corpus").update()
