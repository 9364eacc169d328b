"""Where each value of a call came from, in words: said, an item, a contact, computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.slots import SAID
from ctrag.text.words import terms

if TYPE_CHECKING:
    from ctrag.assistant.answer import Answer
    from ctrag.toolbox import Tool
    from stores.people.items import Item, Person

Kind = Literal[
    "said", "item", "contact", "computed", "profile", "choice", "conversation", "written"
]
_MOMENTS = ("datetime", "date")


@dataclass(frozen=True, slots=True)
class Origin:
    """One value of a call and where it was found."""

    argument: str
    value: str
    kind: Kind
    words: str
    """“tomorrow at six” for a moment, the contact's relation, the item's title, …"""


def origins(
    answer: "Answer", tool: "Tool | None", person: "Person", items: Mapping[str, "Item"]
) -> list[Origin]:
    """The origin of every value of an answer's plan, in the order of its arguments.

    Args:
        answer: The answer, with its trace.
        tool: The tool of its plan.
        person: Whose request it was.
        items: The person's items by id.
    """
    steps = answer.trace.steps
    ranked = next((one.outputs for one in steps if one.name == "values.rank"), None)
    filled: Mapping[str, Any] = {}
    for step in steps:
        if step.name == "slots.fill" and step.inputs.get("api") == answer.plan.api:
            filled = step.outputs
    found: list[Origin] = []
    for name, value in answer.plan.arguments.items():
        kind = "" if tool is None else _type(tool, name)
        for one in value if isinstance(value, list) else [value]:
            text = str(one)
            if ranked is None:
                found.append(Origin(name, text, *_followed_up(text, kind, answer.request.text)))
                continue
            source = _source(ranked, answer.plan.api, name, text)
            said = _said(filled.get(name))
            found.append(
                Origin(name, text, *_origin(text, kind, source, said, answer, person, items))
            )
    return found


def _followed_up(value: str, kind: str, said: str) -> tuple[Kind, str]:
    """Of a turn that leans on an earlier one, for which nothing was ranked."""
    if kind in _MOMENTS:
        return "computed", "from your words and what was talked about before"
    if _all_in(value, [said]):
        return "said", "in your own words"
    return "conversation", "what was talked about before"


def _origin(
    value: str,
    kind: str,
    source: str,
    said: str,
    answer: "Answer",
    person: "Person",
    items: Mapping[str, "Item"],
) -> tuple[Kind, str]:
    contact = person.contact(value) if kind in ("contact", "contacts") else None
    if kind in _MOMENTS and (said or source in ("date", "")):
        return (
            "computed",
            f"from “{said}”" if said else "from the words and the time of the request",
        )
    if contact is not None and source not in items:
        relation = f", {contact.relation}" if contact.relation else ""
        return (
            "contact",
            f"“{said}” in your contacts{relation}" if said else f"your contacts{relation}",
        )
    if source in items:
        item = items[source]
        return "item", f"{item.app}: “{item_text.title(item)}”"
    if source == "schema":
        return "choice", "one of the choices that the call has"
    if source == "profile":
        return "profile", "what your profile says"
    if source == "conversation":
        return "conversation", "what was talked about before"
    if said or source == "request" or _all_in(value, [answer.request.text]):
        return "said", f"“{said}”" if said and said != value else "in your own words"
    owner = next((one for one in items.values() if item_text.title(one) == value), None)
    if owner is not None:
        return "item", f"{owner.app}: “{value}”"
    shown = [item_text.searched_text(one.item) for one in answer.items]
    if _all_in(value, [answer.request.text, *shown]):
        return "item", "words of your request and of the items above"
    return "written", "written by the model"


def _source(ranked: Mapping[str, Any], api: str, name: str, value: str) -> str:
    values: Sequence[str] = ranked.get("values", {}).get(api, {}).get(name, [])
    sources: Sequence[str] = ranked.get("sources", {}).get(api, {}).get(name, [])
    return dict(zip(values, sources, strict=False)).get(value, "")


def _said(slot: Any) -> str:
    """What the request says of an argument; empty where it says nothing of it."""
    if not isinstance(slot, Mapping) or slot.get("probability", 0) < SAID:
        return ""
    return str(slot.get("value") or "")


def _all_in(value: str, texts: Sequence[str]) -> bool:
    have = {one for text in texts for one in terms(text)}
    return set(terms(value)) <= have


def _type(tool: "Tool", name: str) -> str:
    argument = tool.arguments_by_name.get(name)
    return "" if argument is None else argument.type
