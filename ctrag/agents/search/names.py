"""Tools and servers that a request names."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.fields import compact
from ctrag.text.words import STOPWORDS, words

_MOST_WORDS = 6
_LONGEST_REQUEST = 200
_SHORTEST = 3
_IDENTIFIER = re.compile(r"[_./:]|[a-z0-9][A-Z]")
_RUN = re.compile(r"[\w./:-]+")
"""Text that can be a name or an id, of any length; with an `_IDENTIFIER` in it, nothing else."""


@lru_cache(maxsize=64)
def named_runs(text: str) -> frozenset[str]:
    """All runs of up to six words of a request, written together: what it could name.

    "Book Flight" and `book_flight` are the same run. Runs under three letters are left
    out unless they are a word that is no stopword. Names and ids that are written out count
    whatever their length, as do the parts between their slashes.
    """
    tokens = words(text)[:_LONGEST_REQUEST]
    together = "".join(tokens)
    ends = [0, *accumulate(map(len, tokens))]
    runs = {
        together[start:end]
        for word, start in enumerate(ends)
        for end in ends[word + 1 : word + 1 + _MOST_WORDS]
        if end - start >= _SHORTEST
    }
    runs.update(word for word in tokens if len(word) < _SHORTEST and word not in STOPWORDS)
    for written in _RUN.findall(text):
        if _IDENTIFIER.search(written):
            runs.update(map(compact, (written, *written.split("/"))))
    runs.discard("")
    return frozenset(runs)


def written_out(tool: CatalogueTool, text: str) -> bool:
    """Whether a request holds the tool's id, or a name that cannot be a plain word.

    `book_flight`, `user.get` and `getWeather` are such names, `search` is not: it is a word.
    """
    if tool.server and _stands_in(tool.id, text):
        return True
    return bool(_IDENTIFIER.search(tool.name)) and _stands_in(tool.name, text)


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w./]){re.escape(name)}(?![\w/])", text) is not None


def named_first(
    order: Sequence[int], tools: Sequence[CatalogueTool], text: str, k: int
) -> list[int]:
    """Reorder so that every tool or server that the request names is among the first `k`.

    Names written out come first. Tools whose names are plain words of the request, and the best
    tool of each named server, take the last places of the first `k` if they were not among them,
    but never the first: plain words may mean something else.

    Args:
        order: Numbers of the tools, best first.
        tools: The tools by number.
        text: The request.
        k: How many are shown.
    """
    runs = named_runs(text)
    spelled = [one for one in order if compact(tools[one].name) in runs]
    written = [one for one in spelled if written_out(tools[one], text)][:k]
    servers: dict[str, int] = {}
    for one in order:
        key = compact(tools[one].server)
        if key in runs:
            servers.setdefault(key, one)
    if not spelled and not servers:
        return list(order)
    shown = [*written, *(one for one in order if one not in written)]
    owed = [one for one in [*spelled, *servers.values()] if one not in shown[:k]]
    owed = list(dict.fromkeys(owed))[: max(k - max(len(written), 1), 0)]
    kept = [one for one in shown[:k] if one not in owed][: k - len(owed)]
    rest = [one for one in shown if one not in kept and one not in owed]
    return [*kept, *owed, *rest]
