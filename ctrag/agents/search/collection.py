"""The tools of an index, with terms and vectors; may change during searches."""

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ctrag.agents.catalogue.access import AccessRules, Principal
from ctrag.agents.catalogue.tool import CatalogueTool, check_identities
from ctrag.agents.search.fields import ToolTerms, compact, tool_terms
from ctrag.agents.search.stored_rules import StoredRules
from ctrag.agents.search.tiers import SystemKeywords
from ctrag.errors import InputError
from ctrag.extras import need
from ctrag.models.encoder import Encoder, Matrix, encoder_name, load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from stores.tools.memory import MemoryToolStore
from stores.tools.protocol import Filter, ToolCandidate, ToolRow, ToolStore

EVERYTHING = Filter(always=True, unchecked=True)
"""Sees all tools regardless of rules: for the index itself, never for a caller."""
_NO_VECTORS = "none"
_SPARE = 64


class ToolCollection:
    """A store of tools and access rules, with what is derived from each tool.

    Changes are serialised; searches never wait. A change is one transaction of the store.
    """

    def __init__(
        self,
        tools: Sequence[CatalogueTool],
        encoder: Encoder | None,
        access: AccessRules | None,
        store: ToolStore | None,
        *,
        lexical_only: bool,
    ) -> None:
        check_identities(tools, "tools")
        self.lexical_only = lexical_only
        self._loaded: Encoder | None = encoder
        self.store: ToolStore = MemoryToolStore() if store is None else store
        self._lock = threading.RLock()
        self._tools: dict[str, CatalogueTool] = {}
        self._terms: dict[str, ToolTerms] = {}
        self._system: dict[str, SystemKeywords] = {}
        self._from_others = 0
        """Tools of other processes read since the last check for removed ones."""
        self._check_vectors(encoder)
        for tool in self.tools:
            self._remember(tool)
        if not tools and not self._tools:
            raise InputError("tools: the catalogue is empty")
        self._write([tool for tool in tools if self._tools.get(tool.id) != tool])
        self._rules = StoredRules(self.store, access)

    def _check_vectors(self, encoder: Encoder | None) -> None:
        """Refuse a store with vectors of a different encoder."""
        name = encoder_name(settings().tool_encoder if encoder is None else encoder.name)
        wanted = _NO_VECTORS if self.lexical_only else name
        made = self.store.fact("encoder")
        if made is None:
            self.store.set_fact("encoder", wanted)
        elif made != wanted:
            raise InputError(
                f"encoder: the store has vectors of {made}, not of {wanted}; open it with {made}, "
                "or make a new store"
            )

    @property
    def tools(self) -> list[CatalogueTool]:
        """All tools, in the order they were added; ignores access rules."""
        hashes = self.store.hashes()
        found = self.store.definitions(list(hashes), EVERYTHING)
        return [CatalogueTool.from_json(found[one]) for one in hashes if one in found]

    def get(self, tool_id: str) -> CatalogueTool:
        """The tool of that id; KeyError when there is none. Ignores access rules."""
        found = self.store.definitions([tool_id], EVERYTHING)
        return CatalogueTool.from_json(found[tool_id])

    def add(self, tools: Sequence[CatalogueTool]) -> None:
        """Add tools at the end.

        Raises:
            ValueError: An id is taken, in the index or within `tools`; nothing is added.
        """
        check_identities(tools, "tools")
        with self._lock:
            held = self.store.definitions([one.id for one in tools], EVERYTHING)
            if held:
                raise InputError(f"tools: {next(iter(held))!r} is there already; use update")
            self._write(tools)

    def update(self, tools: Sequence[CatalogueTool]) -> None:
        """Replace the definitions of tools with the same ids.

        Raises:
            ValueError: An id is unknown; nothing is changed.
        """
        check_identities(tools, "tools")
        with self._lock:
            held = self.store.definitions([one.id for one in tools], EVERYTHING)
            if unknown := [one.id for one in tools if one.id not in held]:
                raise InputError(f"tools: {unknown[0]!r} is not in the index; use add")
            self._write(tools)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove tools; unknown ids are ignored."""
        with self._lock:
            self._write([], list(ids))

    def replace_server(self, server: str, tools: Sequence[CatalogueTool]) -> None:
        """Make `tools` the complete list of a server: add, change and remove in one step.

        Raises:
            ValueError: A tool is of another server, or an id appears twice; nothing is changed.
        """
        if other := [tool.id for tool in tools if tool.server != server]:
            raise InputError(f"tools: {other[0]!r} is not of server {server!r}")
        check_identities(tools, f"tools of {server!r}")
        with self._lock:
            kept = {tool.id for tool in tools}
            mine = [one for one, tool in self._tools.items() if tool.server == server]
            self._write(tools, [one for one in mine if one not in kept])

    def resolve(
        self,
        ids: Iterable[str],
        user: Principal | str | None = None,
        *,
        allow: Collection[str] | None = None,
    ) -> list[CatalogueTool]:
        """Full definitions of found tools, in order: the second phase of a search.

        An id that is stale (another server or none) falls back to the one visible tool of the
        same name. Access is checked again; tools that are gone or not visible are left out.
        """
        seen = replace(self._rules.filter(user, allow=allow), always=True)
        wanted = list(dict.fromkeys(ids))
        found = self.store.definitions(wanted, seen)
        resolved: dict[str, CatalogueTool] = {}
        for one in wanted:
            definition = found.get(one) or self._of_that_name(one, seen)
            if definition is not None:
                tool = CatalogueTool.from_json(definition)
                resolved.setdefault(tool.id, tool)
        return list(resolved.values())

    def _of_that_name(self, stale: str, seen: Filter) -> str | None:
        """The definition of the one visible tool with a stale id's name."""
        if self.store.definitions([stale], EVERYTHING):
            return None  # it exists, but the caller may not see it
        name = stale.partition("/")[2] or stale
        same = self.store.definitions(self.store.named(compact(name), seen), seen)
        exact = [one for one in same.values() if CatalogueTool.from_json(one).name == name]
        return exact[0] if len(exact) == 1 else None

    def allowed(self, tool_id: str, user: Principal | str | None = None) -> bool:
        """Whether there is such a tool and the caller may see, and so call, it."""
        seen = replace(self._rules.filter(user), always=True)
        return tool_id in self.store.definitions([tool_id], seen)

    @property
    def access(self) -> AccessRules | None:
        """Who sees what; None where everybody sees everything. Can be set while serving, by this
        index or by another one over the same store."""
        return self._rules.access

    @access.setter
    def access(self, access: AccessRules | None) -> None:
        self._rules.access = access

    def known(self, candidate: ToolCandidate) -> tuple[CatalogueTool, ToolTerms] | None:
        """A candidate's tool and terms; None if it was removed since the query."""
        tool = self._tools.get(candidate.tool_id)
        words = self._terms.get(candidate.content_hash)
        if tool is not None and words is not None:
            return tool, words
        if tool is None or tool.content_hash != candidate.content_hash:  # another process wrote it
            found = self.store.definitions([candidate.tool_id], EVERYTHING)
            if candidate.tool_id not in found:
                return None
            tool = CatalogueTool.from_json(found[candidate.tool_id])
            self._remember(tool)
            self._from_others += 1
            if self._from_others > _SPARE + len(self._tools) // 2:
                self._forget_gone()
        words = self._terms[tool.content_hash] = tool_terms(tool)
        return tool, words

    def _forget_gone(self) -> None:
        """Drop tools that other processes removed, of which this one gets no notice."""
        with self._lock:
            there = self.store.hashes()
            self._tools = {one: tool for one, tool in self._tools.items() if one in there}
            self._system = {one: words for one, words in self._system.items() if one in there}
            self._forget_terms()
            self._from_others = 0

    def _forget_terms(self) -> None:
        kept = {tool.content_hash for tool in self._tools.values()}
        self._terms = {one: terms for one, terms in self._terms.items() if one in kept}

    def encode_request(self, texts: Sequence[str]) -> Matrix:
        """(texts, dimension): unit vectors of requests, which the vector cache does not keep."""
        encoder = self._encoder
        if isinstance(encoder, CachedEncoder):
            return encoder.encode_new(texts)
        return encoder.encode(texts)

    @property
    def encoder_name(self) -> str:
        """Name of the encoder."""
        return self._encoder.name

    @property
    def _encoder(self) -> Encoder:
        if self._loaded is None:
            self._loaded = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
        return self._loaded

    def _remember(self, tool: CatalogueTool) -> None:
        self._tools[tool.id] = tool
        if tool.system:
            self._system[tool.id] = SystemKeywords.of(tool)
        else:
            self._system.pop(tool.id, None)

    def _write(self, tools: Sequence[CatalogueTool], removed: Sequence[str] = ()) -> None:
        with self._lock:
            words = [tool_terms(tool) for tool in tools]
            rows = [
                tool_row(tool, terms, vector)
                for tool, terms, vector in zip(tools, words, self.vectors_of(tools), strict=True)
            ]
            self.store.apply(rows, removed)
            for row, terms in zip(rows, words, strict=True):
                self._terms[row.content_hash] = terms
            for one in removed:
                self._tools.pop(one, None)
                self._system.pop(one, None)
            for tool in tools:
                self._remember(tool)
            if len(self._terms) > _SPARE + 2 * len(self._tools):
                self._forget_terms()

    def vectors_of(self, tools: Sequence[CatalogueTool]) -> list[Matrix]:
        """Vectors of tools; only texts new to the index are encoded."""
        if self.lexical_only:
            return [np.empty(0, dtype=np.float32)] * len(tools)
        hashes = [tool.content_hash for tool in tools]
        held = self.store.vectors(hashes)
        new = {one: tool.text for one, tool in zip(hashes, tools, strict=True) if one not in held}
        if new:
            held.update(zip(new, self._encoder.encode(list(new.values())), strict=True))
        return [held[one] for one in hashes]


