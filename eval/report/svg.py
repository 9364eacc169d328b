"""A matplotlib figure as SVG that takes its colours and its font from the page around it.

matplotlib is imported inside the functions, here and in `plots`, because it takes a second.
"""

from __future__ import annotations

import io
import re
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, RULE, PAGE = "#1d2126", "#545c66", "#d9dde2", "#ffffff"
LINES = ("#0067a3", "#c04a00", "#007458", "#a8327a", "#6748b5", "#746000", "#b3262e", "#545d67")
"""Colours on a light page; `ctrag/web/static/colours.css` has their fellows for a dark one."""
_NAMES = {INK: "ink", MUTED: "muted", RULE: "rule", PAGE: "page"} | {
    colour: f"line-{number}" for number, colour in enumerate(LINES, 1)
}


def settings() -> AbstractContextManager[None]:
    """Under these a figure is drawn: text stays text, twice the same is the same."""
    from matplotlib import rc_context

    return rc_context({"svg.fonttype": "none", "svg.hashsalt": "ctrag", "text.parse_math": False})


def drawing(figure: Figure, name: str, title: str, description: str) -> Markup:
    """The figure as an element for inside a page.

    Args:
        figure: Drawn with the colours of this module.
        name: Sets the ids inside the drawing apart from those of the page's other drawings.
        title: What the drawing is called where it cannot be seen.
        description: What it shows, in words.
    """
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(file.getvalue())
    for element in list(root.iter()):
        for child in list(element):
            if child.tag.endswith("}style"):  # it would apply to the whole page
                element.remove(child)
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(
            {key: _adapted(key, value, name) for key, value in attributes.items()}
        )
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for place, (tag, text) in enumerate({"title": title, "desc": description}.items()):
        words = ElementTree.Element(tag, id=f"{name}-{tag}")
        words.text = text
        root.insert(place, words)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _adapted(key: str, value: str, name: str) -> str:
    """An attribute with the page's colours and font, and with ids of this drawing alone."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-")
    if key == "style":
        value = re.sub(r"font-family:[^;]*;?", "", value)
        return re.sub("#[0-9a-f]{6}", lambda found: _variable(found[0]), value)
    return value.replace("url(#", f"url(#{name}-")


def _variable(colour: str) -> str:
    return f"var(--{_NAMES[colour]})" if colour in _NAMES else colour
