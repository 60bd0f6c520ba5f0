"""Calls to a device: whole answers, or errors that say what happened, before the deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest
from fake_adb import Answer, FakeAdb, Stream, prints

from gateway.errors import (
    AdbMissing,
    AdbTooOld,
    ConfigError,
    DeviceDenied,
    DeviceError,
    DeviceLost,
    DeviceOffline,
    DeviceTimeout,
    DeviceUnauthorized,
    NoDevice,
    SeveralDevices,
)
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link, Output

Make = Callable[[Mapping[str, Answer | str]], FakeAdb]
SOON = 0.4  # seconds, of calls that are meant to end by their deadline


@pytest.fixture
def serving() -> Iterator[Make]:
    made: list[FakeAdb] = []

    def make(answers: Mapping[str, Answer | str]) -> FakeAdb:
        made.append(FakeAdb({"host-serial:S1:features": "shell_v2,cmd", **answers}))
        return made[-1]

    yield make
    for each in made:
        each.close()


def link(adb: FakeAdb, *, shell_v2: bool | None = None) -> Link:
    return Link(AdbServer(adb.address), "S1", shell_v2=shell_v2)


def frozen(stream: Stream) -> None:
    stream.wait()


def accepted_and_frozen(stream: Stream) -> None:
    stream.okay()
    stream.wait()


def dripping(stream: Stream) -> None:
    stream.okay()
    stream.send(b"\x01" + (1 << 20).to_bytes(4, "little"))
    for _ in range(600):
        stream.send(b".")
        stream.wait(0.02)


def cut(stream: Stream) -> None:
    stream.okay()
    stream.frame(1, b"half of")


def test_output_errors_and_exit_code_come_apart(serving: Make) -> None:
    adb = serving({"shell,v2,raw:ls": prints(b"a\r\nb\n", b"oops", 3)})
    assert link(adb).shell("ls", Deadline(5)) == Output(b"a\r\nb\n", b"oops", 3)
    assert link(adb).shell("ls", Deadline(5)).text == "a\nb\n"
    assert adb.asked[-2:] == ["host:transport:S1", "shell,v2,raw:ls"]


def test_frames_may_be_cut_anywhere(serving: Make) -> None:
    def answer(stream: Stream) -> None:
        stream.okay()
        whole = b"\x01\x05\x00\x00\x00hello\x01\x00\x00\x00\x00\x02\x01\x00\x00\x00!\x03\x01\x00\x00\x00\x07"
        for byte in whole:
            stream.send(bytes([byte]))

    assert link(serving({"shell,v2": answer})).shell("x", Deadline(5)) == Output(b"hello", b"!", 7)


def test_an_old_shell_tells_its_exit_code_in_a_line(serving: Make) -> None:
    def answer(stream: Stream) -> None:
        stream.okay()
        stream.send(b"usage: input\r\nechelon-exit:1\r\n")

    adb = serving({"shell:": answer, "host-serial:S1:features": "cmd"})
    assert link(adb).shell("input", Deadline(5)) == Output(b"usage: input\r\n", b"", 1)
    assert adb.asked[-1] == "shell:input; echo echelon-exit:$?"


def test_a_binary_from_an_old_shell_is_not_translated(serving: Make) -> None:
    def answer(stream: Stream) -> None:
        stream.okay()
        stream.send(b"\x89PNG\r\n")

    adb = serving({"exec:": answer})
    assert link(adb, shell_v2=False).binary("screencap -p", Deadline(5)) == b"\x89PNG\r\n"


@pytest.mark.parametrize("shell_v2", [True, False])
def test_output_that_was_cut_is_no_answer(serving: Make, shell_v2: bool) -> None:
    with pytest.raises(DeviceLost) as caught:
        link(serving({"shell": cut}), shell_v2=shell_v2).shell("cat x", Deadline(5))
    assert caught.value.performed is None
    assert "cut" in str(caught.value)


@pytest.mark.parametrize("shell_v2", [True, False])
@pytest.mark.parametrize("answer", [frozen, accepted_and_frozen, dripping])
def test_a_device_that_never_answers_is_waited_for_until_the_deadline(
    serving: Make, answer: Answer, shell_v2: bool
) -> None:
    with pytest.raises(DeviceTimeout) as caught:
        link(serving({"shell": answer}), shell_v2=shell_v2).shell("input tap 1 2", Deadline(SOON))
    assert caught.value.performed is None
    assert caught.value.hint


@pytest.mark.parametrize(
    ("service", "shell_v2"),
    [("host:transport:", True), ("host-serial:S1:features", None), ("host:version", True)],
)
def test_a_server_that_never_answers_is_waited_for_until_the_deadline(
    serving: Make, service: str, shell_v2: bool | None
) -> None:
    with pytest.raises(DeviceTimeout) as caught:
        link(serving({service: frozen}), shell_v2=shell_v2).shell("input tap 1 2", Deadline(SOON))
    assert caught.value.performed is False


def test_before_it_was_sent_it_did_not_happen(serving: Make) -> None:
    adb = serving({"host:transport:": lambda stream: stream.fail("device 'S1' not found")})
    with pytest.raises(NoDevice) as caught:
        link(adb).shell("input tap 1 2", Deadline(5))
    assert caught.value.performed is False


def test_a_stream_that_the_device_closes_at_once_may_have_run(serving: Make) -> None:
    with pytest.raises(DeviceLost) as caught:
        link(serving({"shell,v2": lambda stream: stream.fail("closed")})).shell("input tap 1 2", Deadline(5))
    assert caught.value.performed is None


UNAUTHORISED = (
    "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\nTry 'adb kill-server' if that seems wrong.\n"
    "Otherwise check for a confirmation dialog on your device."
)


@pytest.mark.parametrize(
    ("said", "error", "hint"),
    [
        (UNAUTHORISED, DeviceUnauthorized, "allow this computer"),
        ("device still authorizing", DeviceUnauthorized, "unlock the phone"),
        ("device offline", DeviceOffline, "replug"),
        ("device still connecting", DeviceOffline, "replug"),
        ("no devices/emulators found", NoDevice, "adb connect"),
        ("device 'S1' not found", NoDevice, "adb pair"),
        ("more than one device/emulator", SeveralDevices, "--device"),
        ("insufficient permissions for device: user in plugdev group; are your udev rules wrong?", DeviceDenied, "apt"),
        ("closed", DeviceLost, ""),
    ],
)
def test_what_the_server_refuses_with_has_a_type_and_says_what_to_do(
    serving: Make, said: str, error: type[DeviceError], hint: str
) -> None:
    with pytest.raises(error) as caught:
        link(serving({"host:transport:": lambda stream: stream.fail(said)}), shell_v2=True).shell("ls", Deadline(5))
    assert hint in caught.value.hint
    assert caught.value.exit_code == 4


def test_a_file_is_sent_whole_and_a_refusal_has_its_reason(serving: Make) -> None:
    got: list[bytes] = []

    def answer(stream: Stream) -> None:
        stream.okay()
        while kind := stream.read(4):
            length = int.from_bytes(stream.read(4), "little")
            if kind == b"DONE":
                break
            got.append(kind + stream.read(length))
        if len(got) > 3:
            said = b"couldn't write: No space left on device"
            stream.send(b"FAIL" + len(said).to_bytes(4, "little") + said)
        else:
            stream.send(b"OKAY\0\0\0\0")

    device = link(serving({"sync:": answer}))
    device.push(b"x" * 70_000, "/data/local/tmp/a", Deadline(5))
    assert got == [b"SEND/data/local/tmp/a,33188", b"DATA" + b"x" * 65_536, b"DATA" + b"x" * 4_464]
    with pytest.raises(DeviceError, match="No space left"):
        device.push(b"y", "/data/local/tmp/b", Deadline(5))


def test_a_server_that_is_too_old_is_told_apart(serving: Make) -> None:
    with pytest.raises(AdbTooOld, match=r"1\.0\.32"):
        link(serving({"host:version": "0020"})).shell("ls", Deadline(5))


def test_something_else_may_listen_there(serving: Make) -> None:
    def answer(stream: Stream) -> None:
        stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with pytest.raises(AdbMissing, match="no adb server"):
        link(serving({"host:version": answer})).shell("ls", Deadline(5))


def test_no_server_is_started_by_who_only_looks(serving: Make) -> None:
    gone = serving({})
    gone.close()
    with pytest.raises(AdbMissing, match=gone.address):
        AdbServer(gone.address, start=False).version(Deadline(5))


@pytest.mark.parametrize("address", ["localhost", "localhost:port", ":5037", "localhost:0", "localhost:99999"])
def test_an_address_of_no_server_is_an_error_of_the_configuration(address: str) -> None:
    with pytest.raises(ConfigError, match="adb_server"):
        AdbServer(address)


def test_threads_do_not_wait_for_each_other_on_the_link(serving: Make) -> None:
    together = threading.Barrier(4, timeout=60)

    def answer(stream: Stream) -> None:
        together.wait()
        prints(b"x")(stream)

    device = link(serving({"shell,v2": answer}), shell_v2=True)
    threads = [threading.Thread(target=device.shell, args=("x", Deadline(5))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(6)
    assert not together.broken


def test_a_version_that_is_no_number_is_no_adb_servers(serving: Make) -> None:
    with pytest.raises(AdbMissing, match="no adb server"):
        AdbServer(serving({"host:version": "zzzz"}).address).version(Deadline(5))


def test_a_server_that_hangs_is_not_blamed_on_the_cable(serving: Make) -> None:
    with pytest.raises(DeviceTimeout, match="adb server") as caught:
        AdbServer(serving({"host:devices-l": frozen}).address).devices(Deadline(SOON))
    assert "kill-server" in caught.value.hint


def test_what_a_server_says_is_no_command_to_a_terminal(serving: Make) -> None:
    adb = serving({"host:transport:": lambda stream: stream.fail("odd \x1b]0;title\x07")})
    with pytest.raises(DeviceLost) as caught:
        link(adb, shell_v2=True).shell("ls", Deadline(5))
    assert str(caught.value).isprintable()


def test_a_file_that_is_not_taken_ends_by_its_deadline(serving: Make) -> None:
    with pytest.raises(DeviceTimeout):
        link(serving({"sync:": accepted_and_frozen})).push(b"x", "/data/local/tmp/a", Deadline(SOON))
