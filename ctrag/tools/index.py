"""Search in the tool catalogue of any agent."""

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctrag.context.words import terms
from ctrag.encoder import Encoder, load_encoder
from ctrag.tools.access import AccessRules, Principal
from ctrag.tools.catalogue import CatalogueTool, load_catalogue

LEXICAL_WEIGHT = 0.3
"""Share of the lexical score; the rest is the cosine's."""


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that fits a search."""

    tool: CatalogueTool
    score: float
    """Weighted sum of the two below, 0 to 1."""
    cosine: float
    lexical: float
    """BM25 as a share of the best tool's."""
    fits: bool = True
    """False below the floor under which a search says that nothing fits."""
    tier: str = "database"
    """`expert`, `system` or `database`."""


class _Snapshot:
    """One state of the catalogue: searches keep theirs while the next one is made."""

    def __init__(self, tools: Sequence[CatalogueTool], vectors: Any) -> None:
        import bm25s

        self.tools = list(tools)
        self.rows = {tool.id: row for row, tool in enumerate(self.tools)}
        self.vectors = vectors
        searched = [terms(tool.text) for tool in self.tools]
        self.words: Any = None
        if any(searched):  # names in signs only leave nothing to count
            self.words = bm25s.BM25(method="lucene", k1=1.2, b=0.5)
            self.words.index(searched, show_progress=False)

    def lexical(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        vocabulary = {} if self.words is None else self.words.vocab_dict
        known = [word for word in dict.fromkeys(terms(text)) if word in vocabulary]
        if not known:
            return np.zeros(len(self.tools), dtype=np.float32)
        scores = np.asarray(self.words.get_scores(known), dtype=np.float32)
        return scores / max(float(scores.max()), 1e-9)


class ToolIndex:
    """An in-memory index over a catalogue; lexical and dense evidence are added up.

    Safe to search from many threads while tools are added, changed and removed.

    Example::

        index = ToolIndex.from_file("tools.json")
        for hit in index.search("book a flight to Rome", k=5):
            print(hit.tool.id, hit.score)
    """

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        encoder: Encoder | None = None,
        access: AccessRules | None = None,
    ) -> None:
        if not tools:
            raise ValueError("tools: the catalogue is empty")
        self.access = access
        self._encoder = load_encoder() if encoder is None else encoder
        self._lock = threading.Lock()
        self._vectors: dict[str, Any] = {}
        self._state = self._snapshot(tools)

    @classmethod
    def from_file(
        cls, path: str | Path, encoder: Encoder | None = None, access: AccessRules | None = None
    ) -> "ToolIndex":
        """An index over a `.json` catalogue or a `.yaml` toolbox.

        Raises:
            ValueError: The file breaks a rule.
        """
        return cls(load_catalogue(Path(path)), encoder, access)

    @property
    def tools(self) -> list[CatalogueTool]:
        """All tools, in the order they were added."""
        return list(self._state.tools)

    def search(
        self,
        text: str,
        k: int = 5,
        user: Principal | str | None = None,
        history: Sequence[str] = (),
        *,
        exclude: Collection[str] = (),
        allow: Collection[str] | None = None,
    ) -> list[ToolHit]:
        """The `k` best tools for a request, best first; ties keep the catalogue's order.

        Args:
            text: What the tool should do.
            k: How many tools at most.
            user: Who asks. Only matters where the catalogue has access rules: then somebody
                unknown, None among them, sees nothing.
            history: Ids of the tools called so far, oldest first.
            exclude: Ids that are left out, such as the always-available tools.
            allow: When not None, only these ids are searched.

        Raises:
            ValueError: The text is empty or no Unicode, or `k` is not positive.
        """
        if not text.strip():
            raise ValueError("text: must not be empty")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError("text: holds bytes that are no UTF-8")
        if k < 1:
            raise ValueError(f"k: must be at least 1, not {k}")
        state = self._state
        left_out = set(exclude)
        seen = self._visible(state, user)
        rows = [
            row
            for row, tool in enumerate(state.tools)
            if (seen is None or tool.id in seen)
            and tool.id not in left_out
            and (allow is None or tool.id in allow)
        ]
        if not rows:
            return []
        cosines = state.vectors @ self._encoder.encode([text])[0]
        lexical = state.lexical(text)
        scores = (1 - LEXICAL_WEIGHT) * cosines + LEXICAL_WEIGHT * lexical
        order = np.asarray(rows)[np.argsort(-scores[rows], kind="stable")[:k]]
        return [
            ToolHit(state.tools[row], float(scores[row]), float(cosines[row]), float(lexical[row]))
            for row in order
        ]

    def get(self, tool_id: str) -> CatalogueTool:
        """The tool of that id; KeyError when there is none. Looks at no access rule."""
        state = self._state
        return state.tools[state.rows[tool_id]]

    def resolve(
        self, ids: Iterable[str], user: Principal | str | None = None
    ) -> list[CatalogueTool]:
        """Full definitions of found tools, in order: the second phase of a search.

        An id that is stale (another server or none) falls back to the one visible tool of the
        same name. Access is checked again; what the caller may not see, or is gone, is left out.
        """
        state = self._state
        seen = self._visible(state, user)
        visible = [tool for tool in state.tools if seen is None or tool.id in seen]
        by_id = {tool.id: tool for tool in visible}
        by_name: dict[str, list[CatalogueTool]] = {}
        for tool in visible:
            by_name.setdefault(tool.name, []).append(tool)
        found: dict[str, CatalogueTool] = {}
        for one in ids:
            same = by_name.get(one.rpartition("/")[2], [])
            if one in by_id:
                found[one] = by_id[one]
            elif one not in state.rows and len(same) == 1:
                found[same[0].id] = same[0]
        return list(found.values())

    def allowed(self, tool_id: str, user: Principal | str | None = None) -> bool:
        """Whether there is such a tool and the caller may see, and so call, it."""
        state = self._state
        seen = self._visible(state, user)
        return tool_id in state.rows and (seen is None or tool_id in seen)

    def add(self, tools: Sequence[CatalogueTool]) -> None:
        """Add tools at the end.

        Raises:
            ValueError: An id is taken, in the index or within `tools`; nothing is added.
        """
        with self._lock:
            held = set(self._state.rows)
            for tool in tools:
                if tool.id in held:
                    raise ValueError(f"tools: {tool.id!r} is there already; use update")
                held.add(tool.id)
            self._state = self._snapshot([*self._state.tools, *tools])

    def update(self, tools: Sequence[CatalogueTool]) -> None:
        """Put new definitions in the place of those with the same ids.

        Raises:
            ValueError: An id is unknown; nothing is changed.
        """
        with self._lock:
            changed = {tool.id: tool for tool in tools}
            if unknown := [one for one in changed if one not in self._state.rows]:
                raise ValueError(f"tools: {unknown[0]!r} is not in the index; use add")
            self._state = self._snapshot([changed.get(t.id, t) for t in self._state.tools])

    def remove(self, ids: Iterable[str]) -> None:
        """Take tools out; ids that are gone already are no fault."""
        gone = set(ids)
        with self._lock:
            self._state = self._snapshot([t for t in self._state.tools if t.id not in gone])

    def replace_server(self, server: str, tools: Sequence[CatalogueTool]) -> None:
        """Make `tools` all that a server has: adds, changes and removes in one step.

        Raises:
            ValueError: A tool is of another server, or an id appears twice; nothing is changed.
        """
        ids = [tool.id for tool in tools]
        if other := [tool.id for tool in tools if tool.server != server]:
            raise ValueError(f"tools: {other[0]!r} is not of server {server!r}")
        if len(set(ids)) < len(ids):
            raise ValueError(f"tools: server {server!r} names a tool twice")
        with self._lock:
            kept = [tool for tool in self._state.tools if tool.server != server]
            self._state = self._snapshot([*kept, *tools])

    def _visible(self, state: _Snapshot, user: Principal | str | None) -> set[str] | None:
        return None if self.access is None else self.access.visible(state.rows, user)

    def _snapshot(self, tools: Sequence[CatalogueTool]) -> _Snapshot:
        hashes = [tool.content_hash for tool in tools]
        new = {
            one: tool.text
            for one, tool in zip(hashes, tools, strict=True)
            if one not in self._vectors
        }
        encoded = self._encoder.encode(list(new.values()))
        vectors = {**self._vectors, **dict(zip(new, encoded, strict=True))}
        self._vectors = {one: vectors[one] for one in hashes}
        return _Snapshot(tools, np.array([vectors[one] for one in hashes], dtype=np.float32))