def tool_row(tool: CatalogueTool, words: ToolTerms, vector: Matrix) -> ToolRow:
    """A tool as stores keep it."""
    return ToolRow(
        tool_id=tool.id,
        server=tool.server,
        name_key=compact(tool.name),
        server_key=compact(tool.server),
        content_hash=tool.content_hash,
        definition=tool.to_json(),
        always=tool.always,
        terms=words.frequencies,
        vector=vector,
    )


def open_store(place: str | Path | None = None) -> ToolStore:
    """A DuckDB file with a copy in memory, or PostgreSQL for a place that begins with
    `postgresql:`.

    Args:
        place: None takes the settings' store, by default `tools.duckdb` in the home folder.

    Raises:
        StoreUnavailable: Another process owns the file, or the server cannot be reached.
        MissingExtra: The packages for PostgreSQL are not installed.
    """
    if place is None:
        place = settings().tool_store or _own_file()
    if str(place).startswith(("postgresql:", "postgres:")):
        need("a PostgreSQL store", "psycopg", "pgvector", extra="postgres")
        from stores.tools.postgres import PostgresToolStore

        return PostgresToolStore(str(place))
    from stores.tools.duckdb_file import DuckToolStore
    from stores.tools.mirror import MirroredToolStore

    kept = DuckToolStore(place)
    try:
        return MirroredToolStore(kept)
    except BaseException:
        kept.close()
        raise


def _own_file() -> Path:
    folder = settings().home.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "tools.duckdb"
