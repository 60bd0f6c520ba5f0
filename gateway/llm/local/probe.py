"""Questions to a running server, with the standard library's client: they are asked before every use."""

from __future__ import annotations

import http.client
from dataclasses import dataclass

from gateway.llm.local.registration import ServerAddress

HEALTH_TIMEOUT_S = 3.0
ACTIVITY_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Activity:
    """What a server does now (requests in work or queued), and has done so far (batches decoded)."""

    requests: float
    decoded: float


def is_healthy(address: ServerAddress) -> bool:
    """Whether the server answers; it does so at once also while it works on requests."""
    try:
        return _get(address, "/health", HEALTH_TIMEOUT_S)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def activity(address: ServerAddress) -> Activity | None:
    """None if the server does not say."""
    try:
        status, text = _get(address, "/metrics", ACTIVITY_TIMEOUT_S)
    except (OSError, http.client.HTTPException):
        return None
    lines = (line.split() for line in text.splitlines() if line.startswith("llamacpp:"))
    values = {parts[0].removeprefix("llamacpp:"): float(parts[1]) for parts in lines}
    if status != 200 or "requests_processing" not in values:
        return None
    requests = values["requests_processing"] + values.get("requests_deferred", 0)
    return Activity(requests, values.get("n_decode_total", 0))


def _get(address: ServerAddress, path: str, timeout_s: float) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=timeout_s)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {address.api_key}"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()
