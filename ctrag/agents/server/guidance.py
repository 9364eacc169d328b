"""Instructions that come with found tools: parts of skills, rules and policies, under a budget.

A search is answered with what its query, or a tool that it bound, has to do with; each part once a
session. What else a skill holds can be read as a resource.
"""

import mimetypes
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp.types import ReadResourceResult, Resource, TextResourceContents

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.encoders import MiniLMPassageEncoder, PassageEncoder
from ctrag.agents.prompt.fragments import ON_DEMAND, Fragment
from ctrag.agents.prompt.index import CorpusIndex, VectorStore
from ctrag.agents.prompt.instruction_files import MOST_BYTES, bundled
from ctrag.agents.prompt.mentions import Mentions
from ctrag.agents.prompt.on_demand import OnDemand
from ctrag.agents.prompt.settings import FLOOR
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens, token_counter

BUDGET = 1_200
"""Tokens of instructions beside one search."""
MOST = 4
"""Fragments beside one search."""
FOUND_BY_SKILL = 3
"""Tools at most that a search finds because a fitting skill speaks of them."""
SURE = 0.25
"""Cosine from which a skill fits well enough to bring its tools along."""
SESSIONS_KEPT = 10_000
Hidden = Callable[[Mentions], bool]
"""Whether all tools that a document speaks of are ones that the caller may not use."""
PREFIX = "ctrag://instructions/"


@dataclass(frozen=True, slots=True)
class Guide:
    """A fragment as it goes beside found tools."""

    fragment: Fragment
    tools: tuple[str, ...]
    """Ids of the found tools that it speaks of."""
    files: tuple[str, ...]
    """Addresses of the files beside it."""

    def shown(self) -> dict[str, Any]:
        """For the model; empty parts are left out."""
        optional = {"for": list(self.tools), "files": list(self.files)}
        present = {key: value for key, value in optional.items() if value}
        return {"name": self.fragment.id, **present, "text": self.fragment.text}


