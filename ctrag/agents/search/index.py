"""Search in the tool catalogue of any agent."""

import time
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from ctrag.agents.catalogue.access import AccessRules, Expert, Principal
from ctrag.agents.catalogue.tool import Catalogue, CatalogueTool, read_catalogue
from ctrag.agents.search.affinity import Affinity, Event
from ctrag.agents.search.beliefs import NextToolModel, fitting, with_affinity, with_next_tool
from ctrag.agents.search.collection import ToolCollection, open_store
from ctrag.agents.search.duplicates import groups_of
from ctrag.agents.search.names import named_first, named_runs
from ctrag.agents.search.parts import parts_of
from ctrag.agents.search.pool import Pool
from ctrag.agents.search.ranker import ToolRanker, tool_ranker
from ctrag.agents.search.results import ToolHit, ToolSearch, hits_of
from ctrag.agents.search.surfacing import LIMIT, NEAR, Given, surface, surfacing_rule
from ctrag.agents.search.tiers import Tier, best_first, expert_score, merged
from ctrag.errors import InputError
from ctrag.models.encoder import Encoder
from stores.tools.protocol import ToolStore

CANDIDATES = 30
"""Tools that each of the two measures retrieves per reading, or `k` if larger."""
LEXICAL_CANDIDATES = 10
"""The same for lexical search, which is for speed: more took longer without finding more needed
tools among the first five (docs/log.md)."""
Mode = Literal["hybrid", "lexical"]

__all__ = ["CANDIDATES", "NextToolModel", "ToolHit", "ToolIndex", "ToolSearch"]


