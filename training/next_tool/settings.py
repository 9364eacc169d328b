"""How the next tool is learned from demonstrations."""

from dataclasses import dataclass

from ctrag.agents.next_tool.graph import LENGTH


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """How the models are fitted."""

    folds: int = 4
    penalty: float = 1.0
    """Of the least-squares models."""
    clusters: int | None = None
    """None for a tenth of the demonstrations."""
    length: int = LENGTH
    """Calls that graphs look back."""
    trees: int = 200
    leaves: int = 15
    rate: float = 0.06
    smallest: int = 40
    """Rows of a leaf at least."""
    hidden: float = 0.15
    """Share of the rarer tools that each fold's models do not get to see, so that the trees learn
    how a tool without a demonstration is found."""
    rare: int = 20
    """Tools with no more demonstrations than this may be hidden."""
    linear: bool = True
    """Fit DTDR-L too, for which every history is encoded with its request."""
    combined: bool = True
    """Fit the combined ranker too."""
    seed: int = 1
    threads: int = 1
