"""The job that every contestant does: three tool calls, between four model calls. Standard library only.

The model is a script: the stub server answers from here, so that nothing but the orchestration differs.
"""

from __future__ import annotations

from collections.abc import Mapping

REQUEST = "Read the page about heat pumps and keep a note of what it says about cold days."
GOALS = ["read the page about heat pumps", "keep a note of what it says about cold days"]
NOTE = "On cold days a heat pump gives less heat and takes more current, so it needs a second source."
ANSWER = "I read the page about heat pumps and kept a note of what it says about cold days."

PAGES = {
    "boilers": "A boiler burns gas or oil. " * 20,
    "heat_pumps": "A heat pump moves heat from outside to inside. On cold days it moves less of it. " * 12,
    "stoves": "A stove burns wood in the room that it heats. " * 15,
}

CALLS: Mapping[str, Mapping[str, str]] = {
    "page_list": {},
    "page_read": {"name": "heat_pumps"},
    "note_keep": {"text": NOTE},
}
"""The tools in the order of the job, with the arguments that the model chooses."""


def page_list() -> str:
    """List the names of all pages."""
    return "\n".join(PAGES)


def page_read(name: str) -> str:
    """Read a page by its name."""
    return PAGES[name]


def note_keep(text: str) -> str:
    """Keep a note of one or two sentences."""
    return f"kept a note of {len(text)} characters"
