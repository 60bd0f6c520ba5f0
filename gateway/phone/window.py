"""One window's nodes, read from the leaves up: what is left of them when containers and repetitions are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter

from gateway.phone.covering import Item, Scrim, at_one_place
from gateway.phone.element import Bounds
from gateway.phone.harmless import harmless
from gateway.phone.hierarchy import Node
from gateway.phone.labels import joined, named_by_text_beside, named_by_texts_within
from gateway.phone.reading_order import in_reading_order
from gateway.phone.roles import ACTED_ON, CHECKABLE, CONTROLS, role_of, simple_name

THIN = 120  # a strip no thicker than a 120th of the screen cannot be tapped or read
GROUND = 0.6  # of the window's area: a view so large is the window's ground, not a control on it
SHEET = 0.25  # of the window's area: a view so large that takes taps lies above the page rather than in it
CANVAS = 0.4  # of the screen's area: a view so large that has a name and no content draws its content itself
LINE = 0.25  # of the window's height: a container so low may be a line of a form
NAME = 60  # characters of a resource id

BULLETS = re.compile(r"[•●⬤\s]+")  # what stands in place of a password


class Window:
    """`scrims` are known once it was read; `order` is the number of the node that was painted last."""

    def __init__(self, screen: Bounds, bounds: Bounds, order: int, *, right_to_left: bool) -> None:
        self.scrims: list[Scrim] = []
        self.order = order
        self._bounds = bounds
        self._ground = GROUND * bounds.area
        self._sheet = SHEET * bounds.area
        self._canvas = CANVAS * screen.area
        self._thin = screen.width // THIN, screen.height // THIN
        self._right_to_left = right_to_left

    def read(self, node: Node, clip: Bounds) -> list[Item]:
        """The items of a node and of all below it, in reading order."""
        self.order += 1
        order = self.order
        bounds = node.bounds.within(clip)
        inside = bounds if node.scrollable and bounds.area else clip
        visible = (child for child in sorted(node.children, key=attrgetter("drawing_order")) if child.visible)
        parts = [part for child in visible if (part := self.read(child, inside))]
        items = parts[0] if len(parts) == 1 else self._in_order(parts)
        if bounds.width <= self._thin[0] or bounds.height <= self._thin[1]:
            return items
        item = Item(
            role_of(node),
            bounds,
            order,
            self.order,
            resource_id=harmless(node.resource_id.rpartition("/")[2], NAME),
            package=node.package,
            clickable=node.clickable,
        )
        if item.role == "field":
            return [_field(node, item), *items]
        item.text = _said(node)
        if node.scrollable and item.role not in CONTROLS:
            return _scrollable(item, items)
        if node.clickable or item.role in ACTED_ON:
            return self._control(node, item, items)
        return self._passive(node, item, items)

    def _in_order(self, parts: Sequence[list[Item]]) -> list[Item]:
        placed = [(_around(part), part) for part in parts]
        return [item for part in in_reading_order(placed, right_to_left=self._right_to_left) for item in part]

    def _control(self, node: Node, item: Item, items: list[Item]) -> list[Item]:
        if node.clickable and item.bounds.area >= self._sheet:
            self.scrims.append(Scrim(item.bounds, item.order, bare=not items))
        if items and item.bounds.area >= self._ground:
            return items
        items = named_by_texts_within(items)
        item.state = _state(node)
        item.acts = node.clickable or item.role in CONTROLS
        if not item.acts:  # what Compose says of a button beside the button itself
            return [item, *items]
        inside = [each for each in items if each.acts or each.role in ("list", "canvas")]
        if len(inside) == 1 and not inside[0].clickable and inside[0].role in CHECKABLE:
            inside = []  # a row that flips its own switch
        if not inside and not items and self._is_canvas(node, item):
            return [item]
        absorbed = [each for each in items if each not in inside]
        for each in absorbed:
            item.text = joined(item.text, each.text)
            item.state |= each.state & {"checked", "selected"}
        if item.role not in ACTED_ON:
            item.role = next((each.role for each in absorbed if each.role in ACTED_ON), "button")
        if inside and not item.text:
            return items
        for each in inside:
            if each.clickable and at_one_place(each.bounds, item.bounds):
                each.text = joined(item.text, each.text)
                return inside
        return [item, *inside]

    def _passive(self, node: Node, item: Item, items: list[Item]) -> list[Item]:
        if not items and self._is_canvas(node, item):
            return [item]
        if item.text:
            item.role = item.role or "text"
            return [item, *(each for each in items if each.acts or each.text != item.text)]
        if item.role == "progress":
            return [item, *items]
        return named_by_text_beside(items) if item.bounds.height <= LINE * self._bounds.height else items

    def _is_canvas(self, node: Node, item: Item) -> bool:
        """Whether it draws itself what is on it: an empty page of a browser, a game. Then it is one."""
        if node.text or item.role not in ("", "text") or item.bounds.area < self._canvas:
            return False
        if simple_name(node) != "WebView" and not (node.focusable and (node.focused or node.description)):
            return False
        item.role = "canvas"
        return True


def _field(node: Node, item: Item) -> Item:
    item.acts = True
    item.state = _state(node)
    item.hint = harmless(node.hint or node.description)
    text = harmless(node.text)
    if text == item.hint:  # an empty field gives its hint as its text
        text = ""
    if node.password:
        item.state |= {"password", "filled"} if text else {"password"}
    elif not BULLETS.fullmatch(text):
        item.text = text
    return item


def _scrollable(item: Item, items: list[Item]) -> list[Item]:
    """An area that scrolls, said once where several views of one place do."""
    for each in items:
        if each.role == "list" and at_one_place(each.bounds, item.bounds):
            each.text = each.text or item.text
            return items
    item.role = "list"
    item.state = {"scrollable"}
    return [item, *items]


def _state(node: Node) -> set[str]:
    state = {name for name in ("checked", "focused", "selected") if getattr(node, name)}
    return state if node.enabled else state | {"disabled"}


def _said(node: Node) -> str:
    text = harmless(node.text)
    return joined("" if BULLETS.fullmatch(text) else text, harmless(node.description))


def _around(items: Sequence[Item]) -> Bounds:
    bounds = items[0].bounds
    for each in items[1:]:
        bounds = bounds.around(each.bounds)
    return bounds
