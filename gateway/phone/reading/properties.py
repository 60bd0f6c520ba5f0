"""What `getprop` prints."""

from __future__ import annotations

import re

# A value may have several lines: it ends with a bracket at the end of one, before the next property or at the end of
# all. A carriage return in a value, which some recorders lose, takes that bracket to the beginning of its line.
BEGIN = r"^[\[\]][^\]\n]+\]: \["
PROPERTY = re.compile(
    rf"^[\[\]]([^\]\n]+)\]: \[(.*?)(?:\]$(?=\n{BEGIN}|\s*\Z)|$(?=\n{BEGIN}))", re.MULTILINE | re.DOTALL
)


def properties_of(getprop: str) -> dict[str, str]:
    """Names and values."""
    return dict(PROPERTY.findall(getprop.replace("\r\n", "\n")))
