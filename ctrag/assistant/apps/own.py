"""APIs of further applications, run as their toolbox entries declare.

`does` is the kind of action; an argument means the field of its name, `new_<field>` the field's
new value, `query` any words, `date` the day of the item, and an argument of type contact the
recipient. So an application declared as data, without code, can be read, changed and sent from.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    address_of,
    addressed,
    changed,
    created,
    in_full,
    known_contact,
    listing,
    matching,
    minute,
    one_line,
    pick,
    quote,
    removes,
    search,
    sends,
    when,
    writes,
)
from ctrag.assistant.context import item_text
from ctrag.toolbox import Argument, Tool
from stores.people.app_spec import FieldSpec, Role, spec_of
from stores.people.changes import OutboxEntry
from stores.people.items import Item, Value

_NEW = "new_"
_SHOWN = 10
_YES = ("yes", "true", "on")
_ROLES: tuple[Role, ...] = ("title", "person", "place", "group", "text")


def run(tool: Tool, call: Call) -> Effect:
    """What the API answers and would change.

    Raises:
        Refusal: Nothing fits its arguments, or an argument means no field.
    """
    does: dict[str | None, Callable[[Tool, Call], Effect]] = {
        "find": _find,
        "create": _create,
        "change": _change,
        "remove": _remove,
        "send": _send,
    }
    return does[tool.does](tool, call)


def _find(tool: Tool, call: Call) -> Effect:
    found = _fitting(tool, call)
    if not found and call.arguments:
        raise Refusal(_nothing(tool, call))
    lines = [_line(item, call.at) for item in found[:_SHOWN]]
    return Effect(
        listing(f"{tool.app.capitalize()}:", lines, f"There is nothing in {tool.app}."),
        tuple(found[:_SHOWN]),
    )


def _create(tool: Tool, call: Call) -> Effect:
    values = {
        field.name: _value(field, call, argument.name)
        for argument in tool.arguments
        if argument.name in call.arguments and (field := _field(tool, argument)) is not None
    }
    fields = {one.name: _empty(one, call.at) for one in spec_of(tool.app).fields if one.required}
    made = created(call, tool.app, **{**fields, **values})
    return writes(f"Added to {tool.app}: {_line(made.item, call.at)}.", made)


def _change(tool: Tool, call: Call) -> Effect:
    item = _meant(tool, call)
    new: dict[str, Value] = {}
    for argument in tool.arguments:
        if argument.name in call.arguments and _sets(tool, argument):
            field = _field(tool, argument)
            if field is None:
                raise Refusal(f"{tool.app} has no field for {argument.name}.")
            new[field.name] = _value(field, call, argument.name)
    changes = ", ".join(f"{name} is now {_said(value, call.at)}" for name, value in new.items())
    return writes(f"Changed {_name(item)}: {changes or 'nothing'}.", changed(item, **new))


def _remove(tool: Tool, call: Call) -> Effect:
    item = _meant(tool, call)
    return removes(f"Removed {_line(item, call.at)} from {tool.app}.", item)


def _send(tool: Tool, call: Call) -> Effect:
    names = [
        name
        for argument in tool.arguments
        if argument.type in ("contact", "contacts")
        for name in call.texts(argument.name)
    ]
    if not names and any(one.type in ("contact", "contacts") for one in tool.arguments):
        raise Refusal("Nobody was named to send it to, so nothing was sent.")
    contacts = [known_contact(call, name) for name in names]
    if nowhere := [one.name for one in contacts if not address_of(one)]:
        have = "has" if len(nowhere) == 1 else "have"
        raise Refusal(
            f"{', '.join(nowhere)} {have} neither a number nor a mail address, so nothing was sent."
        )
    items = [_meant(tool, call)] if _criteria(tool, call) else []
    content = {name: call.text(name) for name in call.arguments}
    content_text = ", ".join(
        quote(call.text(one.name)) for one in tool.arguments if one.match == "text"
    )
    source = items[0].id if items else None
    outbox = [
        OutboxEntry(tool.api, one.name, {**content, "to": address_of(one)}, source)
        for one in contacts
    ]
    outbox = outbox or [OutboxEntry(tool.api, tool.app, content, source)]
    receivers = [addressed(one.name, address_of(one)) for one in contacts] or [tool.app]
    whom = ", ".join(receivers)
    about = f", about {_name(items[0])}" if items else ""
    said = ", ".join(in_full(call.text(one.name)) for one in tool.arguments if one.match == "text")
    does = tool.api.replace("_", " ")
    return sends(
        f"Sent {content_text or does} to {whom}.",
        f"{does.capitalize()} to {whom}{about}{f': {said}' if said else ''}",
        outbox,
        items,
        receivers,
    )


def _meant(tool: Tool, call: Call) -> Item:
    found = _fitting(tool, call)
    if not found:
        raise Refusal(_nothing(tool, call))
    return _one_of(call, found)


def _one_of(call: Call, items: Sequence[Item]) -> Item:
    """One of several: what retrieval found, else the next in time, else the latest; the first where
    items have no time."""
    timed = all(spec_of(item.app).named("time") for item in items)
    if timed:
        return pick(call, items)
    preferred = [item for item_id in call.preferred for item in items if item.id == item_id]
    return (preferred or list(items))[0]


def _fitting(tool: Tool, call: Call) -> list[Item]:
    """Items that fit all arguments, the latest first."""
    found = call.of(tool.app)
    for argument in _criteria(tool, call):
        wanted = call.text(argument.name)
        if argument.name == "query":
            ids = {item.id for item in search(call, tool.app, wanted)}
            found = [item for item in found if item.id in ids]
        elif argument.type == "date":
            day = call.day(argument.name)
            found = [item for item in found if _moment(item).date() == day]
        else:
            field = _field(tool, argument)
            if field is None:
                raise Refusal(f"{tool.app} has no field for {argument.name}.")
            found = _with_value(found, field, call, argument.name)
    return sorted(found, key=_moment, reverse=True)


def _criteria(tool: Tool, call: Call) -> list[Argument]:
    """Arguments that select the item, not its new values."""
    return [
        argument
        for argument in tool.arguments
        if argument.name in call.arguments
        and not (tool.does == "change" and _sets(tool, argument))
        and (
            tool.does != "send"
            or (argument.match == "value" and argument.type not in ("contact", "contacts"))
        )
    ]


def _sets(tool: Tool, argument: Argument) -> bool:
    """Whether the argument is a new value: `new_title`, a state, or free text."""
    field = _field(tool, argument)
    return (
        argument.name.startswith(_NEW)
        or argument.match == "text"
        or (field is not None and field.role == "state")
    )


def _field(tool: Tool, argument: Argument) -> FieldSpec | None:
    """The field that an argument means: of its name, else the only one of its kind."""
    spec = spec_of(tool.app)
    name = argument.name.removeprefix(_NEW)
    named = next((one for one in spec.fields if one.name == name), None)
    if named is not None:
        return named
    role = "person" if argument.type in ("contact", "contacts") else None
    role = "time" if argument.type == "datetime" else role
    fitting = [one for one in spec.fields if one.role == role]
    return fitting[0] if len(fitting) == 1 else None


def _with_value(items: Sequence[Item], field: FieldSpec, call: Call, argument: str) -> list[Item]:
    if field.type == "datetime":
        moment = call.time(argument)
        return [item for item in items if item.time(field.name) == moment]
    wanted = call.text(argument)
    if field.type == "boolean":
        return [item for item in items if item.flag(field.name) == (wanted.casefold() in _YES)]
    if field.type == "strings":
        return [item for item in items if matching(wanted, _names(item, field), lambda name: name)]
    return matching(wanted, items, lambda item: item.text(field.name))


def _names(item: Item, field: FieldSpec) -> tuple[str, ...]:
    value = item.fields.get(field.name)
    return value if isinstance(value, tuple) else ()


def _value(field: FieldSpec, call: Call, argument: str) -> Value:
    """An argument as the field holds it."""
    if field.type == "datetime":
        return call.time(argument)
    if field.type == "strings":
        return tuple(call.texts(argument))
    text = call.text(argument)
    if field.type == "boolean":
        return text.casefold() in _YES
    if field.type == "integer":
        try:
            return int(text)
        except ValueError:
            raise Refusal(f"{argument}: {text!r} is no whole number") from None
    if field.values and text not in field.values:
        raise Refusal(f"{argument}: must be one of {', '.join(field.values)}, not {text!r}")
    return text


def _empty(field: FieldSpec, at: datetime) -> Value:
    """Default value of a field of a new item."""
    if field.type == "string" and field.values:
        return field.values[0]
    empty: dict[str, Value] = {"boolean": False, "integer": 0, "strings": ()}
    return minute(at) if field.type == "datetime" else empty.get(field.type, "")


def _moment(item: Item) -> datetime:
    return item_text.time_of(item) or datetime.min


def _name(item: Item) -> str:
    return quote(item_text.title(item) or item_text.searched_text(item))


def _line(item: Item, at: datetime) -> str:
    """The item on one line: when, from whom, what."""
    moment = item_text.time_of(item)
    said = [item.text(name) for role in _ROLES for name in item_text.fields_of(item, role)]
    words = ": ".join(dict.fromkeys(filter(None, (one_line(one) for one in said))))
    return (f"{when(moment, at)}, " if moment else "") + words


def _said(value: Value, at: datetime) -> str:
    return when(value, at) if isinstance(value, datetime) else str(value)


def _nothing(tool: Tool, call: Call) -> str:
    said = ", ".join(quote(call.text(name)) for name in call.arguments)
    return f"Nothing in {tool.app} fits {said}."
