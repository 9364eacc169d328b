"""Gain of a unit from earlier steps: bandit feedback from traces (paper, 3.4)."""

import json
import threading
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ctrag.errors import InputError
from stores.files import write_text

STRENGTH = 8.0
"""Exposures that the prior counts for, so that a unit survives a single miss."""
_PRIOR = 0.5


class UnitCounts(BaseModel):
    """How often a unit was in a prompt, and how often the step then used it."""

    model_config = ConfigDict(extra="forbid")
    exposed: int = Field(default=0, ge=0)
    used: int = Field(default=0, ge=0)


_TABLE = TypeAdapter(dict[str, UnitCounts])


class Gains:
    """Counts of units' use and exposure; a factor of their gain, 1 without feedback. Safe for many
    threads."""

    def __init__(self, counts: dict[str, UnitCounts] | None = None) -> None:
        self._counts = dict(counts or {})
        self._lock = threading.Lock()
        self.learned = 0
        """Steps learned from so far; selections cached before the last one are stale."""

    @classmethod
    def load(cls, path: Path) -> "Gains":
        """What `save` wrote; empty when there is no such file.

        Raises:
            ValueError: The file breaks a rule.
        """
        if not path.exists():
            return cls()
        try:
            return cls(_TABLE.validate_json(path.read_bytes()))
        except ValidationError as error:
            raise InputError(f"{path}: {error.errors()[0]['msg']}") from None

    def save(self, path: Path) -> None:
        """Write the counts atomically."""
        with self._lock:
            content = {key: one.model_dump() for key, one in sorted(self._counts.items())}
        write_text(path, json.dumps(content, indent=1) + "\n")

    def learn(self, exposed: Iterable[str], used: Iterable[str]) -> None:
        """Feedback from one step: the units in the prompt, and those that were used."""
        taken = set(used)
        with self._lock:
            self.learned += 1
            for one in exposed:
                counts = self._counts.setdefault(one, UnitCounts())
                counts.exposed += 1
                counts.used += one in taken

    def factor(self, unit: str) -> float:
        """Posterior mean of its use (Beta), relative to a unit without feedback."""
        counts = self._counts.get(unit)
        if counts is None:
            return 1.0
        mean = (counts.used + STRENGTH * _PRIOR) / (counts.exposed + STRENGTH)
        return mean / _PRIOR
