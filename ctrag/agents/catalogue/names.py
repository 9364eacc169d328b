"""Names under which tools are given to a model's API: one id, one name, for ever.

A name depends on its tool's id alone, never on the other tools of a list, so a name that a client
has seen means the same tool in every list, before and after others come and go. An id that is
plain (`mail/send`) is spelled so that it can be read back (`mail__send`); every other one carries
a hash of the whole id, and no plain name ends like a hash.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

NAME_LIMIT = 64
"""Maximum characters of a function name, the stricter limit of both APIs."""
META_NAMES = frozenset(
    "search_tools call_tool call_changing_tool release_tools install_plugin read_result "
    "list_tools ctrag__read".split()
)
"""Names of a server's own tools, which no other tool is given."""

_INVALID = re.compile(r"[^A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_HASHED = re.compile(r"_[0-9a-f]{10}$")
_HASH_LENGTH = 10
_LEAST_SERVER = 8
"""Letters of a server's name that stay where an id is too long."""


def wire_name(tool_id: str) -> str:
    """An id as a name that both APIs and MCP clients accept: `mail/send` is `mail__send`.

    What cannot be spelled so that the id can be read back ends in a hash of the id: ids with
    other characters (`a.b`, `读取`), with two underscores together, or too long. Accents are
    stripped, and the server's part is shortened before the tool's own name.
    """
    server, slash, name = tool_id.partition("/")
    spelled = tool_id.replace("/", "__")
    if _read_back(spelled) == tool_id and len(spelled) <= NAME_LIMIT and _free(spelled):
        return spelled
    own = _letters(name if slash else server) or "tool"
    room = NAME_LIMIT - _HASH_LENGTH - 1
    if not slash:
        return f"{own[:room]}_{digest(tool_id)}"
    shown = _letters(server)
    shown = shown[: max(_LEAST_SERVER, room - 2 - len(own))].rstrip("_-") or "server"
    together = f"{shown}__{own}"[:room]
    return f"{together}_{digest(tool_id)}"


def readable_name(name: str) -> str:
    """A name that both APIs accept, accents stripped, truncated to the limit; names may clash."""
    letters = unicodedata.normalize("NFKD", name)
    kept = "".join(one for one in letters if not unicodedata.combining(one))
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", kept)
    if not plain.strip("_-"):  # no valid character left
        return f"tool_{digest(name)}"
    return plain[:NAME_LIMIT]


def digest(text: str) -> str:
    """A short hash: equal texts have equal ones in every process."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]


def listed_id(name: str, ids: Iterable[str]) -> str | None:
    """The id that a name in a client's list stands for, or None if it is not among `ids`.

    An id itself counts where it cannot be a name in a list, since it holds a slash.
    """
    return next(
        (one for one in ids if wire_name(one) == name or (one == name and "/" in one)), None
    )


def called_id(name: str, ids: Iterable[str], known: Iterable[str]) -> str | None:
    """The id that a model means by a name that it writes, or None when it is not certain.

    An id, a name from a list, or a tool's own name without its server. Every reading over `known`
    counts, so a name that meant one tool never comes to mean another, neither when the first is
    dropped nor when a tool comes whose whole id it is.

    Args:
        name: As the model wrote it.
        ids: What may be called now.
        known: What the session ever had, in that order, `ids` included or not.
    """
    every = dict.fromkeys([*known, *ids])
    exact = [one for one in every if name in (one, wire_name(one))]
    meant = [one for one in every if one in exact or one.endswith(f"/{name}")]
    if len(meant) > 1 and exact == meant[:1]:  # it was there before the others
        meant = exact
    return meant[0] if len(meant) == 1 and meant[0] in set(ids) else None


def _read_back(spelled: str) -> str:
    """The one id that is spelled like this."""
    if not _PLAIN.fullmatch(spelled):
        return ""
    return spelled.replace("__", "/")


def _free(spelled: str) -> bool:
    return spelled not in META_NAMES and not _HASHED.search(spelled)


def _letters(text: str) -> str:
    """The letters that APIs take; others become single underscores."""
    letters = unicodedata.normalize("NFKD", text)
    kept = "".join(one for one in letters if not unicodedata.combining(one))
    return re.sub(r"_{2,}", "_", _INVALID.sub("_", kept)).strip("_")
