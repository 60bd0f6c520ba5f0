"""Common ground of the tests: nothing of the person who runs them is read or written."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine under load must not turn a slow example into a failure; the same examples come at every run.
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")

# A shell's background job ignores Ctrl-C, and so would every program that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for each in items:
        if each.get_closest_marker("slow"):
            each.add_marker(pytest.mark.timeout(0))


@pytest.fixture(autouse=True)
def echelon_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty ECHELON_HOME for each test, and no other setting in the environment."""
    for name in list(os.environ):
        if name.startswith("ECHELON_"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("ECHELON_HOME", str(home))
    monkeypatch.setenv("MAI_PHONE_HOME", str(home / "mai-phone"))
    return home
