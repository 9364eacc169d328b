"""Settings for learning the next tool from demonstrations."""

from dataclasses import dataclass

from ctrag.agents.next_tool.graph import LENGTH


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """How the models are fitted."""

    folds: int = 4
    penalty: float = 1.0
    """L2 penalty of the least-squares models."""
    clusters: int | None = None
    """None for a tenth of the demonstrations."""
    length: int = LENGTH
    """Previous calls that graphs consider."""
    trees: int = 200
    leaves: int = 15
    rate: float = 0.06
    smallest: int = 40
    """Minimum rows of a leaf."""
    hidden: float = 0.3
    """Share of the rarer tools that are hidden from each fold's models, so that the trees learn to
    find tools without a demonstration."""
    rare: int = 40
    """Tools with no more demonstrations than this may be hidden."""
    linear: bool = True
    """Also fit DTDR-L, which encodes every history with its request."""
    combined: bool = True
    """Also fit the combined ranker."""
    seed: int = 1
    threads: int = 1
