"""What is refused or has failed, as OpenAI's API says it: an HTTP status and an error object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.errors import EchelonError, ModelUnavailable, UsageError

UNAVAILABLE = ("model_unavailable", "model_overloaded", "model_timeout")  # kinds of errors that pass by themselves
NO_RETRY = {"x-should-retry": "false"}  # OpenAI's own clients heed it: what a turn did must not be done again unasked


class Problem(Exception):
    """Ends a request with `status`. `param` names the field of the request that is wrong."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """`{"error": {message, type, param, code}}`."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


def problem_of(error: EchelonError) -> Problem:
    """What the gateway raised, in HTTP's terms."""
    message = f"{error}; {error.hint}" if error.hint else str(error)
    status = 400 if isinstance(error, UsageError) else 503 if isinstance(error, ModelUnavailable) else 500
    return Problem(status, message, code=error.kind, headers=NO_RETRY if status >= 500 else None)


def status_of(stop_reason: str) -> int:
    """The HTTP status for a turn that failed: 503 where its model could not be reached, else 500."""
    return 503 if stop_reason.removeprefix("error:") in UNAVAILABLE else 500
