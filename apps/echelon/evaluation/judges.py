"""Judges: each looks at one thing that a request left behind, and says what is wrong with it, or nothing.

They share no code with the tools whose work they judge, except the fence in which programs run.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from echelon.evaluation.phone_conditions import Condition, Kept
from echelon.evaluation.suite import File, HiddenTests, Judging, Result, Skill, Tests, Words
from echelon.evaluation.testing import run_tests


@dataclass(frozen=True)
class Left:
    """What is there after the last turn: the home, the workspace, the response that the user got, what the phone keeps;
    and what it is compared with: the project as it was, the corpus, the suite's folder."""

    home: Path
    workspace: Path
    response: str
    folder: Path
    project: Path | None = None
    corpus: Path | None = None
    phone: Kept | None = None


def judge(judging: Judging, left: Left) -> str:
    """Every problem that there is, in one line; empty where all is as it should be."""
    given = ((kind, getattr(judging, kind)) for kind in JUDGES)
    problems = [JUDGES[kind](wanted, left) for kind, wanted in given if wanted is not None]
    return "; ".join(" ".join(each.split()) for each in problems if each)


def judge_tests(wanted: Tests, left: Left) -> str:
    if wanted.unchanged:
        assert left.project is not None  # checked when the suite was loaded
        root = left.project / wanted.path
        for test in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            now = left.workspace / test.relative_to(left.project)
            if not now.is_file():
                return f"{test.name} is gone"
            if now.read_bytes() != test.read_bytes():
                return f"{test.name} was changed"
    return run_tests(left.workspace, left.workspace / wanted.path)


def judge_hidden_tests(wanted: HiddenTests, left: Left) -> str:
    there = left.workspace / "hidden_tests"
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(left.folder / wanted.folder, there, ignore=shutil.ignore_patterns("__pycache__"))
    return run_tests(left.workspace, there)


def judge_files(wanted: Mapping[str, File], left: Left) -> str:
    return "; ".join(problem for name, file in wanted.items() if (problem := _file(name, file, left.workspace)))


def _file(name: str, wanted: File, workspace: Path) -> str:
    path = workspace / name
    if not path.is_file():
        return f"there is no {name}"
    text = path.read_text("utf-8", "replace")
    if len(text.split()) < wanted.min_words:
        return f"{name} has {len(text.split())} words, not {wanted.min_words}"
    return _missing(wanted.contains, text, name)


def judge_memory(wanted: Words, left: Left) -> str:
    memories = _memories(left.home)
    return _missing(wanted, "\n".join(memories), "the memory") if memories else "nothing is remembered"


def judge_not_memory(wanted: Words, left: Left) -> str:
    kept = "\n".join(_memories(left.home))
    found = [word for alternatives in wanted for word in alternatives if _stands(word, kept)]
    return f"in the memory: {', '.join(found)}" if found else ""


def _memories(home: Path) -> list[str]:
    """The texts of all memories; none where nothing was ever saved."""
    if not (home / "memory.db").exists():
        return []
    try:
        with closing(sqlite3.connect(home / "memory.db")) as db:
            return [str(text) for (text,) in db.execute("SELECT text FROM memories")]
    except sqlite3.OperationalError:
        return []


def judge_response(wanted: Words, left: Left) -> str:
    return _missing(wanted, left.response, "the response")


def judge_skill(wanted: Skill, left: Left) -> str:
    from echelon.evaluation.skill_quotes import problem

    assert left.corpus is not None  # checked when the suite was loaded
    return problem(left.home / "skills", left.corpus, wanted.page)


def judge_result(wanted: Result, left: Left) -> str:
    sources = list(dict.fromkeys(_sources(left.home / "turns", wanted.tool)))
    if any(wanted.source in each for each in sources):
        return ""
    return f"{wanted.tool} gave no source {wanted.source}, but {', '.join(sources) or 'none at all'}"


def _sources(turns: Path, tool: str) -> Iterator[str]:
    """The sources that the tool's results name, in all turns."""
    for path in sorted(turns.rglob(f"results/*-{tool}.json")):
        result: dict[str, Any] = json.loads(path.read_text("utf-8"))
        for passage in result.get("data", {}).get("passages", []):
            yield str(passage["source"])


def judge_phone(wanted: Sequence[Condition], left: Left) -> str:
    if left.phone is None:  # the task could not even be begun
        return "there was no phone"
    return "; ".join(problem for each in wanted if (problem := each.problem(left.phone)))


def _missing(wanted: Words | None, text: str, where: str) -> str:
    missing = [" / ".join(each) for each in wanted or () if not any(_stands(word, text) for word in each)]
    return f"not in {where}: {', '.join(missing)}" if missing else ""


def _stands(word: str, text: str) -> bool:
    """Without case, and wherever lines break."""
    return " ".join(word.lower().split()) in " ".join(text.lower().split())


JUDGES: dict[str, Callable[[Any, Left], str]] = {
    "tests": judge_tests,
    "hidden_tests": judge_hidden_tests,
    "files": judge_files,
    "memory": judge_memory,
    "not_memory": judge_not_memory,
    "response": judge_response,
    "skill": judge_skill,
    "result": judge_result,
    "phone": judge_phone,
}
"""By the keys of `Judging`."""
