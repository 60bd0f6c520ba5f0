"""Secrets are taken out of texts before these are journaled, logged or shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.config import Settings

MASK = "[redacted]"
SHORTEST = 8  # a shorter value stands in too many innocent texts
WORD = 40  # characters

SECRET_NAME = re.compile(r"(^|_)(KEY|TOKEN|SECRET)$|PASSWORD$", re.IGNORECASE)

# Shapes of well-known tokens. Each begins with a literal character and looks back from there: so `re` skips
# everything that cannot begin one, which makes a text without secrets fast.
SHAPES = (
    r"s(?<!\ws)k-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic and those who copy them
    r"g(?<!\wg)h[pousr]_[A-Za-z0-9]{30,}",  # GitHub
    r"g(?<!\wg)ithub_pat_[A-Za-z0-9_]{30,}",
    r"g(?<!\wg)lpat-[A-Za-z0-9_-]{20,}",  # GitLab
    r"A(?<!\wA)(?:KIA|SIA)[0-9A-Z]{16}(?!\w)",  # Amazon
    r"A(?<!\wA)Iza[A-Za-z0-9_-]{35}",  # Google
    r"y(?<!\wy)a29\.[A-Za-z0-9_-]{20,}",
    r"x(?<!\wx)ox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"h(?<!\wh)ooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"[sr](?<!\w[sr])k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"h(?<!\wh)f_[A-Za-z0-9]{30,}",  # Hugging Face
    r"n(?<!\wn)pm_[A-Za-z0-9]{36,}",
    r"p(?<!\wp)ypi-[A-Za-z0-9_-]{50,}",
    r"e(?<!\we)yJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # a JSON Web Token
    r"B(?<!\wB)earer (?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/=-]{8,}",
    r"b(?<!\wb)earer (?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/=-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"://[^/\s:@]+:[^/\s@]+@",  # user and password in a URL
)


def redactor(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces every secret in a text by `[redacted]`; applied twice it changes nothing more.

    Secret are the configured values and those of environment variables whose names say so (from 8 characters on), also
    as JSON writes them, and whatever looks like a well-known token.
    """
    named = (value for name, value in environ.items() if SECRET_NAME.search(name))
    pattern = re.compile("|".join([*map(re.escape, _forms([*settings.secrets(), *named])), *SHAPES]), re.DOTALL)

    def clean(text: str) -> str:
        for _ in range(4):
            masked = pattern.sub(MASK, text)
            if masked == text:
                return text
            text = masked
        return MASK  # a secret that the masks themselves keep completing: nothing of such a text is worth the risk

    known = lru_cache(maxsize=1024)(clean)  # names of keys, and other words that come again and again

    return lambda text: known(text) if len(text) <= WORD else clean(text)


def _forms(values: Iterable[str]) -> list[str]:
    """The strings to look for, the longest first, since a secret may begin with another one."""
    stripped = {value.strip() for value in values}
    forms = {form for value in stripped for form in (value, json.dumps(value)[1:-1], _json(value))}
    return sorted(
        (form for form in forms if len(form) >= SHORTEST and form not in MASK), key=lambda form: (-len(form), form)
    )


def _json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
