"""Skills and rules: which have to do with a request, and the tools that they speak of."""

from collections.abc import Sequence, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.prompt.fragments import ON_DEMAND, Fragment
from ctrag.agents.prompt.index import CorpusMatches
from ctrag.agents.prompt.mentions import Mentions
from ctrag.agents.prompt.scopes import about, named_files
from ctrag.agents.prompt.tool_documents import ToolDocument
from ctrag.models.encoder import Matrix, load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from ctrag.text.words import words

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FLOOR, OF_THE_BEST = 0.2, 0.8
"""Least cosine of a skill or rule to a request, and as a share of the best one's; by
`ctrag eval skills` with the shipped encoder of tools."""


MOST_READ = 4_000
"""Characters of a skill that are encoded; the encoder reads far fewer tokens."""


class OnDemand:
    """The skills and rules among the fragments of one builder."""

    def __init__(self, fragments: Sequence[Fragment], tools: Sequence[ToolDocument] = ()) -> None:
        """Find out which tools each document speaks of.

        Args:
            fragments: All there are; those of other kinds speak of no tool here.
            tools: All there are.
        """
        self._units = tuple(fragments)
        texts: dict[str, list[Fragment]] = {}
        for one in fragments:
            if one.kind in ON_DEMAND:
                texts.setdefault(one.document, []).append(one)
        self.mentions = {
            document: Mentions.of((part.text for part in parts), parts[0].tools)
            for document, parts in texts.items()
        }
        """By document."""
        self._texts = {
            document: _described(document, parts[0]) for document, parts in texts.items()
        }
        self._encoder: CachedEncoder | None = None
        self._vectors: Matrix = np.empty((0, 0), dtype=np.float32)
        self._fits = lru_cache(maxsize=64)(self._cosines)
        rows = {
            document: np.array([names.speaks_of(tool.tool) for tool in tools], dtype=bool)
            for document, names in self.mentions.items()
        }
        none = np.zeros(len(tools), dtype=bool)
        of_each = [rows.get(one.document, none) for one in fragments]
        self.speaks: Flags = np.array(of_each, dtype=bool).reshape(len(fragments), len(tools))
        """(fragments, tools)."""
        self._always = np.array([one.always for one in fragments], dtype=bool)

    def near(self, found: CorpusMatches, floor: float, text: str) -> Flags:
        """(fragments,): which have to do with a request.

        Of policies, those whose cosine reaches the floor (or half of it, with the most words in
        common). Of skills and rules those that fit nearly as well as the best one, by the encoder
        of tools; of long ones, the parts after the first that reach the floor too. In any case
        what holds for every request and what is about a file that the request names; never what
        a place or a file alone makes of use, where others are named.
        """
        near = (found.cosine >= floor) | ((found.cosine >= floor / 2) & (found.lexical >= 1))
        if self.mentions:
            fit = self.fits(text)
            least = max(FLOOR, OF_THE_BEST * max(fit.values()))
            for at, one in enumerate(self._units):
                if one.document in fit:
                    fitting = fit[one.document] >= least
                    near[at] = fitting and (one.place == 0 or bool(near[at]))
        files = named_files(text)
        for at, one in enumerate(self._units):
            if not one.globs:
                continue
            if about(one.globs, files):
                near[at] = True
            elif not one.about and (files or one.kind == "rule"):
                near[at] = False
        return np.asarray(near | self._always)

    def fits(self, text: str) -> dict[str, float]:
        """Cosine of each skill and rule to a request, by its document."""
        return self._fits(text)

    def _cosines(self, text: str) -> dict[str, float]:
        if self._encoder is None:
            self._encoder = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
            self._vectors = self._encoder.encode(list(self._texts.values()))
        found = self._vectors @ self._encoder.encode_new([text])[0]
        return dict(zip(self._texts, map(float, found), strict=True))

    def added(
        self, near: Flags, fragments: Floats, tools: Floats, called: Set[int], weight: float
    ) -> tuple[Floats, Floats]:
        """What to add to the scores of (fragments, tools).

        Args:
            near: See `near`.
            fragments: Chance of each fragment.
            tools: Chance of each tool.
            called: Rows of tools called before.
            weight: Added where it is sure.
        """
        of_fragments = self.speaks @ tools
        for row in called:
            of_fragments = np.maximum(of_fragments, self.speaks[:, row])
        of_fragments = np.where(self._always, 1.0, np.minimum(of_fragments, 1.0))
        sure = np.where(near, fragments, 0.0)
        sure = sure / max(float(sure.max(initial=0.0)), 1e-9)
        of_tools = (self.speaks * sure[:, None]).max(axis=0, initial=0.0)
        return weight * of_fragments, np.asarray(weight * of_tools)

    @property
    def always(self) -> Flags:
        """(fragments,): which hold for every request."""
        return self._always


def _described(document: str, opening: Fragment) -> str:
    """A skill as the encoder of tools reads it: like a tool, by name and what it is for."""
    name = " ".join(words(document.rpartition("/")[2]))
    return f"{name}: {opening.about} {opening.text}"[:MOST_READ]
