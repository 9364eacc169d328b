"""Toolboxes of custom applications: derived from fields, deduplicated, written to a file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctrag.assistant.api_choice.retrieve import purpose
from ctrag.assistant.open import TOOLBOX
from ctrag.errors import InputError
from ctrag.text.words import terms
from ctrag.toolbox import Argument, Does, Effect, Tool, Toolbox
from stores.files import write_text
from stores.people.app_spec import AppSpec, FieldSpec, FieldType

ALIKE = 0.75
"""Word overlap (Jaccard) at which two purposes count as the same."""
_EFFECTS: dict[Does, Effect] = {
    "find": "read",
    "create": "write",
    "change": "write",
    "remove": "write",
    "send": "outward",
}
_ARGUMENTS: dict[FieldType, str] = {
    "string": "string",
    "text": "string",
    "datetime": "datetime",
    "boolean": "enum",
    "integer": "integer",
    "strings": "contacts",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_YES_OR_NO = ("yes", "no")
_DEFAULT_FIELDS = (
    FieldSpec("title", "string", "title"),
    FieldSpec("text", "text", "text"),
    FieldSpec("contact", "string", "person"),
    FieldSpec("time", "datetime", "time"),
)
"""Fields assumed for an application when only its name is known."""


def offline_toolbox(names: Sequence[str], specs: Mapping[str, AppSpec]) -> Toolbox:
    """The APIs of applications: the packaged ones, or APIs derived from the fields.

    Args:
        names: The applications.
        specs: Name → fields of its items; an application without any gets a title, a text, a
            person and a time.

    Raises:
        ValueError: A name is not a valid application name.
    """
    packaged = Toolbox.packaged()
    tools: list[Tool] = []
    for name in app_names(names):
        own = [tool for tool in packaged if tool.app == name]
        tools += own or distinct(_from_fields(specs.get(name) or AppSpec(name, _DEFAULT_FIELDS)))
    return Toolbox(tools)


def app_names(names: Iterable[str]) -> list[str]:
    """The names without duplicates; APIs are named after them.

    Raises:
        ValueError: A name is not a valid application name.
    """
    found = list(dict.fromkeys(names))
    for name in found:
        if not _NAME.fullmatch(name) or name == "people":
            raise InputError(
                "--app: must be lower-case letters, digits and underscores, a letter first, and "
                f"not 'people'; {name!r} is not: write, say, 'smart_home'"
            )
    return found


def distinct(tools: Iterable[Tool]) -> list[Tool]:
    """The tools without those that duplicate an earlier one of the same application.

    Two are duplicates when they have the same name, or the same arguments and an overlap of at
    least `ALIKE` between the words of their purposes.
    """
    kept: list[Tool] = []
    for tool in tools:
        if not any(_doubles(tool, other) for other in kept if other.app == tool.app):
            kept.append(tool)
    return kept


def write_toolbox(folder: Path, tools: Toolbox) -> Path:
    """Write `toolbox.yaml` into `folder`, which is created when missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / TOOLBOX
    write_text(path, tools.to_yaml())
    return path


def _doubles(tool: Tool, other: Tool) -> bool:
    if tool.api == other.api:
        return True
    if (tool.effect, tool.does) != (other.effect, other.does):
        return False
    if {one.name for one in tool.arguments} != {one.name for one in other.arguments}:
        return False
    one, two = set(terms(purpose(tool))), set(terms(purpose(other)))
    return len(one & two) >= ALIKE * len(one | two)


def _from_fields(spec: AppSpec) -> Iterator[Tool]:
    things, thing = spec.name, spec.name.removesuffix("s")
    by_name = {one.name: one for one in spec.fields}
    times, people = spec.named("time"), spec.named("person")
    titles, texts = spec.named("title"), spec.named("text")
    key = [_argument(by_name[name]) for name in (titles or people)[:1]]
    nothing = f"nothing in {things} fits"
    query = Argument(
        name="query", type="string", match="text", required=True, description="words to look for"
    )

    def tool(api: str, does: Does, purpose: str, arguments: Sequence[Argument], fails: str) -> Tool:
        title = spec.name.capitalize()
        return Tool(
            app=spec.name,
            api=api,
            description=f"{title} app's {api} API is used to {purpose}.",
            effect=_EFFECTS[does],
            arguments=tuple(arguments),
            fails_when=fails,
            does=does,
        )

    yield tool(f"search_{things}", "find", f"search {things} by words", [query], nothing)
    day = Argument(
        name="date", type="date", match="value", required=False, description="only of this day"
    )
    yield tool(
        f"list_{things}", "find", f"list {things}, the latest first", [day][: len(times)], "never"
    )
    if key:
        yield tool(f"read_{thing}", "find", f"read a {thing} out", key, nothing)
        yield tool(f"delete_{thing}", "remove", f"delete a {thing}", key, nothing)
    if people and texts:
        text = _argument(by_name[texts[0]], match="text")
        contact = Argument(
            name="contact", type="contact", match="value", required=True, description="who gets it"
        )
        yield tool(
            f"send_{thing}",
            "send",
            f"send a {thing} to a contact",
            [contact, text],
            "there is no such contact",
        )
    if titles:
        wanted = [name for role in ("title", "text", "time") for name in spec.named(role)[:1]]
        arguments = [
            _argument(
                by_name[name],
                match="text" if name in (*titles, *texts) else "value",
                required=name in titles,
            )
            for name in wanted
        ]
        yield tool(f"create_{thing}", "create", f"add a new {thing}", arguments, "never")
        for name in times[:1]:
            moved = Argument(
                name=f"new_{name}",
                type="datetime",
                match="value",
                required=True,
                description=f"the new {_spaced(name)}",
            )
            purpose = f"move a {thing} to another time"
            yield tool(f"move_{thing}", "change", purpose, [*key, moved], nothing)
    for name in spec.named("state") if key else ():
        state = _argument(by_name[name])
        yield tool(
            f"set_{thing}_{name}",
            "change",
            f"say whether a {thing} is {_spaced(name)}",
            [*key, state],
            nothing,
        )


def _argument(field: FieldSpec, *, match: str = "value", required: bool = True) -> Argument:
    values = _YES_OR_NO if field.type == "boolean" else field.values
    known: dict[str, Any] = {"values": values} if values else {}
    kind = "enum" if values else _ARGUMENTS[field.type]
    if field.role == "person" and field.type == "string":
        kind = "contact"
    return Argument.model_validate(
        {
            "name": field.name,
            "type": kind,
            "match": match,
            "required": required,
            "description": f"the {_spaced(field.name)}",
            **known,
        }
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ")
