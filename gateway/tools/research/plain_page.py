"""Markdown and plain text as passages."""

from __future__ import annotations

import re

from gateway.tools.research.pages import Builder, Page


def read_plain(text: str) -> Page:
    """Markdown or plain text: `#` and underlined headings, fenced and indented code, paragraphs between blank lines."""
    builder = Builder()
    lines = text.replace("\r\n", "\n").split("\n")
    gathered: list[str] = []

    def flush() -> None:
        code = bool(gathered) and all(line.startswith(("    ", "\t")) for line in gathered if line.strip())
        builder.block("\n".join(gathered).strip("\n") if code else " ".join(" ".join(gathered).split()), code=code)
        gathered.clear()

    number = 0
    while number < len(lines):
        line = lines[number]
        below = lines[number + 1] if number + 1 < len(lines) else ""
        fence = re.match(r"\s*(```+|~~~+)", line)
        marked = re.match(r"#{1,6}\s+(.+?)\s*#*$", line)
        if fence:
            flush()
            end = next((i for i in range(number + 1, len(lines)) if lines[i].strip() == fence[1]), len(lines))
            builder.block("\n".join(lines[number + 1 : end]), code=True)
            number = end
        elif marked:
            flush()
            builder.heading(marked[1], _slug(marked[1]))
        elif line.strip() and not gathered and re.fullmatch(r"(=|-|~|\^){3,}\s*", below):
            builder.heading(line.strip(), _slug(line))
            number += 1
        elif line.strip():
            gathered.append(line)
        else:
            flush()
        number += 1
    flush()
    return builder.close()


def _slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.strip().lower().replace(" ", "-"))