class Guidance:
    """The instructions of one gateway.

    Args:
        fragments: At least one.
        encoder: MiniLM when None.
        count: Tokens of a text; in the embedded planner's vocabulary when None.
        budget: Tokens beside one search.
        folder: Keeps vectors; None keeps them in memory.
        files: Path of each file that can be read, by its address after `PREFIX`.
    """

    def __init__(
        self,
        fragments: Sequence[Fragment],
        *,
        encoder: PassageEncoder | None = None,
        count: CountTokens | None = None,
        budget: int = BUDGET,
        folder: Path | None = None,
        files: Mapping[str, Path] | None = None,
    ) -> None:
        self.fragments = tuple(fragments)
        self.budget = budget
        self._count = count or token_counter()
        self._encoder = encoder or MiniLMPassageEncoder()
        self._files = dict(files or {})
        self._on_demand = OnDemand(self.fragments)
        self._index: CorpusIndex | None = None
        if self.fragments:
            store = VectorStore(
                self._encoder, None if folder is None else folder / "instructions.npz"
            )
            self._index = CorpusIndex([one.searched for one in self.fragments], store)
        self._given: OrderedDict[str, set[str]] = OrderedDict()

    def spoken_of(
        self, query: str, tools: Iterable[CatalogueTool], found: Iterable[str]
    ) -> list[CatalogueTool]:
        """Tools that the skill fitting best speaks of, and that were not found.

        Args:
            query: What was searched for.
            tools: Those that the caller may see.
            found: Ids of those found already.
        """
        fits = self._on_demand.fits(query) if self._on_demand.mentions else {}
        best = max(fits, key=lambda one: fits[one], default="")
        if not best or fits[best] < SURE:
            return []
        names = self._on_demand.mentions[best]
        known = set(found)
        fitting = (one for one in tools if one.id not in known and names.speaks_of(one))
        return [one for one, _ in zip(fitting, range(FOUND_BY_SKILL), strict=False)]

    def beside(
        self,
        query: str,
        bound: Sequence[CatalogueTool],
        session: str,
        hidden: Hidden | None = None,
        *,
        sure: bool = True,
    ) -> list[Guide]:
        """What a search is answered with beside its tools, best first, within the budget.

        Args:
            query: What was searched for.
            bound: The found tools.
            session: Its handle: it gets each fragment once.
            hidden: What the caller may not be told of; None tells all.
            sure: Whether the tools surely fit; if not, what speaks of them must fit the query too.
        """
        if self._index is None:
            return []
        matches = self._index.evidence(self._encoder.encode(query), query)
        near = self._on_demand.near(matches, FLOOR, query)
        tools = {one.id: one for one in bound}
        told = self._session(session)
        scored = []
        for at, one in enumerate(self.fragments):
            names = self._on_demand.mentions.get(one.document)
            mine = [key for key, tool in tools.items() if names and names.speaks_of(tool)]
            mine += [
                key for key, tool in tools.items() if tool.server and tool.server == one.domain
            ]
            policy = one.kind not in ON_DEMAND and bool(mine)
            if one.id in told or not (near[at] or (sure and (policy or (mine and one.place == 0)))):
                continue
            if hidden and names and hidden(names):
                continue
            score = float(matches.cosine[at]) + 0.5 * bool(mine) + 0.1 * (one.place == 0)
            scored.append((score + one.always, at, tuple(dict.fromkeys(mine))))
        scored.sort(key=lambda row: (-row[0], row[1]))
        return self._fitting(scored, told)

    def _fitting(
        self, scored: Sequence[tuple[float, int, tuple[str, ...]]], told: set[str]
    ) -> list[Guide]:
        room = self.budget
        found: list[Guide] = []
        for _, at, mine in scored:
            one = self.fragments[at]
            if len(found) == MOST:
                break
            if one.tokens > room:
                continue
            room -= one.tokens
            told.add(one.id)
            found.append(Guide(one, mine, self._beside(one) if one.place == 0 else ()))
        return found

    def _beside(self, one: Fragment) -> tuple[str, ...]:
        mine = f"{quote(one.document, safe='')}/"
        return tuple(PREFIX + name for name in self._files if name.startswith(mine))[: MOST * 5]

    def _session(self, session: str) -> set[str]:
        told = self._given.setdefault(session, set())
        self._given.move_to_end(session)
        while len(self._given) > SESSIONS_KEPT:
            self._given.popitem(last=False)
        return told

    def resources(self, hidden: Hidden | None = None) -> list[Resource]:
        """Each document that the caller may be told of, by its address, with what it is for."""
        names = self._on_demand.mentions
        about = {
            one.document: one.about
            for one in self.fragments
            if not (hidden and one.document in names and hidden(names[one.document]))
        }
        return [
            Resource(
                uri=f"{PREFIX}{quote(document, safe='')}",
                name=document,
                description=said or None,
                mime_type="text/markdown",
            )
            for document, said in about.items()
        ]

    def read(self, uri: str, hidden: Hidden | None = None) -> ReadResourceResult:
        """A document as it is served, or a file beside a skill.

        Raises:
            ValueError: There is none of that address, or the file is no text.
        """
        name = uri.removeprefix(PREFIX)
        of = name.partition("/")[0]
        told = {str(one.uri).removeprefix(PREFIX) for one in self.resources(hidden)}
        parts = [one for one in self.fragments if quote(one.document, safe="") == name]
        if of not in told:
            raise InputError(f"uri: there are no instructions {uri[:200]!r} here")
        if parts:
            text, mime = "\n\n".join(one.text for one in parts), "text/markdown"
        elif name in self._files:
            path = self._files[name]
            mime = mimetypes.guess_type(path.name)[0] or "text/plain"
            try:
                if path.stat().st_size > MOST_BYTES:
                    raise InputError(f"uri: {uri[:200]!r} is larger than {MOST_BYTES >> 20} MB")
                text = path.read_text(encoding="utf-8-sig")
            except (UnicodeDecodeError, OSError):
                raise InputError(f"uri: {uri[:200]!r} is no text that can be read") from None
        else:
            raise InputError(f"uri: there are no instructions {uri[:200]!r} here")
        content = TextResourceContents(uri=uri, mime_type=mime, text=text)
        return ReadResourceResult(contents=[content])


def files_of(skills: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """The files beside skills, by their address after `PREFIX`.

    Args:
        skills: (document, its `SKILL.md`).
    """
    return {
        f"{quote(document, safe='')}/{quote(name)}": path.parent / name
        for document, path in skills
        for name in bundled(path)
    }
