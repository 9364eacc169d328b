"""Which APIs of a toolbox a request needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctrag.apps.toolbox import Tool, Toolbox
from ctrag.context.retrieve import Found
from ctrag.encoder import Encoder, Matrix
from ctrag.tools.kin import families, from_none, shared_out
from ctrag.tools.prior import CONTEXT, item_weights
from ctrag.tools.reader import ToolReader

UNKNOWN = -9.0
"""Log probability of an API that was never learned."""
STAND_IN_WEIGHT = 8.0
"""What distance in meaning costs an unknown API; a guess, no data has such APIs."""
APP_WEIGHT, APP_DECAY = 0.2, 0.4
"""Dense search alone: weight of the retrieved items' applications, and how each further item
counts less. Chosen by cross-validation on train."""

_BOILERPLATE = re.compile(r"^\w+ app's \w+ API is used to ")


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool and why it ranks where it does."""

    tool: Tool
    score: float
    """Only differences between tools of one search mean something."""
    cosine: float
    """Meaning of the request against the tool's name and description."""
    prior: float
    """Log probability that the request needs this API, by what was learned; -9 when it was never
    seen."""
    context: float
    """Share of the retrieved items that belong to the tool's application, 0 to 1."""


@dataclass(frozen=True, slots=True)
class FoundTools:
    """The answer of tool retrieval, best tool first."""

    tools: tuple[FoundTool, ...]
    none: float
    """Score of "no API can do it", to compare with the tools' scores."""

    @property
    def preferences(self) -> dict[str, float]:
        """API, and `none`, → score."""
        return {**{one.tool.api: one.score for one in self.tools}, "none": self.none}


class ToolRetriever:
    """Finds the APIs of a toolbox that a request needs.

    With a reader, the score is its log probability; without one, for a toolbox of which it knows
    nothing, or with another encoder than it was trained with, cosine plus the applications of the
    retrieved items.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        encoder: Encoder,
        reader: ToolReader | None = None,
    ) -> None:
        self.toolbox = toolbox
        self._tools = list(toolbox)
        self._vectors: Matrix = encoder.encode([tool_text(tool) for tool in self._tools])
        self._families = families(self._tools)
        further = {app for family in self._families for app in family.apps[1:]}
        self._further = np.array([tool.app in further for tool in self._tools], dtype=bool)
        fits = reader is not None and reader.card.encoder == encoder.name
        read = set() if reader is None else set(reader.card.apis)
        self._reader = reader if fits and read.intersection(toolbox.names) else None

    def search(self, found: Found, k: int = 5) -> FoundTools:
        """The `k` best tools, best first.

        Args:
            found: The request with its retrieved items; without items it is the request alone.
            k: How many tools to return at most.
        """
        cosines = self._vectors @ found.scene.vector
        shares = self._app_shares(found)
        learned: Mapping[str, float] = {}
        if self._reader is not None:
            weights = item_weights(found.relevance[:CONTEXT])
            learned = self._reader.log_probabilities(found.scene, found.rows[:CONTEXT], weights)
        priors = np.array([learned.get(tool.api, UNKNOWN) for tool in self._tools])
        if not learned:
            scores = cosines + APP_WEIGHT * shares
            none = float(np.median(scores))
        else:
            scores = self._with_stand_ins(priors, learned)
            by_app = self._shares_by_app(found)
            for family in self._families:
                scores = shared_out(scores, family, self._tools, self._vectors, cosines, by_app)
            none = learned.get("none", UNKNOWN)
            if self._families:
                scores, none = from_none(scores, none, self._further, cosines)
        best = np.argsort(-scores, kind="stable")[:k]
        return FoundTools(
            tuple(
                FoundTool(
                    self._tools[row],
                    float(scores[row]),
                    float(cosines[row]),
                    float(priors[row]),
                    float(shares[row]),
                )
                for row in best
            ),
            none,
        )

    def _with_stand_ins(
        self, logs: NDArray[np.float64], learned: Mapping[str, float]
    ) -> NDArray[np.float64]:
        """Log probabilities in which an API that was never learned has those of the known API that
        is nearest in meaning, less by how far away that is."""
        unread = np.array([tool.api not in learned for tool in self._tools])
        if not unread.any():
            return logs
        likeness = self._vectors[unread] @ self._vectors[~unread].T
        filled = logs.copy()
        filled[unread] = (logs[~unread] + STAND_IN_WEIGHT * (likeness - 1)).max(axis=1)
        return filled

    def _app_shares(self, found: Found) -> Matrix:
        shares = self._shares_by_app(found)
        return np.array([shares.get(tool.app, 0.0) for tool in self._tools], dtype=np.float32)

    def _shares_by_app(self, found: Found) -> dict[str, float]:
        weights: dict[str, float] = {}
        for position, one in enumerate(found.items):
            weights[one.item.app] = weights.get(one.item.app, 0.0) + APP_DECAY**position
        total = sum(weights.values()) or 1.0
        return {app: weight / total for app, weight in weights.items()}


def purpose(tool: Tool) -> str:
    """The description without its formula: "play one particular song"."""
    return _BOILERPLATE.sub("", tool.description).rstrip(".")


def tool_text(tool: Tool) -> str:
    """What is embedded of a tool: its name as words and its purpose."""
    return f"{tool.api.replace('_', ' ')}: {purpose(tool)}"
