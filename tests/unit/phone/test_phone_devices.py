"""Which devices there are, which one is taken, and how a lost one comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from fake_adb import Answer, FakeAdb, Stream

from gateway.errors import (
    DeviceDenied,
    DeviceError,
    DeviceLost,
    DeviceOffline,
    DeviceUnauthorized,
    NoDevice,
    SeveralDevices,
)
from gateway.phone import devices
from gateway.phone.adb import AdbServer
from gateway.phone.deadline import Deadline
from gateway.phone.devices import Device, choose, parse

Make = Callable[[Mapping[str, Answer | str]], FakeAdb]
RECORDINGS = Path(__file__).resolve().parents[4] / "shared/samples/android"
USB = "0A1B2C               device usb:1-2 product:razor model:Nexus_7 device:flo transport_id:3"
WIFI = "192.168.1.20:5555    device product:oriole model:Pixel_6 device:oriole transport_id:4"
TLS = "adb-0A1B2C-qSVOhb._adb-tls-connect._tcp device product:bixi model:2505APX7BC device:bixi transport_id:11"
EMULATOR = "emulator-5554        device product:sdk model:sdk_gphone device:generic transport_id:1"
LOCKED = "77EE88               unauthorized usb:1-3 transport_id:5"
DENIED = (
    "99FF00               no permissions (user in plugdev group; are your udev rules wrong?); "
    "see [http://developer.android.com/tools/device.html] usb:1-4 transport_id:6"
)


@pytest.fixture
def serving() -> Iterator[Make]:
    made: list[FakeAdb] = []

    def make(answers: Mapping[str, Answer | str]) -> FakeAdb:
        made.append(FakeAdb(answers))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def listing(serving: Make) -> Callable[..., AdbServer]:
    return lambda *lines: AdbServer(serving({"host:devices-l": "\n".join(lines)}).address)


def test_a_listing_becomes_devices() -> None:
    assert parse("\n".join((USB, WIFI, TLS, EMULATOR, LOCKED))) == [
        Device("0A1B2C", "device", "usb", "Nexus 7"),
        Device("192.168.1.20:5555", "device", "wifi", "Pixel 6"),
        Device("adb-0A1B2C-qSVOhb._adb-tls-connect._tcp", "device", "wifi", "2505APX7BC"),
        Device("emulator-5554", "device", "emulator", "sdk gphone"),
        Device("77EE88", "unauthorized", "usb"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "X\tno permissions",
        "X no permissions (verify udev rules); see [developer.android.com/tools/device.html]",
        DENIED.replace("99FF00", "X"),
    ],
)
def test_a_device_without_permissions_is_listed_with_what_to_do(line: str) -> None:
    (device,) = parse(line)
    assert (device.serial, device.state) == ("X", "no permissions")
    assert "apt-get" in device.advice


@pytest.mark.parametrize("state", [*devices.STATES, "rescue"])
def test_each_state_has_its_advice(state: str) -> None:
    (device,) = parse(f"X {state}")
    assert not device.usable
    assert device.advice


def test_messages_of_the_server_are_no_devices() -> None:
    said = "* daemon not running; starting now at tcp:5037\n* daemon started successfully\nList of devices attached\n"
    assert parse(said + "adb server version (32) doesn't match this client (36); killing...\n") == []
    assert parse("error: protocol fault (couldn't read status): Connection reset by peer") == []


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not here")
def test_recorded_listings_are_understood() -> None:
    def found(name: str) -> list[tuple[str, str]]:
        text = (RECORDINGS / f"quoted-adb-devices{name}.txt").read_text()
        return [(each.serial, each.state) for each in parse(text)]

    assert found("--mixed-unauthorized")[2:] == [("emulator-5556", "unauthorized"), ("emulator-5554", "device")]
    assert found("--no-permissions-bare") == [("????????????", "no permissions")]
    assert found("--no-permissions-old-wording") == [("SERIAL", "no permissions")]
    assert found("--no-permissions-udev-missing") == [("SERIAL", "no permissions")]
    assert found("--offline") == [("SERIAL", "offline")]
    assert found("--protocol-fault") == []
    assert found("--server-version-mismatch-mixed-in") == [("SERIAL", "device")]
    assert found("-l--mdns-tls") == [("adb-SERIAL-qSVOhb._adb-tls-connect._tcp", "device")]
    assert found("-l--unauthorized-and-emulator") == [("SERIAL", "unauthorized"), ("emulator-5554", "device")]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_device_that_is_listed_twice_counts_once(host: str) -> None:
    (device,) = parse(f"emulator-5554 device model:sdk\n{host}:5555 device")
    assert (device.serial, device.also, device.model) == (f"{host}:5555", ("emulator-5554",), "sdk")
    (device,) = parse(f"{host}:5555 offline\nemulator-5554 device")
    assert (device.serial, device.also) == ("emulator-5554", (f"{host}:5555",))


def test_a_device_of_several_names_of_this_computer_counts_once() -> None:
    found = devices.parse("localhost:5600 offline\n127.0.0.1:5600 device model:A\n127.0.0.1:5601 device\n")
    assert [(each.serial, each.state, each.also) for each in found] == [
        ("127.0.0.1:5600", "device", ("localhost:5600",)),
        ("127.0.0.1:5601", "device", ()),
    ]


def test_neighbours_of_an_emulator_are_others() -> None:
    assert len(parse("emulator-5554 device\n127.0.0.1:5557 device\n192.168.1.9:5555 device")) == 3


def test_the_only_device_is_taken(listing: Callable[..., AdbServer]) -> None:
    assert choose(listing(EMULATOR), Deadline(5)).serial == "emulator-5554"
    assert choose(listing(LOCKED, WIFI), Deadline(5)).serial == "192.168.1.20:5555"


def test_one_on_a_cable_goes_before_others_unless_told_otherwise(listing: Callable[..., AdbServer]) -> None:
    server = listing(WIFI, USB, EMULATOR)
    assert choose(server, Deadline(5)).serial == "0A1B2C"
    assert choose(server, Deadline(5), mode="usb").serial == "0A1B2C"
    assert choose(server, Deadline(5), mode="wifi").serial == "192.168.1.20:5555"


def test_one_of_several_has_to_be_chosen(listing: Callable[..., AdbServer]) -> None:
    server = listing(WIFI, EMULATOR)
    with pytest.raises(SeveralDevices, match=r"192\.168\.1\.20:5555 \(Pixel 6\), emulator-5554") as caught:
        choose(server, Deadline(5))
    assert caught.value.serials == ("192.168.1.20:5555", "emulator-5554")
    assert choose(server, Deadline(5), "emulator-5554").transport == "emulator"


@pytest.mark.parametrize(
    ("lines", "serial", "mode", "error", "said"),
    [
        ((), None, "auto", NoDevice, "no device is connected"),
        ((WIFI,), None, "usb", NoDevice, "by USB; there is 192.168.1.20:5555"),
        ((USB,), "nobody", "auto", NoDevice, "no device nobody"),
        ((LOCKED,), None, "auto", DeviceUnauthorized, "77EE88"),
        ((LOCKED, USB), "77EE88", "auto", DeviceUnauthorized, "77EE88"),
        ((DENIED,), None, "auto", DeviceDenied, "99FF00"),
        (("X offline",), None, "auto", DeviceOffline, "X is offline"),
        (("X recovery",), None, "auto", DeviceOffline, "recovery"),
    ],
)
def test_what_cannot_be_used_says_why(
    listing: Callable[..., AdbServer],
    lines: tuple[str, ...],
    serial: str | None,
    mode: devices.Mode,
    error: type[DeviceError],
    said: str,
) -> None:
    with pytest.raises(error, match=said) as caught:
        choose(listing(*lines), Deadline(5), serial, mode)
    assert caught.value.hint


ADDRESS = "192.168.1.20:5555"


@pytest.mark.parametrize(
    ("answer", "error", "hint"),
    [
        (f"failed to authenticate to {ADDRESS}", DeviceUnauthorized, "allow this computer"),
        (f"failed to connect to '{ADDRESS}': Connection refused", NoDevice, "adb pair"),
        (f"unable to connect to {ADDRESS}: No route to host", NoDevice, "same WiFi"),
        ("failed to resolve host: 'phone': Name or service not known", NoDevice, "HOST:PORT"),
    ],
)
def test_a_connection_that_fails_says_so(
    serving: Make, answer: str, error: type[DeviceError], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "AUTHORISING_S", 0.3)
    with pytest.raises(error) as caught:
        adb = serving({"host:connect:": answer, "host-serial:": lambda stream: stream.fail("device unauthorized.")})
        choose(AdbServer(adb.address), Deadline(5), ADDRESS)
    assert hint in caught.value.hint


def test_an_address_that_is_connected_but_offline_is_connected_anew(serving: Make) -> None:
    states = iter(["offline", "device"])

    def state(stream: Stream) -> None:
        told = next(states)
        stream.okay(told) if told == "device" else stream.fail(f"device {told}")

    answers = iter([f"already connected to {ADDRESS}", f"connected to {ADDRESS}"])
    adb = serving(
        {
            "host:connect:": lambda stream: stream.okay(next(answers)),
            "host:disconnect:": f"disconnected {ADDRESS}",
            f"host-serial:{ADDRESS}:get-state": state,
            "host:devices-l": WIFI,
        }
    )
    assert choose(AdbServer(adb.address), Deadline(5), ADDRESS).model == "Pixel 6"
    assert [each for each in adb.asked if "connect:" in each] == [
        f"host:connect:{ADDRESS}",
        f"host:disconnect:{ADDRESS}",
        f"host:connect:{ADDRESS}",
    ]


def test_an_address_that_is_cut_off_at_once_is_connected_anew(serving: Make) -> None:
    states = iter([f"device '{ADDRESS}' not found", f"device '{ADDRESS}' not found", "device"])

    def state(stream: Stream) -> None:
        told = next(states)
        stream.okay(told) if told == "device" else stream.fail(told)

    adb = serving(
        {
            "host:connect:": f"connected to {ADDRESS}",
            f"host-serial:{ADDRESS}:get-state": state,
            "host:devices-l": WIFI,
        }
    )
    assert devices.connect(AdbServer(adb.address), ADDRESS, Deadline(5)).usable
    assert adb.asked.count(f"host:connect:{ADDRESS}") == 3


def test_a_device_that_is_not_allowed_yet_is_waited_for_a_moment(serving: Make) -> None:
    states = iter(["device still authorizing", "device unauthorized", "device"])

    def state(stream: Stream) -> None:
        told = next(states)
        stream.okay(told) if told == "device" else stream.fail(told)

    adb = serving(
        {
            "host:connect:": f"connected to {ADDRESS}",
            f"host-serial:{ADDRESS}:get-state": state,
            "host:devices-l": WIFI,
        }
    )
    assert choose(AdbServer(adb.address), Deadline(5), ADDRESS).usable


def test_a_device_that_is_never_allowed_is_not_waited_for_forever(
    serving: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "AUTHORISING_S", 0.3)
    adb = serving(
        {"host:connect:": f"connected to {ADDRESS}", "host-serial:": lambda stream: stream.fail("device unauthorized.")}
    )
    with pytest.raises(DeviceUnauthorized, match="has not allowed"):
        choose(AdbServer(adb.address), Deadline(5), ADDRESS)


def test_a_lost_device_is_looked_for_until_it_is_back(serving: Make) -> None:
    states = iter(["device 'S1' not found", "device offline", "device"])

    def state(stream: Stream) -> None:
        told = next(states)
        stream.okay(told) if told == "device" else stream.fail(told)

    adb = serving({"host-serial:S1:get-state": state})
    devices.reconnect(AdbServer(adb.address), "S1", Deadline(10))
    assert adb.asked.count("host-serial:S1:get-state") == 3


def test_a_device_that_does_not_come_back_is_given_up(serving: Make) -> None:
    adb = serving({"host-serial:": lambda stream: stream.fail("device 'S1' not found")})
    with pytest.raises(DeviceLost, match="not back") as caught:
        devices.reconnect(AdbServer(adb.address), "S1", Deadline(60), limit_s=0.6)
    assert caught.value.performed is False
    assert caught.value.hint


def test_a_lost_address_is_connected_to_again(serving: Make) -> None:
    there: list[bool] = []

    def state(stream: Stream) -> None:
        stream.okay("device") if there else stream.fail(f"device '{ADDRESS}' not found")

    def connect(stream: Stream) -> None:
        there.append(True)
        stream.okay(f"connected to {ADDRESS}")

    adb = serving({"host:connect:": connect, "host-serial:": state, "host:devices-l": WIFI})
    devices.reconnect(AdbServer(adb.address), ADDRESS, Deadline(5))
    assert f"host:disconnect:{ADDRESS}" in adb.asked
