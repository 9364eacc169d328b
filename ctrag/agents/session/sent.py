"""What models really send, read as they mean it: arguments of meta-tools and of the tools called.

A model may send arguments as a JSON text, null, under another name, or beside the tool's name; a
list as one text; a number as a text or out of range; a tool's name as another client spells it.
What can only be meant in one way is read so, what was changed in effect is noted, and what cannot
be read is an error that says what to send.
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.errors import InputError

QUERY_LIMIT = 2_000
"""Characters of a query that are searched for."""

_QUERY = (
    "query q text search search_query searchQuery keywords keyword need request task intent "
    "description prompt question input what"
).split()
_SESSION = "session session_id sessionId session_handle handle".split()
_LIMIT = "limit k top_k topK n count max max_results maxResults num_results".split()
_NAME = "name tool tool_name toolName function_name function".split()
_NAMES = "names name tools tool tool_names toolNames tool_name".split()
_PLUGIN = "plugin name plugin_name id".split()
_WRAPPERS = (
    "arguments args parameters params input tool_input toolInput tool_arguments tool_args kwargs"
).split()
"""Names under which a whole set of arguments is sent."""
_HANDLE = re.compile(r"[\w-]{32}")
"""A session's handle."""
_META = re.compile(r"(?:^|[_./:])call_(?:changing_)?tool$")
"""The meta-tool's own name, in any client's notation."""
_FENCE = re.compile(r"^```\w*\s*|(?<!\s)\s*```$")
_EMPTY = frozenset({"", "null", "none", "undefined"})
_SEPARATORS = ("/", "__", ".", ":", "::", "_", "-")
_PREFIX = re.compile(r"^(?:mcp(?:__|[_./:-])|(?:functions|tools|default_api)[./:])")
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A meta-tool's arguments by their names, and what to tell the model of them."""

    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


def search_arguments(raw: Mapping[str, Any], most: int) -> Sent:
    """`query`, and where given `session` and `limit`.

    Args:
        raw: As sent.
        most: The largest limit.

    Raises:
        ValueError: There is no query.
    """
    left, notes = _unwrapped(raw, _QUERY), []
    session, limit = _text(_taken(left, _SESSION)).strip("\"'`"), _taken(left, _LIMIT)
    asked = _taken(left, _QUERY)
    query = _text(list(asked.values()) if isinstance(asked, Mapping) else asked)
    if not query:  # whatever other name it has, if there is one text alone
        texts = [name for name, value in left.items() if _text(value)]
        query = _text(left.pop(texts[0])) if len(texts) == 1 else ""
    if not query:
        raise InputError("query: is missing; say in words what the tool should do")
    if len(query) > QUERY_LIMIT:
        query = query[:QUERY_LIMIT]
        notes.append(f"Only the first {QUERY_LIMIT:,} characters of the query were searched for.")
    found: dict[str, Any] = {"query": query}
    if session:
        found["session"] = session
    if limit is not None:
        bounded, note = _bounded(limit, most)
        found |= {} if bounded is None else {"limit": bounded}
        notes += [note] if note else []
    return Sent(found, (*notes, *_ignored(left)))


def call_arguments(raw: Mapping[str, Any]) -> Sent:
    """`name`, `arguments` and, where given, `session`; what stands beside the name is an argument.

    Raises:
        ValueError: There is no name, or the arguments are no object.
    """
    left = dict(raw)
    name = _taken(left, _NAME)
    if isinstance(name, Mapping):  # the whole call in OpenAI's form
        left = {**{key: value for key, value in name.items() if key not in _NAME}, **left}
        name = next((name[key] for key in _NAME if key in name), None)
    if not _text(name):
        raise InputError("name: is missing; send the tool's name as search_tools gave it")
    session = _text(left.pop("session", None)).strip("\"'`")
    inner = _object(left.pop("arguments", None))
    if _META.search(_text(name)) and _text(inner.get("name")):  # a call of the call
        return call_arguments({"session": session, **inner})
    arguments = {**left, **inner}
    for other in _SESSION:  # an argument of the tool itself may have such a name
        if not session and _HANDLE.fullmatch(str(arguments.get(other))):
            session = arguments.pop(other)
    return Sent(
        {"name": _text(name), "arguments": arguments, **({"session": session} if session else {})}
    )


def release_arguments(raw: Mapping[str, Any]) -> Sent:
    """`names` as a list and, where given, `session`.

    Raises:
        ValueError: There is no name.
    """
    left = _unwrapped(raw, _NAMES)
    session = _text(_taken(left, _SESSION))
    names = _listed(_taken(left, _NAMES))
    if not names:
        raise InputError("names: is missing; send a list of the tools no longer needed")
    found = {"names": names, **({"session": session} if session else {})}
    return Sent(found, _ignored(left))


def install_arguments(raw: Mapping[str, Any]) -> Sent:
    """`plugin`.

    Raises:
        ValueError: There is none.
    """
    left = _unwrapped(raw, _PLUGIN)
    plugin = _text(_taken(left, _PLUGIN))
    if not plugin:
        raise InputError("plugin: is missing; send its name from `installable`")
    return Sent({"plugin": plugin}, _ignored(left))


