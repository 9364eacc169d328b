"""What a model read of a request for one argument."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilledSlot:
    """What the model read."""

    value: str | None
    """None: the request does not say it."""
    probability: float
    """Of this answer, 0 to 1."""
