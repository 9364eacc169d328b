"""What models really send, read as they mean it: arguments of meta-tools and of the tools called.

A model may send arguments as a JSON text, null, under another name, or beside the tool's name; a
list as one text; a number as a text or out of range; a tool's name as another client spells it.
What can only be meant in one way is read so, what was changed in effect is noted, and what cannot
be read is an error that says what to send.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.agents.session.sent_values import WRAPPERS, object_of, parsed, text_of
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
_SERVER = "server_name serverName server mcp_server".split()
_TOOL = "tool_name toolName tool".split()
_CALLS = (
    "function_call functionCall tool_call toolCall tool_use toolUse tool_calls toolCalls call"
).split()
"""Names under which the APIs of models, and their clients, put a whole call."""
_CALL_TYPES = frozenset("function function_call tool_use tool_call mcp_call".split())
_OF_CALLS = "type id call_id callId tool_use_id tool_call_id index status".split()
"""What stands beside the name in those, and is no argument."""
_URI = "uri url resource resource_uri resourceUri address link href".split()
_OFFSET = "offset start position from".split()
_HANDLE = re.compile(r"[\w-]{32}")
"""A session's handle."""
_META = re.compile(r"(?:^|[_./:])call_(?:changing_)?tool$")
"""The meta-tool's own name, in any client's notation."""


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
    session, limit = text_of(_taken(left, _SESSION)).strip("\"'`"), _taken(left, _LIMIT)
    asked = _taken(left, _QUERY)
    query = text_of(list(asked.values()) if isinstance(asked, Mapping) else asked)
    if not query:  # whatever other name it has, if there is one text alone
        texts = [name for name, value in left.items() if text_of(value)]
        query = text_of(left.pop(texts[0])) if len(texts) == 1 else ""
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

    A call in the form of a model's API is that call, and a server's name beside a tool's belongs
    to it.

    Raises:
        ValueError: There is no name, or the arguments are no object.
    """
    left = _of_api(raw)
    name = _with_server(left) or _taken(left, _NAME)
    if isinstance(name, Mapping):  # the whole call in OpenAI's form
        left = {**{key: value for key, value in name.items() if key not in _NAME}, **left}
        name = next((name[key] for key in _NAME if key in name), None)
    if not text_of(name):
        raise InputError("name: is missing; send the tool's name as search_tools gave it")
    session = text_of(left.pop("session", None)).strip("\"'`")
    inner = object_of(left.pop("arguments", None))
    if _META.search(text_of(name)) and text_of(inner.get("name")):  # a call of the call
        return call_arguments({"session": session, **inner})
    arguments = {**left, **inner}
    for other in _SESSION:  # an argument of the tool itself may have such a name
        if not session and _HANDLE.fullmatch(str(arguments.get(other))):
            session = arguments.pop(other)
    return Sent(
        {"name": text_of(name), "arguments": arguments, **({"session": session} if session else {})}
    )


def _of_api(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A call out of what an API puts around it, and without what that puts beside it."""
    left = dict(raw)
    for key in _CALLS:
        inner = parsed(left.get(key))
        if isinstance(inner, list) and len(inner) == 1:
            [inner] = inner
        if isinstance(inner, Mapping) and any(inner.get(name) for name in _NAME):
            del left[key]
            left = {**inner, **left}
            break
    if left.get("type") not in _CALL_TYPES or not any(left.get(name) for name in _NAME):
        return left
    kind = left["type"]
    left = {name: value for name, value in left.items() if name not in _OF_CALLS}
    if kind == "tool_use" and "input" in left and "arguments" not in left:
        left["arguments"] = left.pop("input")
    return left


def _with_server(left: dict[str, Any]) -> str:
    """A tool's name with its server's, which some clients have beside it; empty without either."""
    tool = next((key for key in _TOOL if text_of(left.get(key))), "")
    server = next((key for key in _SERVER if text_of(left.get(key))), "")
    if not tool or not server or "name" in left or re.search(r"/|__", text_of(left[tool])):
        return ""
    return f"{text_of(left.pop(server))}/{text_of(left.pop(tool))}"


def release_arguments(raw: Mapping[str, Any]) -> Sent:
    """`names` as a list and, where given, `session`.

    Raises:
        ValueError: There is no name.
    """
    left = _unwrapped(raw, _NAMES)
    session = text_of(_taken(left, _SESSION))
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
    plugin = text_of(_taken(left, _PLUGIN))
    if not plugin:
        raise InputError("plugin: is missing; send its name from `installable`")
    return Sent({"plugin": plugin}, _ignored(left))


def read_arguments(raw: Mapping[str, Any]) -> tuple[str, int]:
    """Address and offset of a resource that is read on.

    Raises:
        ValueError: There is no address, or the offset is no whole number.
    """
    left = _unwrapped(raw, [*_URI, *_OFFSET])
    uri = text_of(_taken(left, _URI)).strip("<>\"'`")
    given = _taken(left, _OFFSET)
    try:  # with the commas of the note that names it
        offset = 0 if given is None else float(str(given).replace(",", "").strip() or 0)
    except ValueError:
        offset = 0.5
    if not uri or isinstance(given, bool) or offset != offset // 1:
        raise InputError("give uri, a text, and offset, a whole number")
    return uri, int(offset)


def _unwrapped(raw: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The arguments, out of a wrapper where they stand in one."""
    left = dict(raw)
    if any(name in left and name not in WRAPPERS for name in known):
        return left
    for wrapper in WRAPPERS:
        inner = parsed(left.get(wrapper))
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


def _listed(value: Any) -> list[str]:
    """Names out of a list, a JSON text of one, or one text with commas or lines."""
    value = parsed(value)
    if isinstance(value, str):
        return [
            part for one in re.split(r"[,\n]", value) if (part := text_of(one.strip(" \t`'\"")))
        ]
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        return []
    names = [_taken(dict(one), _NAME) if isinstance(one, Mapping) else one for one in value]
    return list(filter(None, map(text_of, names)))


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
