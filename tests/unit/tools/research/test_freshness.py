from __future__ import annotations

import pytest

from gateway.tools.research.freshness import fresh_s, retry_after_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"Cache-Control": "max-age=60"}, 60),
        ({"Cache-Control": 'public, Max-Age = "60"', "Age": "45"}, 15),
        ({"Cache-Control": "max-age=60", "Age": "100"}, 0),
        ({"Cache-Control": "s-maxage=60"}, 0),
        ({"Cache-Control": "no-cache, max-age=60"}, 0),
        ({"Cache-Control": "max-age=60, no-store"}, None),
        ({"Cache-Control": "max-age=-1"}, 0),
        ({"Cache-Control": "max-age=999999999999"}, 365 * 86_400),
        ({"Cache-Control": "max-age=60", "Age": "old"}, 60),
    ],
)
def test_how_long_a_page_stays_fresh(headers: dict[str, str], seconds: float | None) -> None:
    assert fresh_s(headers) == seconds


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("0", 0), ("120", 120), ("", None), ("soon", None), ("-5", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)],
)
def test_how_long_a_site_wants_to_be_left_alone(said: str, seconds: float | None) -> None:
    assert retry_after_s({"Retry-After": said}) == seconds
