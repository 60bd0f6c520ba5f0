"""One phone for a test module; every test finds it as new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from app_lab import Finger

from simphone.background import PhoneThread
from simphone.phone import PhoneOptions


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneThread]:
    with PhoneThread(PhoneOptions(tmp_path_factory.mktemp("phone"))) as running:
        yield running


@pytest.fixture
def finger(phone: PhoneThread) -> Finger:
    phone.reset()
    phone.phone.display.page_errors.clear()
    return Finger(phone)
