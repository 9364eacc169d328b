"""Items on one line each, as prompts and readers see them."""

from ctrag.context import item_text
from stores.items import Item
from stores.local_time import format_local_time

WIDTH = 140
"""Characters of an item's line where there is room."""


def item_line(item: Item, width: int = WIDTH) -> str:
    """An item on one line: application, time, state, words; at most `width` characters."""
    parts = [f"{item.app}: {item_text.title(item)}"]
    times = [
        format_local_time(moment).replace("T", " ")
        for role in ("time", "end")
        for name in [item_text.field_of(item, role)]
        if name is not None and (moment := item.time(name)) is not None
    ]
    if times:
        parts.append(" to ".join(times))
    parts += _state(item)
    for role in ("person", "place", "group", "text"):
        for name in item_text.fields_of(item, role):
            text = item.text(name)
            if text and text != item_text.title(item):
                parts.append(text)
    return one_line("; ".join(parts), width)


def item_name(item: Item) -> str:
    """How the prompt refers to an item that it has shown."""
    return f"{item.app}: {one_line(item_text.title(item), 60)}"


def _state(item: Item) -> list[str]:
    states = []
    for name in item_text.fields_of(item, "state"):
        value = item.fields.get(name)
        if isinstance(value, bool):
            if value:
                states.append(name)
        elif value:
            states.append(str(value))
    return states


def one_line(text: str, width: int) -> str:
    """The text with single spaces, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"
