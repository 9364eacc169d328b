"""Tool definitions of other servers as untrusted data: checked and marked.

A definition that breaks the protocol is dropped and reported; one that is very long is truncated;
one whose text instructs the model instead of describing the tool is marked.
"""

import json
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import jsonschema

from ctrag.agents.catalogue.dialects import modern
from ctrag.agents.catalogue.effects import HINTS
from ctrag.agents.catalogue.shown import CUT
from ctrag.agents.server.orders import gives_orders
from ctrag.errors import InputError

DESCRIPTION_LIMIT = 6_000
"""Characters of a description that a model is shown unless a setting says otherwise."""
WHOLE_LIMIT = 50_000
"""Characters of a tool's description that are kept and searched."""
FIELD_LIMIT = 10_000
"""Characters of any text inside a schema that are kept and searched."""
SCHEMA_LIMIT = 1_000_000
"""Characters of a schema as JSON, after its texts were cut."""
MORE_LIMIT = 20_000
"""Characters of an output schema, of all icons or of a `_meta` as JSON."""
NAME_LIMIT = 128
"""Characters of a tool's name, as in the protocol."""

_NO_FORMATS = jsonschema.FormatChecker(())


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as its server lists it, after the checks."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of the arguments; its root is an object."""
    marks: tuple[str, ...] = ()
    """Findings: `cut`, `hidden characters`, `gives orders`."""
    more: dict[str, Any] = field(default_factory=dict)
    """Title, annotations, output schema, icons and `_meta`, by the protocol's names."""


def definition(raw: Any, *, trust: bool = False) -> ToolDefinition:
    """A tool definition off the wire, checked and marked; the schema is of draft 2020-12.

    Args:
        raw: The entry of a `tools/list` answer, with `name`, `description`, `inputSchema`.
        trust: Mark nothing.

    Raises:
        ValueError: It cannot be used; the message says why.
    """
    if not isinstance(raw, Mapping):
        raise InputError("is no object")
    name = raw.get("name")
    if not isinstance(name, str) or not _printable(name).strip():
        raise InputError("has no name that can be read")
    if len(name) > NAME_LIMIT:
        raise InputError(f"has a name of {len(name)} characters; {NAME_LIMIT} are allowed")
    text = raw.get("description") or ""
    if not isinstance(text, str):
        raise InputError("has a description that is no text")
    if _task_support(raw) == "required":
        raise InputError("can only be called as a task, which is not passed on")
    marks: list[str] = []
    description = cleaned(text, WHOLE_LIMIT, marks)
    try:
        parameters = _checked_schema(_cleaned_schema(raw.get("inputSchema"), marks))
    except RecursionError:
        raise InputError("has an input schema that is nested too deep") from None
    more = _more(raw, marks)
    found = () if trust else tuple(dict.fromkeys(marks))
    return ToolDefinition(_printable(name), description, parameters, found, more)


def inspected(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A schema without invisible characters in its texts, and the marks of what it says.

    It need not be a schema that `definition` takes.
    """
    marks: list[str] = []
    return _cleaned_schema(dict(parameters), marks), tuple(dict.fromkeys(marks))


def _task_support(raw: Mapping[str, Any]) -> Any:
    execution = raw.get("execution")
    return execution.get("taskSupport") if isinstance(execution, Mapping) else None


def _more(raw: Mapping[str, Any], marks: list[str]) -> dict[str, Any]:
    """What else the entry says, as far as it is of the protocol's form; the rest is dropped."""
    found: dict[str, Any] = {}
    if isinstance(title := raw.get("title"), str) and title:
        found["title"] = cleaned(title, FIELD_LIMIT, marks)
    if isinstance(hints := raw.get("annotations"), Mapping):
        kept = {key: hints[key] for key in HINTS if isinstance(hints.get(key), bool)}
        if isinstance(hints.get("title"), str) and hints["title"]:
            kept["title"] = cleaned(hints["title"], FIELD_LIMIT, marks)
        if kept:
            found["annotations"] = kept
    if isinstance(schema := raw.get("outputSchema"), dict) and schema:
        try:
            cut = _cleaned_schema(schema, marks)
            jsonschema.validators.validator_for(cut).check_schema(cut)
            found["outputSchema"] = cut
        except (RecursionError, jsonschema.SchemaError):
            pass  # of no use to a client, which checks results by it
    if isinstance(icons := raw.get("icons"), list):
        usable = [one for one in icons if isinstance(one, dict) and isinstance(one.get("src"), str)]
        if usable:
            found["icons"] = usable
    if isinstance(meta := raw.get("_meta"), dict) and meta:
        found["_meta"] = meta
    short = {"title", "annotations"}
    return {
        key: value
        for key, value in found.items()
        if key in short or len(json.dumps(value)) <= MORE_LIMIT
    }


def _checked_schema(schema: Any) -> dict[str, Any]:
    """The schema, which may be of any draft, as one of draft 2020-12 whose root is an object."""
    if schema is None or schema is True or schema == []:  # PHP writes an empty table as a list
        schema = {}  # where it is missing, the server takes what it is sent
    if isinstance(schema, str):  # a schema that was written out once too often
        with suppress(ValueError):
            schema = json.loads(schema)
    if not isinstance(schema, dict):
        raise InputError("has an input schema that is no object")
    if len(json.dumps(schema)) > SCHEMA_LIMIT:
        raise InputError(f"has an input schema of more than {SCHEMA_LIMIT:,} characters")
    made = modern(schema)
    kind = made.get("type") or "object"
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise InputError("has an input schema whose type is not object")
    made["type"] = "object"
    try:  # patterns are JavaScript's, so that Python's view of them does not count
        jsonschema.Draft202012Validator.check_schema(made, format_checker=_NO_FORMATS)
    except jsonschema.SchemaError as error:
        reason = error.message[:100]
        raise InputError(f"has an input schema that is no JSON Schema: {reason}") from None
    return made


def _cleaned_schema(schema: Any, marks: list[str], key: str = "") -> Any:
    if isinstance(schema, str):
        if key in {"description", "title", "$comment"}:
            return cleaned(schema, FIELD_LIMIT, marks)
        _mark(schema, marks)
        return schema
    if isinstance(schema, list):
        return [_cleaned_schema(one, marks) for one in schema]
    if isinstance(schema, dict):
        for name in schema:
            _mark(str(name), marks)
        return {name: _cleaned_schema(value, marks, name) for name, value in schema.items()}
    return schema


def _mark(kept: str, marks: list[str]) -> None:
    """Add the marks of a name or value, which itself stays unchanged: the server expects it."""
    cleaned(kept, SCHEMA_LIMIT, marks)


def cleaned(text: str, limit: int, marks: list[str]) -> str:
    """A text without invisible characters, at most `limit` long; what was found joins `marks`."""
    printable = _printable(text[: 4 * limit])
    if printable != text[: 4 * limit]:
        marks.append("hidden characters")
    if gives_orders(printable):
        marks.append("gives orders")
    if len(printable) <= limit and len(text) <= 4 * limit:
        return printable
    marks.append("cut")
    return printable[: limit - len(CUT)] + CUT


def _printable(text: str) -> str:
    """Without control, format, unassigned and surrogate characters; keeps newlines and tabs."""
    return "".join(
        letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C"
    )
