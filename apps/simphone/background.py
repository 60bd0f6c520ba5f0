"""A phone in a thread of its own, for callers that are not coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from simphone.faults import Faults
from simphone.phone import Phone, PhoneOptions

T = TypeVar("T")


class PhoneThread:
    """`with PhoneThread(options) as phone:` gives it while it runs. Its methods may be called from any thread but its
    own."""

    def __init__(self, options: PhoneOptions) -> None:
        self._options = options
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._phone: Phone | None = None
        self._thread = threading.Thread(target=self._run, name="simphone", daemon=True)
        self._started: Future[None] = Future()
        self._ended: Future[None] = Future()

    def __enter__(self) -> PhoneThread:
        self._thread.start()
        try:
            self._started.result()
        except BaseException:  # also an interrupt while it starts
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._ended.result()

    def _stop(self) -> None:
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    @property
    def phone(self) -> Phone:
        """Itself; what waits must be called by `call`."""
        if self._phone is None:
            raise RuntimeError("the phone does not run")
        return self._phone

    @property
    def serial(self) -> str:
        return self.phone.serial

    @property
    def test_url(self) -> str:
        return self.phone.test_url

    @property
    def faults(self) -> Faults:
        return self.phone.faults

    def call(self, function: Callable[[Phone], Awaitable[T]]) -> T:
        """What the coroutine function gives, in the phone's loop: `call(lambda phone: phone.display.state())`."""

        async def ask() -> T:
            return await function(self.phone)

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result()

    def app_state(self, package: str) -> dict[str, Any]:
        return self.call(lambda phone: phone.app_state(package))

    def set_app_state(self, package: str, state: dict[str, Any]) -> None:
        self.call(lambda phone: phone.set_app_state(package, state))

    def app_log(self, package: str) -> list[dict[str, Any]]:
        return self.call(lambda phone: phone.app_log(package))

    def state(self) -> dict[str, Any]:
        return self.call(lambda phone: phone.state())

    def reset(self) -> None:
        self.call(lambda phone: phone.reset())

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._live())
        except BaseException as error:
            waiting = self._ended if self._started.done() else self._started
            waiting.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _live(self) -> None:
        async with Phone(self._options) as phone:
            self._phone = phone
            self._started.set_result(None)
            await self._end.wait()
            self._phone = None
