"""The domain of a task, from policies, tools and the calls so far.

The steps of a task nearly always stay with one server, while the request often names things of
several. Weights were chosen on customer-service episodes and hold on BFCL's multi-turn requests
(docs/instruction-retrieval.md).
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LEAST = 1e-3
"""Share of a domain without evidence: it is pushed down but not out."""


class Domains:
    """The domains of the units of one builder."""

    def __init__(self, fragments: Sequence[str], tools: Sequence[str]) -> None:
        """Number the domains.

        Args:
            fragments: Domain of each fragment.
            tools: Domain of each tool; empty for none.
        """
        self.names = sorted({*fragments, *tools} - {""})
        rows = {name: row for row, name in enumerate(["", *self.names])}
        self._fragments = np.array([rows[one] for one in fragments], dtype=np.int64)
        self._tools = np.array([rows[one] for one in tools], dtype=np.int64)

    def shares(self, fragments: Floats, tools: Floats) -> Floats:
        """(1 + domains,): how likely each is, none first; the mean of both corpora.

        Args:
            fragments: Chance of each fragment; empty when there are none.
            tools: Chance of each tool.
        """
        size = len(self.names) + 1
        by_tools = np.asarray(np.bincount(self._tools, tools, minlength=size), dtype=np.float64)
        if not len(self._fragments):
            return by_tools
        return (by_tools + np.bincount(self._fragments, fragments, minlength=size)) / 2

    def added(
        self, shares: Floats, called: Collection[str], weight: float, called_weight: float
    ) -> tuple[Floats, Floats]:
        """What to add to the scores of (fragments, tools).

        Args:
            shares: See `shares`.
            called: Domains known to be the task's; empty if unknown.
            weight: Of the log share of each domain, while nothing is known.
            called_weight: Of the known domains.
        """
        if called:
            each = np.array([0.0, *(called_weight * (one in called) for one in self.names)])
        else:
            known = np.concatenate([[0.0], shares[1:]])
            each = weight * np.log(np.maximum(known, _LEAST))
        return each[self._fragments], each[self._tools]
