"""Before the first look: a phone that is awake, the app that the task is about on it, and in front."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.errors import UserCancelled
from gateway.phone.task.state import Device, PhoneContext, PhoneState, TaskOptions

LOCKED = "The phone is locked, and only you can unlock it. Unlock it, then answer `done` (or `cancel`)."


@dataclass(frozen=True)
class Given:
    """What the nodes before the first look go by."""

    options: TaskOptions
    serial: str | None
    package: str = ""
    apk_sha256: str = ""


def given(state: PhoneState, context: PhoneContext) -> Given:
    return Given(context.options, state.device.serial if state.device else None, state.app, context.apk_sha256)


async def awake(visit: Visit, serial: str | None) -> Device:
    """The phone, switched on; its owner is asked where only they can unlock it. Raises UserCancelled."""
    found = await visit.call("device.ensure", {"serial": serial})
    if found["locked"]:
        answer = await visit.ask("unlock", LOCKED, options=("done", "cancel"))
        if answer == "cancel":
            raise UserCancelled("the phone stayed locked")
        found = await visit.call("device.ensure", {"serial": serial}, name="unlocked")
    return Device.model_validate(found["device"])


class EnsureDevice(Node[PhoneState, PhoneContext, Given, Device]):
    """Chooses the phone, connects to it, and switches its screen on."""

    name = "EnsureDevice"
    on_success = "ProvisionApp"

    def build_input(self, state: PhoneState, context: PhoneContext) -> Given:
        return given(state, context)

    async def execute(self, asked: Given, visit: Visit) -> Device:
        device = await awake(visit, asked.serial)
        visit.progress("phone.device", serial=device.serial, model=device.model, android=device.android)
        return device

    def apply_output(self, state: PhoneState, output: Device) -> PhoneState:
        return state.with_(device=output)


class ProvisionApp(Node[PhoneState, PhoneContext, Given, str]):
    """Installs the task's app where it comes as a file."""

    name = "ProvisionApp"
    on_success = "LaunchOrAttach"
    on_failure = OnFailure(Retry(), backtrack_to="EnsureDevice")

    def build_input(self, state: PhoneState, context: PhoneContext) -> Given:
        return given(state, context)

    async def execute(self, asked: Given, visit: Visit) -> str:
        if not asked.options.apk or asked.package:
            return asked.package
        file = {"apk": asked.options.apk, "sha256": asked.apk_sha256, "app": asked.options.app}
        done = await visit.call("device.provision", {"serial": asked.serial, **file})
        return str(done["package"])

    def apply_output(self, state: PhoneState, output: str) -> PhoneState:
        return state.with_(app=output)


class LaunchOrAttach(Node[PhoneState, PhoneContext, Given, str]):
    """Starts the task's own app, where it has one; else the task begins with what is in front."""

    name = "LaunchOrAttach"
    on_success = "WaitIdle"
    on_failure = OnFailure(Retry(), backtrack_to="EnsureDevice")

    def build_input(self, state: PhoneState, context: PhoneContext) -> Given:
        return given(state, context)

    async def execute(self, asked: Given, visit: Visit) -> str:
        app = asked.package or asked.options.app
        if not app:
            return ""
        done = await visit.call("device.launch", {"serial": asked.serial, "app": app})
        return str(done["package"])

    def apply_output(self, state: PhoneState, output: str) -> PhoneState:
        return state.with_(app=output)


class RestartApp(Node[PhoneState, PhoneContext, Given, None]):
    """Ends the task's own app, which has crashed or hangs, and starts it again."""

    name = "RestartApp"
    on_success = "WaitIdle"
    on_failure = OnFailure(Retry(), backtrack_to="EnsureDevice")
    spends = ("restarts",)

    def build_input(self, state: PhoneState, context: PhoneContext) -> Given:
        return given(state, context)

    async def execute(self, asked: Given, visit: Visit) -> None:
        await visit.call("device.restart", {"serial": asked.serial, "app": asked.package})

    def apply_output(self, state: PhoneState, output: None) -> PhoneState:
        return state
