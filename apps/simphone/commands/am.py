"""`am`: activities, and broadcasts to what listens."""

from __future__ import annotations

import base64
import binascii
import time
from typing import Any

from simphone.commands import keycodes
from simphone.commands.call import UNKNOWN, Call, CommandFailed, JavaThrown
from simphone.system.activities import Launch
from simphone.system.input_methods import ADB_IME
from simphone.system.intent import NEW_TASK, Arguments, IllegalArgument, Intent, parse
from simphone.system.platform import CLIPPER

USAGE = """Activity manager (activity) commands:
  help
      Print this help text.
  start-activity [-D] [-N] [-W] [-P <FILE>] [-R COUNT] [-S] [--user <USER_ID> | current] <INTENT>
      Start an Activity.  Options are:
      -W: wait for launch to complete
      -S: force stop the target app before starting the activity
  broadcast [--user <USER_ID> | all | current] [--receiver-permission <PERMISSION>] <INTENT>
      Send a broadcast Intent.
  force-stop [--user <USER_ID> | all | current] <PACKAGE>
      Completely stop the given application package.
  kill [--user <USER_ID> | all | current] <PACKAGE>
      Kill all background processes associated with the given application.
  get-current-user
      Returns id of the current foreground user.
  stack [COMMAND] [...]: sub-commands for operating on activity stacks.
       list
           List all of the activity stacks and their sizes."""
_WITH_VALUE = ("--user", "--display", "--windowingMode", "--activityType", "--task", "-R", "-P", "--start-profiler")
_ALONE = ("-D", "-N", "--streaming", "--task-overlay", "--lock-task", "--allow-background-activity-starts")
_BRACKETS = "{}"
_AT = "com.android.server.am.ActivityManagerShellCommand"


async def run(call: Call) -> int:
    arguments = Arguments(call.words)
    name = arguments.next()
    commands = {
        "start": _start,
        "start-activity": _start,
        "broadcast": _broadcast,
        "force-stop": _force_stop,
        "stop-app": _force_stop,
        "kill": _kill,
        "stack": _stack,
    }
    if name is None or name in ("help", "-h"):
        await call.say(USAGE)
        return UNKNOWN
    if name == "get-current-user":
        await call.say("0")
        return 0
    if name not in commands:
        raise CommandFailed(f"Unknown command: {name}", UNKNOWN, to_output=True)
    try:
        return await commands[name](call, arguments)
    except IllegalArgument as error:
        raise JavaThrown(
            name,
            f"java.lang.IllegalArgumentException: {error}",
            "android.content.Intent.parseCommandArgs(Intent.java:8155)",
            f"{_AT}.onCommand(ActivityManagerShellCommand.java:230)",
        ) from None


async def _start(call: Call, arguments: Arguments) -> int:
    system = call.system
    wait = stop = False

    def own(option: str, more: Arguments) -> bool:
        nonlocal wait, stop
        wait, stop = wait or option == "-W", stop or option == "-S"
        if option in _WITH_VALUE:
            more.required()
        return option in ("-W", "-S", *_WITH_VALUE, *_ALONE)

    intent = parse(arguments, own)
    component = system.packages.resolve(intent)
    if stop:
        if component is None:
            raise CommandFailed(f"Error: Intent does not match any activities: {intent}")
        await call.say(f"Stopping: {component.package}")
        await system.activities.stop(component.package)
    await call.say(f"Starting: {intent}")
    tell = call.say if wait else call.complain
    if component is None:
        if intent.component is not None:
            missing = f"{_BRACKETS[0]}{intent.component.long}{_BRACKETS[1]}"
            await tell(f"Error type 3\nError: Activity class {missing} does not exist.")
        else:
            intent.flags |= NEW_TASK
            await tell(f"Error: Activity not started, unable to resolve {intent}")
        return 0  # as on real phones: only the words say it
    intent.flags |= NEW_TASK
    cold, begun = system.activities.running(component.package) is None, time.monotonic()
    launched = await system.activities.start(component, intent)
    if launched is Launch.TO_FRONT:
        await tell("Warning: Activity not started, its current task has been brought to the front")
    elif launched is Launch.DELIVERED:
        await tell("Warning: Activity not started, intent has been delivered to currently running top-most instance.")
    if wait:
        front = system.activities.front.component.short
        state = {Launch.STARTED: "COLD" if cold else "WARM", Launch.TO_FRONT: "HOT"}.get(launched, "UNKNOWN (0)")
        took = round(1000 * (time.monotonic() - begun))
        lines = ("Status: ok", f"LaunchState: {state}", f"Activity: {front}")
        await call.say("\n".join((*lines, f"TotalTime: {took}", f"WaitTime: {took}", "Complete")))
    return 0


