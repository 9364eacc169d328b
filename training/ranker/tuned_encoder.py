"""A tuned encoder for training the ranker: an adapter and out-of-fold readings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ctrag.models.request_adapter import Adapter, TunedRequest
from eval.core.examples import RankingExample
from stores.files import replacing

READINGS = "readings.npz"


@dataclass(frozen=True, slots=True)
class TunedEncoder:
    """An adapter, and readings of each request by adapters that never saw its person."""

    adapter: Adapter
    readings: dict[str, TunedRequest]
    """Query id → out-of-fold reading."""
    fold: dict[str, int]
    """Query id → held-out fold."""

    def save(self, folder: Path) -> None:
        """Write adapter, card and the readings that the ranker is trained on."""
        self.adapter.save(folder)
        ids = list(self.readings)
        with replacing(folder / READINGS) as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                query_id=np.array(ids),
                fold=np.array([self.fold[one] for one in ids]),
                **{
                    name: np.stack([getattr(self.readings[one], name) for one in ids])
                    for name in ("aim", "kinds", "apis")
                },
            )

    @classmethod
    def load(cls, folder: Path) -> "TunedEncoder":
        """Load what `save` wrote; FileNotFoundError when a file is missing."""
        adapter = Adapter.load(folder)
        with np.load(folder / READINGS) as arrays:
            ids = [str(one) for one in arrays["query_id"]]
            rows = zip(arrays["aim"], arrays["kinds"], arrays["apis"], strict=True)
            readings = {one: TunedRequest(*row) for one, row in zip(ids, rows, strict=True)}
            fold = dict(zip(ids, (int(one) for one in arrays["fold"]), strict=True))
        return cls(adapter, readings, fold)


def with_readings(
    examples: Sequence[RankingExample], readings: dict[str, TunedRequest]
) -> list[RankingExample]:
    """The examples with the tuned reading of each request in their contexts."""
    return [
        replace(one, context=replace(one.context, tuned=readings[one.asked.query_id]))
        for one in examples
    ]
