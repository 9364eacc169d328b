"""How the context ranker is trained: folds, and the settings of LambdaMART's two passes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassSettings:
    """How one pass of LambdaMART is trained."""

    rounds: int
    learning_rate: float
    leaves: int
    fewest_in_leaf: int
    penalty: float
    """L2 penalty on leaf values."""
    columns: float
    """Share of the features that each tree may use."""
    rows: float = 0.8
    """Share of the rows that each tree sees."""
    truncation: int = 10
    """Truncation level of LambdaMART's gradients."""


FIRST = PassSettings(
    rounds=700,
    learning_rate=0.025,
    leaves=7,
    fewest_in_leaf=27,
    penalty=20.0,
    columns=0.33,
    truncation=12,
)
SECOND = PassSettings(
    rounds=400,
    learning_rate=0.02,
    leaves=5,
    fewest_in_leaf=43,
    penalty=4.5,
    columns=0.48,
    truncation=23,
)


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How the ranker is trained; the defaults were chosen by cross-validation on train."""

    folds: int = 5
    first: PassSettings = FIRST
    second: PassSettings = SECOND
    threads: int = 2
    seed: int = 1
    scheduler: str | None = None
    """Address of a Dask scheduler that grows the trees, or "local"; None for this process."""
