"""Names of tools as models write them."""

import re
from collections.abc import Iterable, Sequence

_SEPARATORS = ("/", "__", ".", ":", "::", "_", "-")
_PREFIX = re.compile(r"^(?:mcp(?:__|[_./:-])|(?:functions|tools|default_api)[./:])")
_OWN = re.compile(r"^ctrag(?:__|[_./:-])(?=[^_])")
"""The name that the gateway itself usually has in a client."""
_TOKENS = re.compile(r"<\|.*", re.DOTALL)
"""A model's own marks, which some servers of models leave behind a tool's name."""


def letters(name: str) -> str:
    """Letters and digits alone, folded."""
    return "".join(one for one in name.casefold() if one.isalnum())


def meant(name: str, ids: Iterable[str]) -> list[str]:
    """The ids that a spelling of a name may mean: of one server and name in another notation.

    `mcp__time__now`, `time.now`, `time:now`, `functions.time__now` and `mcp__gateway__time__now`
    are all `time/now`. The tool's own name has to be exact.
    """
    spelled, bare = plain_names(name)[0], plain_names(name)[-1]
    forms = {spelled, bare}
    if bare != spelled:  # without the name that the server or gateway has in the client
        forms.add(bare.partition("__")[2])
    loose = _SEPARATORS if bare != spelled else _SEPARATORS[:5]
    return [one for one in ids if not forms.isdisjoint(_spellings(one, loose))]


def plain_names(name: str) -> list[str]:
    """A tool's name as a model wrote it, without quotes, brackets and the model's own marks, and
    without what model APIs write before it (`functions.`)."""
    plain = _TOKENS.sub("", name).strip().strip("`'\"").removesuffix("()")
    return list(dict.fromkeys([plain, _PREFIX.sub("", plain)]))


def behind_gateway(name: str) -> list[str]:
    """What stands behind the gateway's own name, which clients write before a tool's:
    `mcp__ctrag__create_issue` is `create_issue`."""
    rest = [_OWN.sub("", one) for one in plain_names(name) if _OWN.match(one)]
    return rest[:1]


def alike(name: str, ids: Iterable[str]) -> list[str]:
    """Ids whose letters and digits, or those of their tools' own names, a name has: to propose
    them, not to call them."""
    forms = set(map(letters, plain_names(name)))
    return [one for one in ids if {letters(one), letters(one.partition("/")[2])} & forms - {""}]


def _spellings(tool_id: str, separators: Sequence[str]) -> set[str]:
    server, found, name = tool_id.partition("/")
    return {f"{server}{one}{name}" for one in separators} if found else {tool_id}
