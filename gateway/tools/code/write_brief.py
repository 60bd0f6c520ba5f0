"""What somebody has to know to write a file: what was asked for, what was found, and what stands there already."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gateway.errors import ToolError
from gateway.fence import fenced
from gateway.tools.code.relevance import is_test_file
from gateway.tools.code.source_text import decode
from gateway.tools.registry import Situation
from gateway.tools.workspace import Workspace

MAX_FOUND = 3_000  # characters of what earlier calls gave: about 800 tokens
MAX_STANDING = 2_000  # and of what stands in the file, or of the code that is to be tested
LISTED = 12  # other Python files
_FILE_NAME = re.compile(r"(?<![\w/.:-])(?:[\w-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,5}\b(?!\()")
_EXTENSIONS = frozenset(
    "c cfg cpp css csv go h html ini java js json log md py rb rs rst sh sql tex toml ts tsv txt xml yaml yml".split()
)


def named_files(text: str) -> list[str]:
    """What looks like a file's path, in the order of the text: `notes.md`, `src/colours.py`; not `os.path`."""
    found = [each for each in _FILE_NAME.findall(text) if each.rpartition(".")[2].lower() in _EXTENSIONS]
    return list(dict.fromkeys(found))


def test_path(code: str) -> str:
    """Where the test of a code file stands: beside it, where it can import it."""
    folder, name = posixpath.split(code)
    return posixpath.join(folder, f"test_{name}")


def text_brief(workspace: Workspace, path: str, situation: Situation) -> str:
    """The task of writing a text into a file; `path` is empty where it is not known yet."""
    said = [f"The request: {situation.wanted}", *_found(situation)]
    standing = _standing(workspace, path)
    if standing:
        said += [f"{path} ends like this:\n{fenced(standing[-MAX_STANDING:].strip())}"]
        said += [f"Write only what is to be added at the end of {path}, as plain text or Markdown."]
    else:
        said += [f"Write what {path or 'the file'} shall contain, as plain text or Markdown."]
    return "\n\n".join([*said, "Take facts and names from above, word for word. No word about the task itself."])


def code_brief(workspace: Workspace, path: str, situation: Situation) -> str:
    """The task of writing a file of code."""
    said = [f"The request: {situation.wanted}", *_found(situation)]
    others = [each for each in workspace.files("*.py") if each != path and not is_test_file(each)]
    if others:
        said.append(f"Other files: {', '.join(others[:LISTED])}")
    standing = _standing(workspace, path)
    if standing:
        said.append(f"{path} has this now:\n{fenced(standing[:MAX_STANDING], 'python')}")
        said.append(f"Write the whole new {path}: keep what need not change.")
    else:
        said.append(f"Write the new file {path or 'that is asked for'}: the whole of it, without tests and examples.")
    return "\n\n".join(said)


def tests_brief(workspace: Workspace, code: str, situation: Situation) -> str:
    """The task of writing the tests of a code file: what the request says, nothing that a model makes up."""
    module = posixpath.basename(code).removesuffix(".py")
    return "\n\n".join(
        [
            f"The request: {situation.wanted}",
            f"{code}:\n{fenced(_standing(workspace, code)[:MAX_STANDING], 'python')}",
            f"Write its tests for pytest, {posixpath.basename(test_path(code))}; begin with `from {module} import`. "
            "Test what the request says, with the request's own examples, and nothing else: at most five asserts, in "
            "functions named test_…. "
            "An error is tested with `with pytest.raises(…):`.",
        ]
    )


def fact_brief(situation: Situation) -> str:
    """The task of putting into words what is to be remembered."""
    return "\n\n".join(
        [
            *_found(situation),
            f"To be remembered: {situation.wanted}",
            "Write it down as one whole sentence that makes sense by itself, with the names and numbers themselves as "
            "they stand above. No other text.",
        ]
    )


def _found(situation: Situation) -> Iterator[str]:
    """What earlier calls gave, of this task and those before it; the newest first, as far as there is room."""
    room = MAX_FOUND
    for result in reversed((*situation.earlier, *situation.results)):
        text = str(result["text"])[:room]
        if not result["ok"] or not text.strip() or result["tool"] in ("file.list", "file.write", "memory.search"):
            continue
        room -= len(text)
        yield f"{result['tool']} gave:\n{fenced(text)}"
        if room < 200:
            return


def stands(workspace: Workspace, path: str) -> bool:
    """Whether the file is there; a path that leads out of the workspace is for the call itself to refuse."""
    try:
        return bool(path) and workspace.exists(path)
    except ToolError:
        return False


def _standing(workspace: Workspace, path: str) -> str:
    try:
        return decode(workspace.read(path), path).text if stands(workspace, path) else ""
    except ToolError:
        return ""
