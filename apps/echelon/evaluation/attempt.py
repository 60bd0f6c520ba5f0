"""One try of a wording, in a home and a workspace of its own; models and the corpus's index are shared."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

from echelon.evaluation.judges import Left, judge
from echelon.evaluation.phone_conditions import Kept
from echelon.evaluation.runner import Carried, Runner
from echelon.evaluation.suite import Request, Suite, Wording
from echelon.evaluation.tries import Try
from gateway import Settings
from gateway.config import HOME, PREFIX
from gateway.errors import AdbMissing, ConfigError, EchelonError, ModelUnavailable


def attempt(suite: Suite, wording: Wording, runner: Runner, chosen: Settings, folder: Path) -> Try:
    """Try it in `folder/<runner>/<id>-<wording>`, which is made anew; `chosen` says which models are used.

    Whatever goes wrong is the try's problem, but for what would go wrong in every other, too: ConfigError, AdbMissing
    and ModelUnavailable are raised.
    """
    request = wording.request
    place = folder.absolute() / runner.name / f"{request.id}-{wording.number}"
    home, workspace = place / "home", place / "work"
    shutil.rmtree(place, ignore_errors=True)
    prepare(suite, request, workspace)
    furnish(home, chosen.home / "models", folder.absolute() / "corpus")
    settings = settings_of(chosen, suite, home, workspace)
    asyncio.run(remember(request, settings))
    began, carried, problem = time.monotonic(), Carried(), ""
    try:
        carried = asyncio.run(runner.carry(settings, wording.turns))
    except (ConfigError, AdbMissing, ModelUnavailable):
        raise
    except EchelonError as error:
        problem = f"{type(error).__name__}: {error}"
    seconds = round(time.monotonic() - began, 1)
    problem = problem or judge(request.judge, left(suite, request, home, workspace, carried.response, carried.phone))
    return Try(
        id=request.id,
        type=request.type,
        wording=wording.number,
        runner=runner.name,
        model=runner.model(settings),
        done=not problem,
        problem=problem,
        ended=carried.ended,
        executor_decisions=carried.executor_decisions,
        seconds=seconds,
        **carried.usage,
    )


def prepare(suite: Suite, request: Request, workspace: Path) -> None:
    """Make the workspace, with the request's project in it."""
    project = suite.project_folder(request)
    workspace.mkdir(parents=True, exist_ok=True)
    if project is not None:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(project, workspace, dirs_exist_ok=True, ignore=ignored)


def furnish(home: Path, models: Path, index: Path) -> None:
    """Make the home: a gigabyte that was pulled once is not pulled again, nor a corpus indexed again."""
    for name, shared in (("models", models), ("corpus", index)):
        shared.mkdir(parents=True, exist_ok=True)
        home.mkdir(parents=True, exist_ok=True)
        (home / name).symlink_to(shared)


def settings_of(chosen: Settings, suite: Suite, home: Path, workspace: Path) -> Settings:
    """The chosen models, the time that a turn may take, whether answers are validated, and where adb is; nothing else
    that a person has configured: a tool that is denied would be judged, too."""
    overrides = {
        "model": chosen.model,
        "models": chosen.models.model_dump(),
        "api_base": chosen.api_base,
        "api_key": chosen.api_key,
        "validate": chosen.validation,
        "workspace": str(workspace),
        "limits": chosen.limits.model_dump(include={"max_time_s"}, exclude_unset=True),
        "device": {"adb_server": chosen.device.adb_server},
    }
    if suite.corpus_folder is not None:
        overrides["research"] = {"provider": "corpus", "corpus_dir": str(suite.corpus_folder)}
    environ = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return Settings.load(overrides, cwd=home, environ={**environ, HOME: str(home)})


async def remember(request: Request, settings: Settings) -> None:
    """Let the home know the request's memories, as an earlier session would have left them."""
    from gateway.engine.artifacts import ArtifactStore
    from gateway.tools.builtin.memory import SaveArgs, memory_save
    from gateway.tools.registry import ToolContext

    artifacts = ArtifactStore(settings.home / "artifacts")
    context = ToolContext(settings.workspace, settings.home, artifacts, session="before", now=time.time())
    for text in request.memories:
        await memory_save.run(SaveArgs.model_validate({"text": text}), context)


def left(suite: Suite, request: Request, home: Path, workspace: Path, response: str, phone: Kept | None = None) -> Left:
    """What the judges look at."""
    project, corpus = suite.project_folder(request), suite.corpus_folder
    return Left(home, workspace, response, suite.folder, project=project, corpus=corpus, phone=phone)
