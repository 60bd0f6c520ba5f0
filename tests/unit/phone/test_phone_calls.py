"""What reads is tried again, an act never is; a device has one caller at a time."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping

import pytest
from fake_adb import Answer, FakeAdb, Stream, prints

from gateway.errors import (
    ActionFailed,
    DeviceDenied,
    DeviceLost,
    DeviceTimeout,
    DeviceUnauthorized,
    HierarchyUnreadable,
    ScreenshotFailed,
)
from gateway.phone.adb import AdbServer
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link

Make = Callable[[Mapping[str, Answer | str]], FakeAdb]


@pytest.fixture
def serving() -> Iterator[Make]:
    made: list[FakeAdb] = []

    def make(answers: Mapping[str, Answer | str]) -> FakeAdb:
        made.append(FakeAdb(answers))
        return made[-1]

    yield make
    for each in made:
        each.close()


def calls(adb: FakeAdb) -> Calls:
    return Calls(Link(AdbServer(adb.address), "S1", shell_v2=True), retry_delay=0.01)


def cut(stream: Stream) -> None:
    stream.okay()
    stream.frame(1, b"half")


def gone(stream: Stream) -> None:
    stream.fail("device 'S1' not found")


def in_turn(*answers: Answer) -> Answer:
    """The last one again and again."""
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))
    return lambda stream: next(turns)(stream)


def count(adb: FakeAdb, service: str) -> int:
    return sum(each.startswith(service) for each in adb.asked)


def test_a_read_that_was_cut_is_done_again(serving: Make) -> None:
    adb = serving({"shell,v2": in_turn(cut, cut, prints(b"whole"))})
    assert calls(adb).query("cat x", Deadline(5)) == "whole"
    assert count(adb, "shell") == 3


def test_a_read_is_given_up_after_two_retries(serving: Make) -> None:
    adb = serving({"shell,v2": cut})
    with pytest.raises(DeviceLost):
        calls(adb).query("cat x", Deadline(5))
    assert count(adb, "shell") == 3


@pytest.mark.parametrize("error", [HierarchyUnreadable, ScreenshotFailed])
def test_an_answer_that_is_no_good_is_asked_for_again(serving: Make, error: type[Exception]) -> None:
    said: list[int] = []

    def work(until: Deadline) -> str:
        said.append(1)
        if len(said) < 3:
            raise error("not yet")
        return "now"

    assert calls(serving({})).read(work, Deadline(5)) == "now"


def test_no_read_is_tried_again_where_that_cannot_help(serving: Make) -> None:
    adb = serving({"host:transport:": lambda stream: stream.fail("device unauthorized.")})
    with pytest.raises(DeviceUnauthorized):
        calls(adb).query("ls", Deadline(5))
    assert count(adb, "host:transport:") == 1


def test_a_read_that_hangs_leaves_time_for_another(serving: Make) -> None:
    adb = serving({"shell,v2": in_turn(lambda stream: stream.wait(), prints(b"whole"))})
    assert calls(adb).query("cat x", Deadline(1.2)) == "whole"


def test_reads_that_all_hang_end_by_the_deadline(serving: Make) -> None:
    with pytest.raises(DeviceTimeout):
        calls(serving({"shell,v2": lambda stream: stream.wait()})).query("cat x", Deadline(0.5))


@pytest.mark.parametrize("answer", [cut, lambda stream: stream.fail("closed"), lambda stream: None])
def test_an_act_whose_answer_is_lost_is_never_repeated(serving: Make, answer: Answer) -> None:
    adb = serving({"shell,v2": answer})
    with pytest.raises(DeviceLost) as caught:
        calls(adb).act("input tap 1 2", Deadline(5))
    assert caught.value.performed is None
    assert count(adb, "shell") == 1


def test_an_act_that_hangs_is_never_repeated(serving: Make) -> None:
    adb = serving({"shell,v2": lambda stream: stream.wait()})
    with pytest.raises(DeviceTimeout) as caught:
        calls(adb).act("input tap 1 2", Deadline(0.4))
    assert caught.value.performed is None
    assert count(adb, "shell") == 1


def test_a_device_that_was_gone_before_an_act_is_brought_back_for_it(serving: Make) -> None:
    def arrived(stream: Stream) -> None:
        stream.okay()

    adb = serving({"host:transport:": in_turn(gone, arrived), "shell,v2": prints()})
    calls(adb).act("input tap 1 2", Deadline(5))
    assert count(adb, "shell") == 1
    assert count(adb, "host-serial:S1:get-state") == 1


def test_an_act_of_several_lines_of_which_some_were_done_may_have_happened(serving: Make) -> None:
    adb = serving({"shell,v2": in_turn(prints(), prints(b"Error: no\n"))})
    with pytest.raises(ActionFailed) as caught:
        calls(adb).in_turn(["input text a", "input text b", "input text c"], Deadline(5))
    assert caught.value.performed is None
    assert count(adb, "shell") == 2
    with pytest.raises(ActionFailed) as caught:
        calls(adb).in_turn(["input text a"], Deadline(5))
    assert caught.value.performed is False


DENIED = (
    b"Exception occurred while executing 'tap':\njava.lang.SecurityException: Injecting input events requires the "
    b"caller (or the source of the instrumentation, if any) to have the INJECT_EVENTS permission.\n\tat android.os"
)


@pytest.mark.parametrize("code", [0, 255])
def test_a_phone_that_allows_no_input_is_told_apart(serving: Make, code: int) -> None:
    with pytest.raises(DeviceDenied, match="INJECT_EVENTS") as caught:
        calls(serving({"shell,v2": prints(err=DENIED, code=code)})).act("input tap 1 2", Deadline(5))
    assert "Security settings" in caught.value.hint
    assert caught.value.performed is False


@pytest.mark.parametrize(
    "said",
    [
        b"Error: Unknown command: draganddrop\n",
        b"Exception occurred while executing 'text':\njava.lang.NullPointerException: Attempt to get length of null\n",
        b"java.lang.NullPointerException: Attempt to get length of null array\n",
        b"Killed \n",
        b"Starting: Intent { }\nError type 3\nError: Activity class {a/b} does not exist.\n",
    ],
)
def test_what_the_output_says_counts_more_than_the_exit_code(serving: Make, said: bytes) -> None:
    with pytest.raises(ActionFailed) as caught:
        calls(serving({"shell,v2": prints(said)})).act("input text secret", Deadline(5))
    assert "secret" not in str(caught.value)


def test_a_warning_is_no_failure(serving: Make) -> None:
    said = b"Warning: Activity not started, its current task has been brought to the front\n"
    assert calls(serving({"shell,v2": prints(err=said)})).act("am start -n a/.B", Deadline(5)).err == said


def test_an_exit_code_alone_is_a_failure(serving: Make) -> None:
    with pytest.raises(ActionFailed, match="ended with 20: cmd: no such service"):
        calls(serving({"shell,v2": prints(err=b"cmd: no such service", code=20)})).act("cmd x", Deadline(5))


def test_a_device_has_one_caller_at_a_time(serving: Make) -> None:
    adb = serving({})
    one, other = calls(adb), calls(adb)
    inside = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with one.alone(Deadline(5)):
            inside.set()
            done.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(5)
    with pytest.raises(DeviceTimeout, match="busy"), other.alone(Deadline(0.1)):
        pass
    done.set()
    thread.join(5)
    with other.alone(Deadline(5)), other.alone(Deadline(5)):  # the same thread may go in again
        pass


def test_two_devices_do_not_wait_for_each_other(serving: Make) -> None:
    server = AdbServer(serving({}).address)
    with Calls(Link(server, "S1")).alone(Deadline(1)):
        entered: list[bool] = []

        def enter() -> None:
            with Calls(Link(server, "S2")).alone(Deadline(1)):
                entered.append(True)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join(5)
        assert entered == [True]