async def _broadcast(call: Call, arguments: Arguments) -> int:
    def own(option: str, more: Arguments) -> bool:
        if option in ("--user", "--receiver-permission"):
            more.required()
        return option in ("--user", "--receiver-permission", "--async")

    intent = parse(arguments, own)
    shown = Intent(**{each: getattr(intent, each) for each in Intent.__slots__})
    shown.flags |= 0x00400000  # a receiver that is started by the shell
    await call.say(f"Broadcasting: {shown}")
    code, data = await _receive(call, intent)
    told = f', data="{data}"' if data is not None else ""
    await call.say(f"Broadcast completed: result={code}{told}")
    return 0


async def _receive(call: Call, intent: Intent) -> tuple[int, str | None]:
    """Result code and data of what receives it."""
    system = call.system
    extras = intent.extras
    if intent.action.startswith("ADB_"):
        if system.input_methods.chosen == ADB_IME and system.display.on:
            await _keyboard(call, intent.action, extras)
        return 0, None
    if system.packages.get(CLIPPER) is None or intent.package not in ("", CLIPPER):
        return 0, None
    if intent.action in ("clipper.set", "set"):
        system.clipboard = str(extras.get("text", ""))
        return -1, "Text is copied into clipboard."
    if intent.action in ("clipper.get", "get"):
        return -1, system.clipboard
    return 0, None


async def _keyboard(call: Call, action: str, extras: dict[str, Any]) -> None:
    """What the ADB keyboard does while it is the input method."""
    display = call.system.display
    if action == "ADB_INPUT_TEXT" and extras.get("msg"):
        await display.insert_text(str(extras["msg"]))
    elif action == "ADB_INPUT_B64" and extras.get("msg"):
        try:
            text = base64.b64decode(str(extras["msg"])).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return
        await display.insert_text(text)
    elif action == "ADB_INPUT_CHARS":
        codes = extras.get("chars", [])
        text = "".join(chr(each) for each in codes if 0 < each < 0x110000 and not 0xD800 <= each < 0xE000)
        if text:
            await display.insert_text(text)
    elif action == "ADB_INPUT_CODE" and isinstance(extras.get("code"), int):
        await display.key(extras["code"])
    elif action == "ADB_EDITOR_CODE":
        await display.key(keycodes.ENTER)
    elif action == "ADB_CLEAR_TEXT":
        await display.clear_text()


async def _package(arguments: Arguments) -> str:
    while (option := arguments.option()) is not None:
        if option != "--user":
            raise CommandFailed(f"Error: Unknown option: {option}", UNKNOWN)
        arguments.required()
    return arguments.required()


async def _force_stop(call: Call, arguments: Arguments) -> int:
    await call.system.activities.stop(await _package(arguments))
    return 0


async def _kill(call: Call, arguments: Arguments) -> int:
    """Only what is in the background."""
    package = await _package(arguments)
    activities = call.system.activities
    if package not in (activities.front.component.package, activities.front_task.affinity):
        await activities.stop(package)
    return 0


async def _stack(call: Call, arguments: Arguments) -> int:
    if arguments.required() != "list":
        raise CommandFailed("Error: unknown command", UNKNOWN)
    width, height = call.system.viewport.size
    for number, task in enumerate(call.system.activities.tasks):
        visible = "true" if number == 0 else "false"
        kind = "home" if task.is_home else "standard"
        bounds = f"[0,0][{width},{height}]"
        await call.say(
            f"RootTask id={task.id} bounds={bounds} displayId=0 userId=0\n"
            f" configuration={{1.0 winConfig={{ mBounds=Rect(0, 0 - {width}, {height}) mWindowingMode=fullscreen "
            f"mActivityType={kind} mRotation=ROTATION_{call.system.display.rotation * 90}}}}}\n"
            f"  taskId={task.id}: {task.top.component.long} bounds={bounds} userId=0 visible={visible} "
            f"topActivity=ComponentInfo{{{task.top.component.long}}}\n"
        )
    return 0