class ToolIndex(ToolCollection):
    """A catalogue that is searched while tools are added, changed and removed.

    Candidates come from a store (memory, DuckDB or PostgreSQL) by dense and lexical evidence, with
    access rules applied in its query; a small ranker orders them. Safe to use from many threads.

    Example::

        index = ToolIndex.from_file("tools.json")
        for hit in index.search("book a flight to Rome", k=5):
            print(hit.tool.id, hit.score)
    """

    def __init__(
        self,
        tools: Sequence[CatalogueTool] = (),
        encoder: Encoder | None = None,
        access: AccessRules | None = None,
        *,
        experts: Iterable[Expert] = (),
        store: ToolStore | None = None,
        ranker: ToolRanker | None = None,
        next_tool: NextToolModel | None = None,
        next_tool_weight: float = 0.3,
        lexical_only: bool = False,
    ) -> None:
        """Index `tools` in addition to those in the store.

        Args:
            tools: The catalogue.
            encoder: Makes the vectors; None uses the settings' encoder with a cache on disk.
            access: Who sees what; None keeps the store's rules; without any, everybody sees
                everything.
            experts: Configured agents.
            store: Where tools are kept; memory when None.
            ranker: Orders the candidates; `tool_ranker` when None.
            next_tool: Model of which tool comes next.
            next_tool_weight: Its share beside the ranker, 0 (nothing) to 1 (alone).
            lexical_only: Make no vectors.

        Raises:
            ValueError: There is no tool at all, two have one id, or the weight is out of range.
        """
        if not 0 <= next_tool_weight <= 1:
            raise InputError(f"next_tool_weight: must be between 0 and 1, not {next_tool_weight}")
        super().__init__(tools, encoder, access, store, lexical_only=lexical_only)
        self._ranker = tool_ranker() if ranker is None else ranker
        self.next_tool, self.next_tool_weight = next_tool, next_tool_weight
        self.experts = {one.name: one for one in experts}
        text = self.store.fact("affinity")
        self.affinity = Affinity() if text is None else Affinity.from_json(text)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        encoder: Encoder | None = None,
        access: AccessRules | None = None,
        *,
        next_tool: NextToolModel | None = None,
        next_tool_weight: float = 0.3,
        lexical_only: bool = False,
        server: str = "",
    ) -> "ToolIndex":
        """An index in memory over a catalogue file; `catalogue` says which formats there are.

        `server` is that of tools that name none, and of an OpenAPI document's.

        Raises:
            ValueError: The file breaks a rule.
        """
        file = read_catalogue(Path(path), server)
        return cls(
            file.tools,
            encoder,
            file.access if access is None else access,
            experts=file.experts,
            next_tool=next_tool,
            next_tool_weight=next_tool_weight,
            lexical_only=lexical_only,
        )

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        catalogue: str | Path | Catalogue | None = None,
        encoder: Encoder | None = None,
        *,
        next_tool: NextToolModel | None = None,
    ) -> "ToolIndex":
        """An index over a store that outlives the process.

        Args:
            store: A DuckDB file, which this process then owns, or a `postgresql://` address; the
                settings' store when None.
            catalogue: Tools to add, with their rules; None uses the store as it is.
            encoder: See the class.
            next_tool: See the class.

        Raises:
            StoreUnavailable: Another process owns the file, or the server cannot be reached.
            ValueError: The catalogue breaks a rule, or there is no tool at all.
        """
        file = catalogue if isinstance(catalogue, Catalogue) else None
        if catalogue is not None and file is None:
            file = read_catalogue(Path(str(catalogue)))
        opened = open_store(store)
        try:
            if file is None:
                return cls((), encoder, store=opened, next_tool=next_tool)
            return cls(
                file.tools,
                encoder,
                file.access,
                experts=file.experts,
                store=opened,
                next_tool=next_tool,
            )
        except BaseException:
            opened.close()
            raise

    def search(
        self,
        text: str,
        k: int = 5,
        user: Principal | str | None = None,
        history: Sequence[str] = (),
        *,
        exclude: Collection[str] = (),
        allow: Collection[str] | None = None,
        expert: Expert | str | None = None,
        mode: Mode = "hybrid",
    ) -> list[ToolHit]:
        """The `k` best tools for a request, best first; ties keep the catalogue's order.

        Args:
            text: What the tool should do.
            k: How many tools at most.
            user: The caller. Only matters with access rules: then unknown callers, including None,
                see nothing.
            history: Ids of the tools called so far, oldest first; only `next_tool` reads them.
            exclude: Ids that are left out, such as the always-available tools.
            allow: When not None, only these ids are searched.
            expert: A configured agent, or its name: its tools come first, its list restricts
                the search.
            mode: `lexical` leaves the encoder out and answers in about a millisecond.

        Raises:
            ValueError: The text is empty or not Unicode, `k` is not positive, or the expert is
                unknown.
        """
        found = self.find(
            text, k, user, history, exclude=exclude, allow=allow, expert=expert, mode=mode
        )
        return found.hits

    def find(
        self,
        text: str,
        k: int = 5,
        user: Principal | str | None = None,
        history: Sequence[str] = (),
        *,
        exclude: Collection[str] = (),
        allow: Collection[str] | None = None,
        expert: Expert | str | None = None,
        mode: Mode = "hybrid",
    ) -> ToolSearch:
        """Like `search`, with whether anything fits, the request's parts, and a trace."""
        _check_request(text, k)
        began = time.perf_counter()
        agent = self._expert(expert)
        seen = self._rules.filter(user, exclude, allow, agent)
        dense = mode == "hybrid" and not self.lexical_only
        limit = CANDIDATES if dense else LEXICAL_CANDIDATES
        parts = [text, *(one for one in parts_of(text) if one != text)]
        vectors = self.encode_request(parts) if dense else None
        encoded = time.perf_counter()
        pool = Pool(self.store, self.known, seen, max(k, limit))
        readings = pool.read(parts, vectors, named_runs(text))
        ranked = self._ranker.rank(readings, dense=dense)
        next_tool, weight = self.next_tool, self.next_tool_weight
        beliefs = with_next_tool(next_tool, weight, pool, ranked.beliefs, text, history, CANDIDATES)
        if user is not None:
            beliefs = with_affinity(self.affinity, pool, beliefs, _name(user))
        order = pool.order(beliefs)
        order = named_first(order, [tool for tool, _ in pool.tools], text, k)
        database = [(pool.found[row].tool_id, row) for row in order]
        tiers: list[tuple[Tier, Sequence[tuple[str, int]]]] = [
            ("expert", self._expert_tier(text, agent, pool)),
            ("system", self._system_tier(text, pool)),
            ("database", database),
        ]
        chosen = merged(tiers, max(k, NEAR))
        rows = [row for tier, _, row in chosen[:NEAR] if tier == "database"]
        firsts = groups_of([pool.tools[row] for row in rows])
        copies = {
            row: rows[first] for row, first in zip(rows, firsts, strict=True) if rows[first] != row
        }
        fits = fitting(self._ranker, readings, ranked, copies, beliefs, dense=dense)
        near = hits_of(chosen, pool.tools, readings, beliefs, fits, copies, self._ranker.least)
        rule = surfacing_rule()
        certainty = rule.certainty(near[:NEAR], len(parts), dense=dense)
        trace: dict[str, object] = {
            "mode": mode if dense else "lexical",
            "visible": pool.total,
            "governed": seen.scopes is not None,
            "scopes": sorted(seen.scopes or ()),
            "confined_to": None if seen.allow is None else len(seen.allow),
            "excluded": len(seen.exclude),
            "candidates": len(pool.found),
            "readings": [{"text": one, "share": round(share, 4)} for one, share in ranked.readings],
            "tiers": {tier: [one for one, _ in found][:k] for tier, found in tiers},
            "floor": rule.doubt,
            "certainty": round(certainty, 4),
            "prior_weight": self.next_tool_weight if self.next_tool is not None else 0.0,
            "encode_ms": round(1e3 * (encoded - began), 3),
            "search_ms": round(1e3 * (time.perf_counter() - encoded), 3),
        }
        sure = certainty >= rule.doubt
        return ToolSearch(near[:k], sure, parts, certainty, near, pool.total, trace)

    def give(
        self,
        text: str,
        limit: int = LIMIT,
        user: Principal | str | None = None,
        history: Sequence[str] = (),
        *,
        exclude: Collection[str] = (),
        allow: Collection[str] | None = None,
        expert: Expert | str | None = None,
    ) -> Given:
        """What an agent is to be given for a request: as many tools as there is need of, with a
        note where it is doubtful that any fits, and none where nothing does (`surfacing`).

        Args:
            text: What the tool should do.
            limit: Tools at most.
            user: See `search`, as all others.
            history: See `search`.
            exclude: See `search`.
            allow: See `search`.
            expert: See `search`.

        Raises:
            ValueError: See `search`.
        """
        found = self.find(text, limit, user, history, exclude=exclude, allow=allow, expert=expert)
        return surface(found, text, limit)

    def learn(self, user: Principal | str | None, tool_id: str, event: Event) -> None:
        """Count that a tool was found, used, or used with or without success."""
        self.affinity.learn(_name(user), tool_id, event)

    def warm_start(self, user: Principal | str | None, k: int = 5) -> list[CatalogueTool]:
        """Tools to bind before the first search: all pinned ones, then the `k` best liked."""
        pinned = [one for one, tool in list(self._tools.items()) if tool.pinned]
        hot = self.resolve(pinned, user)
        liked = self.resolve(self.affinity.liked(_name(user)), user)
        return [*hot, *[tool for tool in liked if tool not in hot][:k]]

    def preload(
        self, text: str, user: Principal | str | None = None, k: int = 5, categories: int = 2
    ) -> list[CatalogueTool]:
        """Tools of the likeliest categories for a first message, before any search is asked for.

        A tool's category is the one it names, else its server. Categories are ordered by the
        summed belief of their candidates, tools inside by their own. Where nothing fits, as after a
        greeting, there are none.
        """
        found = self.find(text, CANDIDATES, user)
        hits = found.hits if found.fits else []
        sums: dict[str, float] = {}
        for hit in hits:
            category = hit.tool.category or hit.tool.server
            sums[category] = sums.get(category, 0.0) + hit.score
        likely = set(sorted(sums, key=lambda one: -sums[one])[:categories])
        return [hit.tool for hit in hits if (hit.tool.category or hit.tool.server) in likely][:k]

    def flush(self) -> None:
        """Write what was learned about callers to the store.

        Other processes' counts are kept and adopted.

        Raises:
            StoreUnavailable: The store cannot be written; the next call tries again.
        """
        self.affinity.write(partial(self.store.change_fact, "affinity"))

    def close(self) -> None:
        """Write what was learned and close the store."""
        try:
            self.flush()
        finally:
            self.store.close()

    def _expert(self, expert: Expert | str | None) -> Expert | None:
        if expert is None or isinstance(expert, Expert):
            return expert
        if expert not in self.experts:
            known = ", ".join(self.experts) or "none"
            raise InputError(f"expert: {expert!r} is unknown; known: {known}")
        return self.experts[expert]

    def _expert_tier(self, text: str, expert: Expert | None, pool: Pool) -> list[tuple[str, int]]:
        if expert is None:
            return []
        tools = pool.visible(expert.tools)
        scores = best_first({one.id: expert_score(text, one) for one in tools})
        return [(tool_id, pool.number(tool_id)) for tool_id, _ in scores]

    def _system_tier(self, text: str, pool: Pool) -> list[tuple[str, int]]:
        if not self._system:
            return []
        scores = best_first({one: words.score(text) for one, words in list(self._system.items())})
        visible = {tool.id for tool in pool.visible([one for one, _ in scores])}
        return [(one, pool.number(one)) for one, _ in scores if one in visible]


def _check_request(text: str, k: int) -> None:
    if not text.strip():
        raise InputError("text: must not be empty")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("text: holds bytes that are no UTF-8") from None
    if k < 1:
        raise InputError(f"k: must be at least 1, not {k}")


def _name(user: Principal | str | None) -> str:
    return user.user if isinstance(user, Principal) else user or ""
