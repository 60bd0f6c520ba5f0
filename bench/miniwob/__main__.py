"""`python -m bench.miniwob [TASK …]`: tasks of MiniWoB by an agent, and how many of them it solves.

Without names, those that the oracle solves. Each try is kept in FOLDER/tries.jsonl: interrupted, the same command goes
on from there.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from bench.miniwob.episode import Episodes, make_app
from bench.miniwob.oracle import SOLVED
from bench.miniwob.solving import seeds
from bench.miniwob.trial import ORACLE, Key, Trial, attempt, keep, model_of, read
from bench.phone import own_server
from echelon.choosing import with_models
from gateway import Gateway, Settings
from gateway.config import HOME
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from gateway.phone.task.state import TaskOptions
from simphone.background import PhoneThread
from simphone.phone import PhoneOptions

FOLDER = Path(".bench") / "miniwob"
CONNECT_S = 60.0


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, help=__doc__)
@click.argument("tasks", nargs=-1, metavar="[TASK …]")
@click.option("--agent", default=ORACLE, show_default=True, metavar="A", help="builtin, or package.module:Class.")
@click.option("--model", metavar="M", help="Of the built-in agent.")
@click.option("--seeds", "number", default=3, show_default=True, type=click.IntRange(1, 3), help="Tries of each task.")
@click.option("--folder", default=FOLDER, type=click.Path(path_type=Path), help=f"Where tries go.  [default: {FOLDER}]")
@click.option("--again", is_flag=True, help="Try also what the folder has a try of.")
def main(tasks: tuple[str, ...], agent: str, model: str | None, number: int, folder: Path, again: bool) -> None:
    settings = _settings(folder, agent, model)
    record = folder.absolute() / "tries.jsonl"
    known = {} if again else {each.key: each for each in read(record)}
    with TemporaryDirectory(prefix="miniwob-") as place, own_server() as server:
        app = make_app(Path(place) / "app")
        with PhoneThread(PhoneOptions(Path(place) / "phone", apps=(str(app),))) as phone:
            devices.connect(server, phone.serial, Deadline(CONNECT_S))
            options = TaskOptions(agent=agent, serial=phone.serial, adb_server=server.address, step_delay=0)
            chosen = [(task, seed) for task in tasks or SOLVED for seed in seeds(task)[:number]]
            tries = asyncio.run(_all(chosen, Episodes(phone), settings, options, record, known))
    print(table(tries))
    sys.exit(0 if all(each.solved for each in tries) else 1)


def _settings(folder: Path, agent: str, model: str | None) -> Settings:
    """A home of its own, with the models that were pulled."""
    chosen = Settings.load({"model": model})
    if agent == "builtin":
        chosen = with_models(chosen, assume_yes=False, no_input=True, roles=("phone",))
    home = (folder / "home").absolute()
    if not home.exists():
        home.mkdir(parents=True)
        (home / "models").symlink_to(chosen.home / "models")
    given = {"model": chosen.model_for("phone"), "api_base": chosen.api_base, "api_key": chosen.api_key}
    return Settings.load({**given, "workspace": str(home)}, cwd=home, environ={HOME: str(home)})


async def _all(
    chosen: Sequence[tuple[str, int]],
    episodes: Episodes,
    settings: Settings,
    options: TaskOptions,
    record: Path,
    known: Mapping[Key, Trial],
) -> list[Trial]:
    """The tries, in order; each that is not known is made, kept and told."""
    model = model_of(settings, options)
    tries = []
    async with Gateway(settings, assume_yes=True) as gateway:
        for task, seed in chosen:
            found = known.get((task, seed, options.agent, model))
            if found is None:
                found = await attempt(gateway, episodes, options, task, seed)
                keep(found, record)
                print(_line(found), file=sys.stderr, flush=True)
            tries.append(found)
    return tries


def _line(each: Trial) -> str:
    outcome = "solved" if each.solved else f"NOT SOLVED: {each.asked} · {each.ended}"
    return f"{each.task}/{each.seed} · {len(each.actions)} actions · {each.seconds:.1f} s · {outcome}"


def table(tries: Sequence[Trial]) -> str:
    """Each task with how many of its tries were solved, then the sums."""
    names = list(dict.fromkeys(each.task for each in tries))
    of = {name: [each for each in tries if each.task == name] for name in names}
    rows = [
        f"| {name} | {_solved(of[name])} of {len(of[name])} | {_middle(of[name], lambda each: len(each.actions))} "
        f"| {_middle(of[name], lambda each: each.seconds):.1f} | {_why(of[name])} |"
        for name in names
    ]
    kinds = Counter(kind for each in tries for kind in each.actions)
    used = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    whole = sum(all(each.solved for each in found) for found in of.values())
    head = ["| task | solved | actions | s | what failed |", "| --- | --: | --: | --: | --- |"]
    return "\n".join(
        [*head, *rows, "", f"{whole} of {len(names)} tasks, {_solved(tries)} of {len(tries)} tries solved: {used}"]
    )


def _solved(tries: Sequence[Trial]) -> int:
    return sum(each.solved for each in tries)


def _middle(tries: Sequence[Trial], of: Callable[[Trial], float]) -> float:
    return sorted(map(of, tries))[len(tries) // 2]


def _why(tries: Sequence[Trial]) -> str:
    """What was asked, what was done, and how that ended."""
    failed = [each for each in tries if not each.solved]
    told = (f"{each.asked} → {' '.join(each.actions)}; reward {each.reward}; {each.ended}" for each in failed)
    return "; ".join(told).replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
