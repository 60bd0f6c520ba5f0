import pytest
from duration import format_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "00:00:00"), (59, "00:00:59"), (60, "00:01:00"), (3600, "01:00:00"), (3725, "01:02:05"), (86399, "23:59:59")],
)
def test_hours_minutes_and_seconds(seconds, text):
    assert format_duration(seconds) == text
