"""What servers answer and litellm raises instead of a completion, turned into the project's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
OVERFLOW = (  # how servers say that a prompt is too long
    "exceeds the available context size",
    "maximum context length",
    "context_length_exceeded",
    "longer than the model's context length",
)


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


def timed_out(endpoint: Endpoint, timeout_s: float, cause: Exception) -> Failure:
    """No whole answer within the time."""
    error = ModelTimeout(
        f"{endpoint.model} did not answer within {timeout_s:g} s",
        hint="a smaller model or a shorter prompt answers sooner; the server may be busy",
    )
    error.__cause__ = cause
    return Failure(error)


def unreachable(endpoint: Endpoint, reason: str, cause: Exception, *, again: bool = True) -> Failure:
    """No connection, or one that was lost."""
    error = ModelUnavailable(
        f"{endpoint.place} cannot be reached: {_clean(reason, endpoint)}",
        hint="is the server running? `echelon doctor` checks it",
    )
    error.__cause__ = cause
    return Failure(error, again=again)


def of_status(status: int, words: str, headers: Mapping[str, str], endpoint: Endpoint) -> Failure:
    """The failure behind an HTTP status that is not 200, with what the server said to it."""
    words = _clean(words, endpoint)
    if status == 429 or status >= 500:
        return Failure(
            ModelOverloaded(
                f"{endpoint.place} answered {status}: {words}",
                retry_after_s=_retry_after(headers),
                hint="the server is overloaded or failing: try again later, or choose another model",
            ),
            again=True,
        )
    if any(sign in words.lower() for sign in OVERFLOW):
        return Failure(_too_long(endpoint, words))
    if status in (401, 403):
        return Failure(_key_refused(endpoint, words))
    if status == 404:
        return Failure(_not_served(endpoint, words))
    return Failure(
        ModelRefused(f"{endpoint.model} refused the request: {words}"),
        schema_rejected="response_format" in words or "json_schema" in words,
    )


def of_litellm(error: Exception, endpoint: Endpoint, timeout_s: float) -> Failure:
    """The failure behind an exception of `litellm.acompletion`.

    litellm gives a refused connection, a garbled body and a missing key the same type, a status of 500, so the chain of
    causes decides, not the type alone.
    """
    import httpx
    from litellm import exceptions as raised

    causes = list(_causes(error))
    words = _words(error, endpoint)
    if isinstance(error, TimeoutError | raised.Timeout) and not _any(causes, httpx.ConnectTimeout):
        return timed_out(endpoint, timeout_s, error)
    if isinstance(error, raised.ContextWindowExceededError):
        return Failure(_too_long(endpoint, words))
    if _any(causes, httpx.TransportError):
        return unreachable(endpoint, words, error)
    response = next((each.response for each in causes if isinstance(each, httpx.HTTPStatusError)), None)
    status = response.status_code if response is not None else _own_status(error)
    if isinstance(error, raised.AuthenticationError | raised.PermissionDeniedError) or "Missing credentials" in words:
        return Failure(_key_refused(endpoint, words))
    if isinstance(error, raised.NotFoundError):
        return Failure(_not_served(endpoint, words))
    if status is None and isinstance(error, raised.BadRequestError):
        status = 400
    if status is None or status < 400:
        return Failure(garbage(endpoint, words))
    return of_status(status, words, response.headers if response is not None else {}, endpoint)


def _too_long(endpoint: Endpoint, words: str) -> ModelError:
    return ContextTooLong(
        f"the prompt does not fit the context window of {endpoint.model}: {words}",
        hint="serve the model with a larger context, or lower the recipe's token budget",
    )


def _key_refused(endpoint: Endpoint, words: str) -> ModelError:
    return ModelRefused(f"{endpoint.place} refused the key: {words}", hint="set ECHELON_API_KEY")


def _not_served(endpoint: Endpoint, words: str) -> ModelError:
    return ModelRefused(f"{endpoint.place} does not serve {endpoint.model}: {words}", hint="`echelon models list`")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _any(causes: list[BaseException], kind: type[BaseException]) -> bool:
    return any(isinstance(each, kind) for each in causes)


def _own_status(error: Exception) -> int | None:
    """The status of the exception itself; None where litellm made one up."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and status != 500 else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header, given as a number or as a date."""
    told = {key.lower(): value.strip() for key, value in headers.items()}
    if "retry-after" not in told:
        return None
    try:
        return max(0.0, float(told["retry-after"]))
    except ValueError:
        return _seconds_until(told["retry-after"], told.get("date", ""))


def _seconds_until(date: str, server_now: str) -> float | None:
    """By the server's own clock, from its `Date` header, so that neither of the two clocks has to be right."""
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(date) - parsedate_to_datetime(server_now)).total_seconds())
    except (ValueError, TypeError):
        return None


def _words(error: Exception, endpoint: Endpoint) -> str:
    return _clean(str(error) or type(error).__name__, endpoint)


def _clean(words: str, endpoint: Endpoint) -> str:
    """On one line, of bounded length, without the key."""
    words = " ".join(words.split())
    if endpoint.api_key:
        words = words.replace(endpoint.api_key, "…")
    return words if len(words) <= LONGEST_MESSAGE else words[: LONGEST_MESSAGE - 1] + "…"
