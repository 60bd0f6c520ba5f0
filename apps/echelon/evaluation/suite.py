"""A suite: requests as people word them, and what each has to leave behind. One YAML file, see `evals/turn.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, model_validator

from echelon.evaluation.phone_conditions import Condition
from echelon.evaluation.strict import Strict, Text
from gateway.errors import ConfigError

PYTHON_DOCS = Path("/usr/share/doc/python3/html")
TOGETHER = "+"  # in the type of a request that needs several types of task


def _turns(wording: object) -> object:
    return [wording] if isinstance(wording, str) else wording


def _alternatives(words: object) -> object:
    return [[each] if isinstance(each, str) else each for each in words] if isinstance(words, list) else words


Turns = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_turns)]
"""One request, or those of one session in order."""

Words = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...], Field(min_length=1), BeforeValidator(_alternatives)
]
"""Each entry is a word, or alternatives of which one is enough. Compared without case."""


class Tests(Strict):
    """The tests at `path` of the workspace pass; `unchanged`: and are those of the project."""

    path: Text = "tests"
    unchanged: bool = True


class HiddenTests(Strict):
    """The tests in `folder`, relative to the suite's file, pass in the workspace; nobody saw them before."""

    folder: Text


class File(Strict):
    """A file of the workspace: the words that stand in it, and how many there are at least."""

    contains: Words | None = None
    min_words: int = Field(1, ge=1)


class Skill(Strict):
    """One valid skill, whose quotes stand in the corpus; one of them on a page whose path contains `page`."""

    page: Text


class Result(Strict):
    """A result of `tool` names a source whose path contains `source`."""

    tool: Text
    source: Text


class Judging(Strict):
    """What counts; every key that is given has to hold. See `judges.py`, and `phone_conditions.py` for `phone`."""

    tests: Tests | None = None
    hidden_tests: HiddenTests | None = None
    files: dict[str, File] | None = None
    memory: Words | None = None
    not_memory: Words | None = None
    response: Words | None = None
    skill: Skill | None = None
    result: Result | None = None
    phone: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _judges_something(self) -> Judging:
        if not self.model_fields_set:
            raise ValueError(f"nothing is judged; there are: {', '.join(type(self).model_fields)}")
        return self


class Request(Strict):
    """Something a person wants, in one or more wordings.

    `type` is the task type that it needs, several joined by `+`; `project` is copied into the workspace, `memories` are
    known before.
    """

    id: str = Field(pattern=r"^\w[\w.-]*$", description="names a folder, too")
    type: str = Field(pattern=r"^\w+(\+\w+)*$")
    project: str = ""
    memories: tuple[Text, ...] = ()
    wordings: tuple[Turns, ...] = Field(min_length=1)
    judge: Judging


class Suite(Strict):
    """`corpus`, the folder of documents for research, and `projects` are relative to the suite's file. Where `phone`,
    each request is a task on a simulated phone."""

    name: str = Field(pattern=r"^\w[\w.-]*$")
    corpus: Path | None = None
    projects: Path = Path("projects")
    phone: bool = False
    requests: tuple[Request, ...] = Field(min_length=1)

    _folder: Path = PrivateAttr(default=Path())

    @property
    def folder(self) -> Path:
        """Where the suite's file is, absolute."""
        return self._folder

    @property
    def corpus_folder(self) -> Path | None:
        return self.folder / self.corpus if self.corpus is not None else None

    def project_folder(self, request: Request) -> Path | None:
        return self.folder / self.projects / request.project if request.project else None

    def request(self, id: str) -> Request:
        """The request with that id; ConfigError where there is none."""
        found = next((each for each in self.requests if each.id == id), None)
        if found is None:
            raise ConfigError(f"the suite {self.name} has no request {id!r}")
        return found

    def check_corpus(self) -> None:
        """Raises ConfigError where the documents are not on this machine."""
        folder = self.corpus_folder
        if folder is not None and not folder.is_dir():
            hint = "install the Debian package python3-doc" if folder == PYTHON_DOCS else "name an existing folder"
            raise ConfigError(f"the suite {self.name}: corpus: there is no folder {folder}", hint=hint)


@dataclass(frozen=True)
class Wording:
    """A request in its wording `number`, counted from 1: what is tried."""

    request: Request
    number: int

    @property
    def name(self) -> str:
        return f"{self.request.id}/{self.number}"

    @property
    def turns(self) -> Turns:
        return self.request.wordings[self.number - 1]


def wordings(suite: Suite, only: str = "", number: int | None = None) -> list[Wording]:
    """All that there are, in order; `only` those whose type or name (`ID/NUMBER`) contains the text."""
    return [
        found
        for request in suite.requests
        for found in (Wording(request, each) for each in range(1, len(request.wordings) + 1))
        if (only in found.name or only in request.type) and number in (None, found.number)
    ]


def load_suite(path: Path) -> Suite:
    """Read a suite; ConfigError names the file and the key of what is wrong with it."""
    try:
        suite = Suite.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    except ValidationError as error:
        raise _explained(path, error) from None
    suite._folder = path.absolute().parent
    for key, problem in _problems(suite):
        raise ConfigError(f"{path}: {key}: {problem}")
    return suite


def _explained(path: Path, error: ValidationError) -> ConfigError:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "the file"
    if first["type"] == "extra_forbidden":
        return ConfigError(f"{path}: {key}: there is no such key")
    return ConfigError(f"{path}: {key}: {first['msg'].removeprefix('Value error, ')}")


def _problems(suite: Suite) -> Iterator[tuple[str, str]]:
    """What the form cannot say, each with its key."""
    known: set[str] = set()
    for number, request in enumerate(suite.requests):
        key, judging, project = f"requests.{number}", request.judge, suite.project_folder(request)
        if request.id in known:
            yield f"{key}.id", f"two requests are called {request.id}"
        known.add(request.id)
        if project is not None and not project.is_dir():
            yield f"{key}.project", f"there is no folder {project}"
        if judging.tests is not None and judging.tests.unchanged and project is None:
            yield f"{key}.judge.tests.unchanged", "only a project has tests to compare with"
        if judging.hidden_tests is not None and not (suite.folder / judging.hidden_tests.folder).is_dir():
            yield f"{key}.judge.hidden_tests.folder", f"there is no folder {suite.folder / judging.hidden_tests.folder}"
        if judging.phone is not None and not suite.phone:
            yield f"{key}.judge.phone", "the suite has no phone (`phone: true`)"
        if judging.skill is not None and suite.corpus is None:
            yield f"{key}.judge.skill", "its quotes are compared with the corpus, and the suite has none"


def is_combined(type: str) -> bool:
    """Whether a request of this type needs several types of task."""
    return TOGETHER in type
