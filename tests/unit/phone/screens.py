"""Screens made up for tests: nodes of a hierarchy, and the XML of them."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

SIZE = (1080, 2400)


def node(class_name: str = "View", bounds: str = "[0,0][1080,2400]", *children: str, **attributes: object) -> str:
    """A node as `uiautomator dump` writes it; `desc`, `id` and `package` for what has a longer name there."""
    package = attributes.pop("package", "org.example")
    given = {
        "index": "0",
        "text": attributes.pop("text", ""),
        "resource-id": f"{package}:id/{attributes['id']}" if attributes.get("id") else "",
        "class": class_name if "." in class_name else f"android.widget.{class_name}",
        "package": package,
        "content-desc": attributes.pop("desc", ""),
        "enabled": "true",
        "bounds": bounds,
    }
    attributes.pop("id", None)
    given |= {name.replace("_", "-"): value for name, value in attributes.items()}
    said = " ".join(f"{name}={quoteattr(_value(value), {chr(10): '&#10;'})}" for name, value in given.items())
    return f"<node {said}>{''.join(children)}</node>"


def screen(*nodes: str, rotation: int = 0) -> str:
    """The whole dump; each node is a window."""
    heading = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{heading}<hierarchy rotation="{rotation}">{"".join(nodes)}</hierarchy>'


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
