"""`mai-phone "TASK"`: one task on one phone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from echelon import options, phone_options

if TYPE_CHECKING:
    from echelon.mai_phone_config import MaiPhone

BUILTIN = "builtin"
WHERE = click.Path(path_type=Path)


@click.command(
    cls=phone_options.TaskCommand,
    name="phone",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  mai-phone "Switch Wi-Fi off"
  mai-phone "Order two apples" --app shop --confirm
  mai-phone "Set an alarm for 7:30" --simulated --gif
  mai-phone --device 192.168.1.5:5555 --max-steps 20 "Open the settings and tell me the Android version"
  mai-phone "Write a note" --agent my_agents:Agent --use-accessibility-tree
  mai-phone devices

\b
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 a budget was reached, 4 no device, or it was lost,
5 no model, 6 waiting for an answer, 130 interrupted.
""",
)
@click.argument("task", metavar="TASK")
@click.option("--device", "serial", metavar="S", help="The phone, by its serial or host:port.  [default: the only one]")
@click.option(
    "--device-mode",
    type=click.Choice(["auto", "usb", "wifi"]),
    help="Take only a phone on a cable, or only one over WiFi.  [default: auto]",
)
@phone_options.simulated
@click.option("--app", default="", metavar="NAME", help="Start this app first: its name, or its package.")
@click.option(
    "--apk",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="Install the app of this file if it is missing, and start it first.",
)
@click.option("--agent", default=BUILTIN, show_default=True, metavar="A", help="Who decides: package.module:Class.")
@options.model_option
@options.api_base_option
@click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="Decisions of the agent.  [default: 50]")
@click.option(
    "--step-delay",
    type=click.FloatRange(min=0),
    metavar="S",
    help="Seconds between an action and the next look.  [default: 0.5]",
)
@click.option(
    "--max-retries", type=click.IntRange(min=0), metavar="N", help="Of what the phone did not do.  [default: 2]"
)
@click.option(
    "--retry-delay", type=click.FloatRange(min=0), metavar="S", help="Seconds before the first.  [default: 0.5]"
)
@click.option(
    "--use-accessibility-tree/--no-use-accessibility-tree",
    "tree",
    default=None,
    help="Give an agent of others the elements of the screen, too. The built-in one always has them.",
)
@click.option("--include-step-info", "step_info", is_flag=True, help="Tell it the number of the step, and of how many.")
@click.option(
    "--validate-screen-change/--no-validate-screen-change",
    "screen_change",
    default=True,
    help="Whether an unchanged screen counts as a failed action.  [default: it does]",
)
@click.option(
    "--careful",
    "careful",
    multiple=True,
    metavar="WORD",
    help="Treat targets of this name like a payment: never twice unasked.  (Repeatable)",
)
@click.option("--confirm", is_flag=True, help="Ask before each action with consequences: pay, send, delete, …")
@click.option("--trajectory-dir", type=WHERE, metavar="DIR", help="Where the task's trajectory is written.")
@click.option("--embed-screenshots", is_flag=True, help="In trajectory.json itself, not as files beside it.")
@click.option("--gif", metavar="[FILE.gif]", help="An animated picture of what was done.")
@click.option("--yes", "assume_yes", is_flag=True, help="Pull a missing model. It answers no question of the task.")
@options.no_input
@options.as_json
@options.config_option
@options.verbose
def task(
    task: str,
    serial: str | None,
    device_mode: str | None,
    simulated: bool,
    agent: str,
    model_name: str | None,
    api_base: str | None,
    max_steps: int | None,
    apk: str | None,
    tree: bool | None,
    careful: tuple[str, ...],
    gif: str | None,
    assume_yes: bool,
    no_input: bool,
    as_json: bool,
    config_file: Path | None,
    **given: Any,
) -> int:
    """Carry out TASK on a phone, with live progress; or a COMMAND about phones.

    The agent's answer goes to standard output; progress, and where the trajectory is, to standard error. Interrupted
    with Ctrl-C, the task can be resumed. With one phone connected, no option is needed.
    """
    from echelon import phone_devices
    from echelon.choosing import with_models
    from echelon.mai_phone_config import load
    from echelon.phone_driving import PhoneWork, begin, importable
    from gateway.errors import UsageError
    from gateway.gateway import check_request
    from gateway.phone.adb import AdbServer
    from gateway.phone.agents import loading

    check_request(task)
    if simulated and serial is not None:
        raise UsageError("--simulated brings a phone of its own", hint=f"leave it out to use {serial}")
    if agent == BUILTIN and tree is False:
        raise UsageError("the built-in agent lives on the elements of the screen", hint="name another with --agent")
    overrides = {
        "device": {"serial": serial, "mode": device_mode},
        "model": model_name,
        "models": {"phone": model_name},
        "api_base": api_base,
        "limits": {"max_steps": max_steps},
    }
    settings, file = load(overrides, config_file)
    if agent != BUILTIN:
        importable(agent, settings.workspace)
        loading.find(agent)
    server = AdbServer(settings.device.adb_server)
    there = None if simulated else phone_devices.chosen(server, settings.device)
    if agent == BUILTIN:
        settings = with_models(settings, assume_yes=assume_yes, no_input=no_input, roles=("phone",))
    with phone_devices.simulated(server, simulated) as mine:
        chosen = _chosen(file, mine or there, **given)
        chosen |= {"agent": agent, "apk": apk or "", "tree": bool(tree), "gif": gif is not None, "simulated": simulated}
        act = begin(task, chosen, careful)
        work = PhoneWork(act, as_json=as_json, level=file.logging.level, gif=gif, simulated=simulated)
        return work.carry_out(settings, no_input=no_input, assume_yes=assume_yes)


def _chosen(
    file: MaiPhone,
    serial: str | None,
    *,
    step_delay: float | None,
    max_retries: int | None,
    retry_delay: float | None,
    trajectory_dir: Path | None,
    confirm: bool,
    **given: Any,
) -> dict[str, Any]:
    """Options of the task that somebody has set, of the file where none was given."""
    execution = file.execution
    attempts = execution.retry_attempts
    more = {
        "step_delay": execution.screenshot_delay if step_delay is None else step_delay,
        "retries": (attempts and attempts - 1) if max_retries is None else max_retries,
        "retry_delay": retry_delay,
        "temperature": file.model.temperature,
        "history": file.model.history_n,
        "trajectory_dir": str(trajectory_dir.absolute()) if trajectory_dir else file.trajectory_dir or None,
        "confirm": confirm or None,
        "serial": serial,
    }
    return given | {name: value for name, value in more.items() if value is not None}