def tool_arguments(raw: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's arguments as its schema has them.

    A whole set under one name that the schema lacks is taken out of it; a text in the place of an
    object, list, number or boolean is read as JSON where it is of that type; a number in the place
    of a text is written out; null for an optional argument that takes none leaves it out.
    Everything else is left as it is: the tool's own server judges it.

    Args:
        raw: An object, its JSON text, or None for no arguments.
        parameters: The tool's JSON Schema.

    Raises:
        ValueError: The arguments are no object.
    """
    properties = parameters.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    arguments = _object(raw)
    if len(arguments) == 1:
        [(name, value)] = arguments.items()
        if name in _WRAPPERS and name not in properties:
            inner = _parsed(value)
            arguments = dict(inner) if isinstance(inner, Mapping) else arguments
            arguments = {} if value is None else arguments
    required = parameters.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    return {
        name: _fitted(value, properties.get(name))
        for name, value in arguments.items()
        if value is not None or name in needed or not _refuses_null(properties.get(name))
    }


def _refuses_null(schema: Any) -> bool:
    """Whether null would be an error there; models send it for what they leave out."""
    types = _types(schema)
    return bool(types) and "null" not in types


def meant(name: str, ids: Iterable[str]) -> list[str]:
    """The ids that a spelling of a name may mean: of one server and name in another notation.

    `mcp__time__now`, `time.now`, `time:now`, `functions.time__now` and `mcp__gateway__time__now`
    are all `time/now`. The tool's own name has to be exact.
    """
    spelled = name.strip().strip("`'\"").removesuffix("()")
    bare = _PREFIX.sub("", spelled)
    forms = {spelled, bare}
    if bare != spelled:  # without the name that the server or gateway has in the client
        forms.add(bare.partition("__")[2])
    loose = _SEPARATORS if bare != spelled else _SEPARATORS[:5]
    return [one for one in ids if not forms.isdisjoint(_spellings(one, loose))]


def _spellings(tool_id: str, separators: Sequence[str]) -> set[str]:
    server, found, name = tool_id.partition("/")
    return {f"{server}{one}{name}" for one in separators} if found else {tool_id}


def _unwrapped(raw: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The arguments, out of a wrapper where they stand in one."""
    left = dict(raw)
    if any(name in left and name not in _WRAPPERS for name in known):
        return left
    for wrapper in _WRAPPERS:
        inner = _parsed(left.get(wrapper))
        if isinstance(inner, Mapping):
            del left[wrapper]
            return {**left, **inner}
    return left


def _taken(left: dict[str, Any], names: Sequence[str]) -> Any:
    """The first of several names that has a value, which is taken out; None without one."""
    for name in names:
        if left.get(name) is not None:
            return left.pop(name)
        left.pop(name, None)
    return None


def _text(value: Any) -> str:
    """A value as one line of text; empty where it is none."""
    if isinstance(value, str):
        return "" if value.strip().lower() in _EMPTY else value.strip()
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_text, value)))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _listed(value: Any) -> list[str]:
    """Names out of a list, a JSON text of one, or one text with commas or lines."""
    value = _parsed(value)
    if isinstance(value, str):
        return [part for one in re.split(r"[,\n]", value) if (part := _text(one.strip(" \t`'\"")))]
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        return []
    names = [_taken(dict(one), _NAME) if isinstance(one, Mapping) else one for one in value]
    return list(filter(None, map(_text, names)))


def _object(value: Any) -> dict[str, Any]:
    """Arguments as an object; ValueError where they are none."""
    parsed = _parsed(value)
    if isinstance(parsed, str) and _FENCE.sub("", parsed).strip().lower() in _EMPTY:
        parsed = None
    if isinstance(parsed, list) and len(parsed) < 2:
        parsed = parsed[0] if parsed else None
    if parsed is None:
        return {}
    if isinstance(parsed, Mapping):
        return {str(name): one for name, one in parsed.items()}
    raise InputError(
        "arguments: must be an object as the tool's input_schema says, such as "
        f'{{"name": "value"}}, not {str(value)[:60]!r}'
    )


def _parsed(value: Any) -> Any:
    """What a JSON text says, also in quotes, fences or Python's notation; others unchanged."""
    for _ in range(3):
        if not isinstance(value, str):
            return value
        text = _FENCE.sub("", value.strip())
        if not text or text[0] not in "{[\"'":
            return value
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return value
    return value


def _fitted(value: Any, schema: Any) -> Any:
    """The value as the type that the schema wants, where it can be read as that."""
    wanted = _types(schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if wanted and wanted <= {"string", "null"}:
            return str(value)
        whole = isinstance(value, float) and value.is_integer() and "integer" in wanted
        return int(value) if whole and "number" not in wanted else value
    if not isinstance(value, str) or not wanted or "string" in wanted:
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        read = _parsed(value)
    if isinstance(read, float) and read.is_integer() and "number" not in wanted:
        read = int(read)
    if read is None:
        return None if "null" in wanted else value
    for kind in wanted:
        of_kind = isinstance(read, _PYTHON_TYPES.get(kind, ()))
        if of_kind and (kind == "boolean" or not isinstance(read, bool)):
            return read
    return value


def _types(schema: Any) -> set[str]:
    """Types that a schema says itself or in its alternatives; empty where it leaves any open."""
    if not isinstance(schema, Mapping):
        return set()
    declared = schema.get("type")
    if isinstance(declared, str):
        return {declared}
    if isinstance(declared, list):
        return {str(one) for one in declared}
    ways = schema.get("anyOf") or schema.get("oneOf")
    found = [_types(one) for one in ways] if isinstance(ways, list) else []
    return set().union(*found) if all(found) else set()


def _bounded(value: Any, most: int) -> tuple[int | None, str]:
    """A limit from 1 to `most`, and the note where another was sent."""
    try:
        wanted = int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None, f"limit: {str(value)[:20]!r} is no number and was not used."
    limit = min(max(wanted, 1), most)
    if limit == wanted:
        return limit, ""
    return limit, f"limit: must be from 1 to {most}; {limit} was used in place of {wanted}."


def _ignored(left: Mapping[str, Any]) -> tuple[str, ...]:
    names = [name[:40] for name, value in left.items() if value is not None]
    return (f"Not arguments of this tool, and not used: {', '.join(names[:5])}.",) if names else ()
