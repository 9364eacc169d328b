"""A catalogue with requests, in tokens. Needs numpy alone: packed jobs carry this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.core.ragged import ragged, rows_of

Row = Sequence[int]
"""Tokens of a text."""


@dataclass(frozen=True, slots=True)
class TokenisedBenchmark:
    """A catalogue with requests, in tokens."""

    tools: Sequence[Row]
    requests: Sequence[Row]
    needed: Sequence[frozenset[int]]
    """Places in `tools` of what each request needs."""

    @property
    def tokens(self) -> int:
        """How many there are."""
        return sum(map(len, (*self.tools, *self.requests)))

    def arrays(self) -> dict[str, NDArray[np.int32]]:
        """As a file keeps it."""
        found = {}
        for name, rows in (
            ("tools", self.tools),
            ("requests", self.requests),
            ("needed", [sorted(one) for one in self.needed]),
        ):
            found[name], found[f"{name}_lengths"] = ragged(rows)
        return found

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> "TokenisedBenchmark":
        """What `arrays` gave."""
        tools, requests, needed = (
            rows_of(arrays[name], arrays[f"{name}_lengths"])
            for name in ("tools", "requests", "needed")
        )
        return cls(tools, requests, [frozenset(one) for one in needed])
