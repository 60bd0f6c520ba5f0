"""A tool of one's own is one function in one file: everything else follows from it."""

from __future__ import annotations

import json

from .conftest import Cli

TOOL = '''
from typing import Annotated

from gateway.engine.ports import Effect
from gateway.tools.registry import tool


@tool("text.count", effect=Effect.READ)
def count(text: Annotated[str, "the text whose words are counted"], longer_than: int = 0) -> str:
    """Count the words of a text."""
    return f"{sum(len(word) > longer_than for word in text.split())} words"
'''


def install(cli: Cli, text: str) -> None:
    folder = cli.home / "tools"
    folder.mkdir(parents=True)
    (folder / "counting.py").write_text(text)


def test_a_function_in_the_home_is_listed_shown_and_called(cli: Cli) -> None:
    install(cli, TOOL)
    rows = {row["name"]: row for row in json.loads(cli("tools", "list", "--json").stdout)}
    assert rows["text.count"]["description"] == "Count the words of a text."
    assert "the text whose words are counted" in cli("tools", "show", "text.count").stdout
    assert "| `text.count` | READ |" in cli("tools", "list", "--markdown").stdout
    called = cli("tools", "call", "text.count", '{"text": "one two three", "longer_than": 3}')
    assert (called.returncode, called.stdout.splitlines()[0]) == (0, "1 words")


def test_wrong_arguments_are_refused_from_the_type_hints(cli: Cli) -> None:
    install(cli, TOOL)
    refused = cli("tools", "call", "text.count", '{"text": "a", "longer_than": "much"}')
    assert refused.returncode == 2 and "longer_than" in refused.stderr


def test_a_file_that_cannot_be_loaded_is_named(cli: Cli) -> None:
    install(cli, "import nothing_of_that_name\n")
    refused = cli("tools", "list")
    assert refused.returncode == 2
    assert "counting.py: ModuleNotFoundError" in refused.stderr and "Traceback" not in refused.stderr
