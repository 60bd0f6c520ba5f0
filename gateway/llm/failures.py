"""What litellm raises, turned into the project's errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.errors import (
    ContextTooLong,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from gateway.llm.endpoint import Endpoint

LONGEST_MESSAGE = 300  # characters of a provider's own words


@dataclass(frozen=True)
class Failure:
    """A call that failed: the error to raise, whether another try may help at once, whether the schema was rejected."""

    error: ModelError
    again: bool = False
    schema_rejected: bool = False


def garbage(endpoint: Endpoint, what: str) -> ModelError:
    """An answer that is no chat completion."""
    return ModelError(
        f"{endpoint.place} did not answer with a chat completion: {what}",
        hint="check the API base: an OpenAI-compatible one usually ends in /v1",
    )


def translate(error: Exception, endpoint: Endpoint, timeout_s: float) -> Failure:
    """The failure behind an exception of `litellm.acompletion`.

    litellm gives a refused connection, a garbled body and a missing key the same type, a status of 500, so the chain of
    causes decides, not the type alone.
    """
    import httpx
    from litellm import exceptions as raised

    causes = list(_causes(error))
    words = _words(error, endpoint)
    if isinstance(error, TimeoutError | raised.Timeout) and not _any(causes, httpx.ConnectTimeout):
        return Failure(
            ModelTimeout(
                f"{endpoint.model} did not answer within {timeout_s:g} s",
                hint="a smaller model or a shorter prompt answers sooner; the server may be busy",
            )
        )
    if isinstance(error, raised.ContextWindowExceededError):
        return Failure(
            ContextTooLong(
                f"the prompt does not fit the context window of {endpoint.model}: {words}",
                hint="serve the model with a larger context, or lower the recipe's token budget",
            )
        )
    if _any(causes, httpx.TransportError):
        return Failure(
            ModelUnavailable(
                f"{endpoint.place} cannot be reached: {words}",
                hint="is the server running? `echelon doctor` checks it",
            ),
            again=True,
        )
    status = _status(error, causes)
    if status == 429 or (status is not None and status >= 500):
        return Failure(
            ModelOverloaded(
                f"{endpoint.place} answered {status}: {words}",
                retry_after_s=_retry_after(causes),
                hint="the server is overloaded or failing: try again later, or choose another model",
            ),
            again=True,
        )
    if isinstance(error, raised.AuthenticationError | raised.PermissionDeniedError) or "Missing credentials" in words:
        return Failure(ModelRefused(f"{endpoint.place} refused the key: {words}", hint="set ECHELON_API_KEY"))
    if isinstance(error, raised.NotFoundError):
        return Failure(
            ModelRefused(f"{endpoint.place} does not serve {endpoint.model}: {words}", hint="`echelon models list`")
        )
    if isinstance(error, raised.BadRequestError) or (status is not None and 400 <= status < 500):
        return Failure(
            ModelRefused(f"{endpoint.model} refused the request: {words}"),
            schema_rejected="response_format" in words or "json_schema" in words,
        )
    return Failure(garbage(endpoint, words))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _any(causes: list[BaseException], kind: type[BaseException]) -> bool:
    return any(isinstance(each, kind) for each in causes)


def _status(error: Exception, causes: list[BaseException]) -> int | None:
    """The HTTP status that the server really sent; None where litellm made one up."""
    import httpx

    for each in causes:
        if isinstance(each, httpx.HTTPStatusError):
            return each.response.status_code
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and status != 500 else None


def _retry_after(causes: list[BaseException]) -> float | None:
    """Seconds of a `Retry-After` header, given as a number or as a date."""
    import httpx

    for each in causes:
        if isinstance(each, httpx.HTTPStatusError):
            value = each.response.headers.get("retry-after", "").strip()
            try:
                return max(0.0, float(value))
            except ValueError:
                return _seconds_until(value, each.response.headers.get("date", ""))
    return None


def _seconds_until(date: str, server_now: str) -> float | None:
    """By the server's own clock, from its `Date` header, so that neither of the two clocks has to be right."""
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(date) - parsedate_to_datetime(server_now)).total_seconds())
    except (ValueError, TypeError):
        return None


def _words(error: Exception, endpoint: Endpoint) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    if endpoint.api_key:
        words = words.replace(endpoint.api_key, "…")
    return words if len(words) <= LONGEST_MESSAGE else words[: LONGEST_MESSAGE - 1] + "…"
