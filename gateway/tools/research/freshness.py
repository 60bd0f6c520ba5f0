"""How long a response may be used again, and how it is asked whether it has changed (RFC 9111)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

_MAX_AGE_S = 365 * 86_400


@dataclass(frozen=True)
class Validators:
    """`etag` and `modified` as the site sent them, empty where it did not."""

    etag: str = ""
    modified: str = ""

    def questions(self) -> dict[str, str]:
        """The headers that ask for the page only if it has changed."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in asked.items() if value}


def validators(headers: Mapping[str, str]) -> Validators:
    """What the site sent, but for what is not text: that can be neither kept nor sent back."""
    return Validators(_text(headers.get("ETag", "")), _text(headers.get("Last-Modified", "")))


def _text(value: str) -> str:
    """Empty where bytes that are no UTF-8 stand in it, as lone surrogates."""
    return "" if re.search("[\ud800-\udfff]", value) else value


def fresh_s(headers: Mapping[str, str]) -> float | None:
    """For how many seconds the response may be used without asking; None where it may not be kept at all."""
    said = headers.get("Cache-Control", "").lower()
    names = {each.partition("=")[0].strip() for each in said.split(",")}
    if "no-store" in names:
        return None
    found = re.search(r'(?<![\w-])max-age\s*=\s*"?(\d{1,12})', said)
    if found is None or "no-cache" in names:
        return 0.0
    age = headers.get("Age", "").strip()
    return float(max(0, min(int(found[1]), _MAX_AGE_S) - (int(age) if re.fullmatch(r"\d{1,12}", age) else 0)))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the site asks to be left alone (`Retry-After`, seconds or a date), None where it does not."""
    said = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", said):
        return float(said)
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
