"""Requests of three kinds, each with a judge: what counts is what they left behind, not what the transcript says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECTS = Path(__file__).parent / "projects"
GAP = "[…]"  # a part of the page that a quote leaves out
PYTHON_DOCS = "/usr/share/doc/python3/html"  # where Debian's python3-doc is

Judge = Callable[[Path, Path, str], str]
"""(home, workspace, last response) → an empty string where the task was done, else what is missing."""


@dataclass(frozen=True)
class Task:
    """`requests` are the turns of one session, in order; `project` is copied into the workspace."""

    kind: str
    topic: str
    wording: int
    requests: tuple[str, ...]
    judge: Judge
    project: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.topic}/{self.wording}"

    def prepare(self, workspace: Path) -> None:
        if self.project:
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(PROJECTS / self.project, workspace, dirs_exist_ok=True, ignore=ignored)
        else:
            workspace.mkdir(parents=True, exist_ok=True)


def _skill(page: str) -> Judge:
    """One valid skill, whose quotes stand in the documentation letter for letter, one of them on the topic's page."""

    def judge(home: Path, workspace: Path, response: str) -> str:
        from skills_ref import validate

        written = list((home / "skills").glob("*/SKILL.md"))
        if len(written) != 1:
            return f"{len(written)} skills"
        if problems := validate(written[0].parent):
            return f"not valid: {problems[0]}"
        text = written[0].read_text()
        quotes = re.findall(r"^### .*?\(`([^`#]+)[^`]*`\)\n\n(`{3,})text\n(.*?)\n\2$", text, re.DOTALL | re.MULTILINE)
        if not quotes:
            return "it quotes nothing"
        for source, _, quote in quotes:
            for block in quote.split("\n\n"):
                if block != GAP and _words(block) not in _page_words(source):
                    return f"a quote does not stand in {source}: {block[:60]!r}"
        if not any(page in source for source, _, _ in quotes):
            return f"no quote from {page}, but from {', '.join(sorted({source for source, _, _ in quotes}))}"
        return ""

    return judge


def _words(text: str) -> str:
    """The text without white space: where lines break, and whether there is a space between two tags, is layout."""
    return "".join(text.split())


def _page_words(source: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser((Path(PYTHON_DOCS) / source).read_text())
    for anchor in page.css("a.headerlink"):  # the pilcrow that a browser shows beside a heading
        anchor.decompose()
    body = page.body
    return _words(body.text()) if body is not None else ""


def _tests_pass(project: str) -> Judge:
    """The project's own tests pass, and are as they were."""

    def judge(home: Path, workspace: Path, response: str) -> str:
        for test in (PROJECTS / project / "tests").glob("*.py"):
            if (workspace / "tests" / test.name).read_bytes() != test.read_bytes():
                return f"{test.name} was changed"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        ran = subprocess.run(command, cwd=workspace, capture_output=True, text=True, timeout=60, check=False)
        return "" if ran.returncode == 0 else ran.stdout.strip().splitlines()[-1]

    return judge


def _remembered(*words: str) -> Judge:
    """The last response has the words, and so has the memory."""

    def judge(home: Path, workspace: Path, response: str) -> str:
        import sqlite3

        try:
            with sqlite3.connect(home / "memory.db") as db:
                kept = " ".join(row[0] for row in db.execute("SELECT text FROM memories")).lower()
        except sqlite3.OperationalError:
            return "nothing was ever saved"
        missing = [word for word in words if word.lower() not in kept]
        if missing:
            return f"not in the memory: {', '.join(missing)}"
        missing = [word for word in words if word.lower() not in response.lower()]
        return f"not in the response: {', '.join(missing)}" if missing else ""

    return judge


_TOPICS = [
    ("task-groups", "asyncio-task", "asyncio task groups"),
    ("sqlite-transactions", "sqlite3", "controlling transactions with the sqlite3 module"),
    ("default-factory", "dataclasses", "mutable default values and default factories in dataclasses"),
    ("subcommands", "argparse", "sub-commands with argparse"),
    ("heap-queues", "heapq", "priority queues with the heapq module"),
]
_SKILLS = [
    "Research {} in the Python documentation and make a skill of it.",
    "I want a skill about {}. Look it up in the docs first.",
]
_CODE = [
    (
        "pager",
        "tests/test_pager.py fails. Please fix the code.",
        "Five items in pages of two should give three pages, but page_count says two. Repair it.",
    ),
    (
        "textkit",
        "The tests of slugify fail, make them pass.",
        "slugify leaves hyphens at the ends of a slug. Please correct it.",
    ),
    (
        "ledger",
        "Fix the failing test in tests/test_transfers.py.",
        "When the source account has too little money, transfer still credits the target. Change that.",
    ),
    (
        "roman",
        "to_roman gives wrong numerals for 3 and 3888; the tests show it. Fix it.",
        "There is a bug in roman.py: III comes out as I. Find and repair it.",
    ),
    (
        "intervals",
        "One of the tests in this project fails. Repair the code.",
        "merge loses numbers when one interval lies inside another. Please fix that bug.",
    ),
]
_MEMORY = [
    (
        "server",
        ("Remember that my deploy server is called heron.", "What is the name of my deploy server?"),
        ("For later: deployments go to the server named heron.", "Which server do I deploy to?"),
        ("heron",),
    ),
    (
        "allergy",
        ("Please note that Mia is allergic to peanuts.", "What is Mia allergic to?"),
        ("Keep in mind: my daughter Mia can't eat peanuts, she is allergic.", "Which food must I keep away from Mia?"),
        ("peanut",),
    ),
    (
        "deadline",
        ("Remember: the grant proposal is due on 14 March.", "When is the grant proposal due?"),
        ("Write down that our grant proposal has to be in by 14 March.", "By which day must the grant proposal be in?"),
        ("14 March",),
    ),
    (
        "wifi",
        (
            "Remember that the guest network at the office is called BlueLagoon.",
            "What is the office guest network called?",
        ),
        (
            "Store this for me: office guests use the network BlueLagoon.",
            "Which network should guests at the office use?",
        ),
        ("BlueLagoon",),
    ),
    (
        "seat",
        ("Remember that I always want seat 14C on trains.", "Which seat do I like on trains?"),
        (
            "Note for later: when booking a train for me, take seat 14C.",
            "What seat should be booked for me on the train?",
        ),
        ("14C",),
    ),
]


def all_tasks() -> list[Task]:
    """Five topics of each kind, each in two wordings."""
    tasks = []
    for topic, page, words in _TOPICS:
        tasks += [Task("skill", topic, n, (text.format(words),), _skill(page)) for n, text in enumerate(_SKILLS, 1)]
    for project, *wordings in _CODE:
        tasks += [
            Task("code", project, n, (text,), _tests_pass(project), project) for n, text in enumerate(wordings, 1)
        ]
    for topic, first, second, words in _MEMORY:
        tasks += [Task("memory", topic, n, turns, _remembered(*words)) for n, turns in enumerate((first, second), 1)]
    return tasks
