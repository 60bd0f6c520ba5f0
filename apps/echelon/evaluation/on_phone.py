"""Runners of suites for phones: each try has a simulated phone of its own, which is as new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from echelon.evaluation.phone_conditions import Kept
from echelon.evaluation.runner import USAGE, Carried, Runner
from echelon.phone_devices import own_phone
from echelon.phone_driving import begin
from gateway import Gateway, Settings
from gateway.errors import ModelUnavailable
from gateway.phone.adb import AdbServer

if TYPE_CHECKING:
    from gateway.phones import PhoneTask
    from simphone.background import PhoneThread

BUILTIN = "builtin"
QUESTIONS = 10  # of a task that are answered


def on_phone(agent: str = BUILTIN) -> Runner:
    """With the built-in agent, or `package.module:Class`, which is evaluated as it is."""

    async def carry(settings: Settings, turns: Sequence[str]) -> Carried:
        return await _carried(settings, turns, agent)

    if agent == BUILTIN:
        return Runner("phone", carry, role="phone")
    return Runner(agent.replace(":", "."), carry, role=None)


async def _carried(settings: Settings, turns: Sequence[str], agent: str) -> Carried:
    """Each turn a task, as `mai-phone` carries it out, on the same phone. Nobody is there to be asked: what may be done
    is allowed, and what the agent wants to know it is not told."""
    carried = Carried()
    server = AdbServer(settings.device.adb_server)
    with own_phone(server, settings.home / "simphone") as phone:
        async with Gateway(settings, assume_yes=True) as gateway:
            for request in turns:
                done = await _done(gateway, request, {"agent": agent, "tree": agent != BUILTIN, "serial": phone.serial})
                if done.stop_reason == f"error:{ModelUnavailable.kind}":
                    raise ModelUnavailable(done.error or "the model is not there", hint=done.hint)
                carried.response = done.answer
                carried.ended.append(done.stop_reason or done.status.value)
                carried.executor_decisions += done.decisions
                for name in USAGE:
                    carried.usage[name] += int(done.usage.get(name, 0))
        carried.phone = kept(phone)
    return carried


async def _done(gateway: Gateway, request: str, chosen: Mapping[str, Any]) -> PhoneTask:
    act = begin(request, {**chosen, "simulated": True})
    done = await act(gateway, lambda event: None)
    for _ in range(QUESTIONS):
        if done.waiting is None:
            break
        await gateway.runs.answer(done.run_id, "yes" if "yes" in done.waiting.options else "skip")
        done = await gateway.phones.resume(done.run_id)
    return done


def kept(phone: PhoneThread) -> Kept:
    """What is on the phone now."""
    state = phone.state()
    packages = [name for name in state["packages"] if phone.phone.store.initial.get(name)]
    return Kept(
        settings=state["settings"],
        states={name: phone.app_state(name) for name in packages},
        logs={name: phone.app_log(name) for name in packages},
    )
