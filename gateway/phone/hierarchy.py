"""What `uiautomator dump` prints, as a tree of nodes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from gateway.errors import HierarchyUnreadable
from gateway.phone.element import Bounds
from gateway.phone.harmless import harmless

MAX_NODES = 100_000
MAX_DEPTH = 150  # what lies deeper hangs at this depth; Android's own screens have less than 60
MAX_CHARACTERS = 100_000_000

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
NOWHERE = Bounds(0, 0, 0, 0)
INTEGERS = re.compile(r"-?\d+")

SEE_PICTURE = "try again, or read the screenshot instead (pip install 'echelon-gateway[ocr]')"


@dataclass(slots=True)
class Node:
    """A view as accessibility sees it. Texts are as they came; `bounds` are pixels of the screen, not clipped."""

    class_name: str
    text: str = ""
    description: str = ""
    hint: str = ""
    resource_id: str = ""
    package: str = ""
    bounds: Bounds = NOWHERE
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    password: bool = False
    selected: bool = False
    visible: bool = True
    drawing_order: int = 0
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """`roots`: one node for each window that was dumped; `rotation`: 0 to 3, times 90 degrees."""

    rotation: int
    roots: tuple[Node, ...]

    def nodes(self) -> Iterator[Node]:
        """All of them, parents before children."""
        left = list(reversed(self.roots))
        while left:
            node = left.pop()
            yield node
            left.extend(reversed(node.children))


def parse(xml: bytes | str) -> Hierarchy:
    """The tree in what a dump printed, whatever stands before and after it, in UTF-8 or UTF-16.

    Invalid characters and references are mended. Appium's page source, with class names as tags, is read too.
    HierarchyUnreadable says why there is no tree: a tree that was cut off is none, since what is missing may be what
    matters, and asking again is cheap. Entities are never expanded: what stands before the root element is not read.
    """
    text = _decoded(xml)
    if len(text) > MAX_CHARACTERS:
        raise HierarchyUnreadable(f"the list of the screen has {len(text):,} characters", hint=SEE_PICTURE)
    start = text.find("<hierarchy")
    if start < 0:
        raise _no_tree(text)
    end = text.find("</hierarchy>", start)
    if end < 0 and not re.match(r"<hierarchy[^<>]*/>", text[start:]):
        raise HierarchyUnreadable("the list of the screen is cut off", hint="try again: the link may have been lost")
    text = text[start : end + len("</hierarchy>")] if end >= 0 else text[start : text.index("/>", start) + 2]
    try:
        hierarchy = _tree(text)
    except (expat.ExpatError, UnicodeEncodeError):
        try:
            hierarchy = _tree(_mended(text))
        except expat.ExpatError as error:
            raise HierarchyUnreadable(f"the list of the screen is no XML: {error}", hint=SEE_PICTURE) from None
    if not hierarchy.roots:
        raise HierarchyUnreadable("the list of the screen is empty", hint="wait until a window is shown, and try again")
    return hierarchy


def _decoded(xml: bytes | str) -> str:
    if isinstance(xml, str):
        return xml
    for bom, encoding in BOMS:
        if xml.startswith(bom):
            return xml[len(bom) :].decode(encoding, "replace")
    return xml.decode("utf-8", "replace")


class _Reader:
    """Builds the nodes while expat reads."""

    def __init__(self) -> None:
        self.rotation = 0
        self.roots: list[Node] = []
        self._open: list[list[Node]] = []  # the children of each element that is open
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._open:
            self.rotation = _integer(attributes.get("rotation", "")) % 4
            self._open.append(self.roots)
            return
        self._count += 1
        if self._count > MAX_NODES:
            raise HierarchyUnreadable(f"the screen has more than {MAX_NODES:,} nodes", hint=SEE_PICTURE)
        node = _node(tag, attributes)
        self._open[-1].append(node)
        self._open.append(node.children if len(self._open) < MAX_DEPTH else self._open[-1])

    def end(self, tag: str) -> None:
        self._open.pop()


def _tree(text: str) -> Hierarchy:
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.Parse(text, True)
    return Hierarchy(reader.rotation, tuple(reader.roots))


def _node(tag: str, attributes: dict[str, str]) -> Node:
    get = attributes.get
    return Node(
        get("class") or tag,
        get("text", ""),
        _said(get("content-desc", "")),
        _said(get("hint", "")),
        get("resource-id", ""),
        get("package", ""),
        _bounds(get("bounds", "")),
        get("checkable") == "true",
        get("checked") == "true",
        get("clickable") == "true",
        get("enabled") != "false",
        get("focusable") == "true",
        get("focused") == "true",
        get("scrollable") == "true",
        get("password") == "true",
        get("selected") == "true",
        get("visible-to-user") != "false" and get("displayed") != "false",
        _integer(get("drawing-order", "")),
    )


def _said(text: str) -> str:
    return "" if text == "null" else text  # some vendors print the word where there is nothing


def _bounds(text: str) -> Bounds:
    """`[left,top][right,bottom]`."""
    numbers = INTEGERS.findall(text)
    return Bounds(*map(int, numbers)) if len(numbers) == 4 and len(text) < 80 else NOWHERE


def _integer(text: str) -> int:
    return int(text) if len(text) < 10 and text.isdecimal() else 0


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REFERENCE = re.compile(r"&(?:#(?P<decimal>\d{1,8});|#[xX](?P<hex>[0-9a-fA-F]{1,8});|(?P<named>amp|lt|gt|quot|apos);)?")
QUOTED = re.compile('="[^"]*"')


def _mended(text: str) -> str:
    """Without what XML forbids: bare ampersands, unknown entities, `<` in values, control characters. Old versions of
    Android write a character beyond U+FFFF as two references, one for each half: these become one character."""
    text = REFERENCE.sub(_reference, text)
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return QUOTED.sub(lambda found: found[0].replace("<", "&lt;"), NOT_XML.sub("", text))


def _reference(found: re.Match[str]) -> str:
    if found["named"]:
        return found[0]
    if not found["decimal"] and not found["hex"]:
        return "&amp;"
    code = int(found["decimal"]) if found["decimal"] else int(found["hex"], 16)
    if 0xD800 <= code <= 0xDFFF:
        return chr(code)
    return "" if code > 0x10FFFF or NOT_XML.match(chr(code)) else found[0]


KNOWN = (  # what a dump prints instead of a tree, what that means, and what helps
    (
        "could not get idle state",
        "the screen does not come to rest: uiautomator gave up",
        "wait for the animation to end, or read the screenshot instead (pip install 'echelon-gateway[ocr]')",
    ),
    (
        "null root node",
        "no window tells what is on the screen",
        "wake and unlock the device, bring an app to the front, and try again; secure screens tell nothing",
    ),
    (
        "dumped to:",
        "the answer names the file that was written, not what is in it",
        "read that file",
    ),
    (
        r"\A\s*Killed\s*\Z",
        "the device ended uiautomator",
        "it may be short of memory: close apps, and try again",
    ),
    (
        r"uiautomator: .*not found",
        "the device has no uiautomator",
        "read the screenshot instead (pip install 'echelon-gateway[ocr]')",
    ),
)


def _no_tree(text: str) -> HierarchyUnreadable:
    if not text.strip():
        return HierarchyUnreadable("uiautomator printed nothing: it may have crashed", hint=SEE_PICTURE)
    for pattern, cause, hint in KNOWN:
        if re.search(pattern, text):
            return HierarchyUnreadable(cause, hint=hint)
    lines = text.splitlines()
    said = next((line for line in lines if "Exception" in line or "ERROR" in line), lines[0])
    return HierarchyUnreadable(f"uiautomator failed: {harmless(said, 200)}", hint=SEE_PICTURE)
