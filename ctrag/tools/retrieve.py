"""Which APIs of a toolbox a request needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ctrag.apps.toolbox import Tool, Toolbox
from ctrag.context.retrieve import Found
from ctrag.encoder import Encoder, Matrix
from ctrag.tools.prior import CONTEXT, ToolPrior, item_weights, prior_inputs

COSINE_WEIGHT = 4.0
"""What the cosine weighs beside the log probability; chosen by cross-validation on train."""
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
    """Log probability that similar requests needed this API; -9 when it was never seen."""
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

    With a prior, the score is its log probability plus the weighted cosine; without one (or for
    a toolbox that the prior does not know), cosine plus the applications of the retrieved items.
    """

    def __init__(self, toolbox: Toolbox, encoder: Encoder, prior: ToolPrior | None = None) -> None:
        self.toolbox = toolbox
        self._tools = list(toolbox)
        self._vectors: Matrix = encoder.encode([tool_text(tool) for tool in self._tools])
        known = set() if prior is None else set(prior.card.apis)
        self._prior = prior if known.intersection(toolbox.names) else None

    def search(self, found: Found, k: int = 5) -> FoundTools:
        """The `k` best tools, best first.

        Args:
            found: The request with its retrieved items; without items it is the request alone.
            k: How many tools to return at most.
        """
        cosines = self._vectors @ found.scene.vector
        shares = self._app_shares(found)
        learned: Mapping[str, float] = {}
        if self._prior is not None:
            rows = found.rows[:CONTEXT]
            inputs = prior_inputs(found.scene, rows, item_weights(found.relevance[:CONTEXT]))
            learned = self._prior.log_probabilities(inputs)
        priors = np.array([learned.get(tool.api, -9.0) for tool in self._tools])
        if self._prior is None:
            scores = cosines + APP_WEIGHT * shares
            none = float(np.median(scores))
        else:
            scores = priors + COSINE_WEIGHT * cosines
            none = learned.get("none", -9.0) + COSINE_WEIGHT * float(np.mean(cosines))
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

    def _app_shares(self, found: Found) -> Matrix:
        weights: dict[str, float] = {}
        for position, one in enumerate(found.items):
            weights[one.item.app] = weights.get(one.item.app, 0.0) + APP_DECAY**position
        total = sum(weights.values()) or 1.0
        return np.array(
            [weights.get(tool.app, 0.0) / total for tool in self._tools], dtype=np.float32
        )


def purpose(tool: Tool) -> str:
    """The description without its formula: "play one particular song"."""
    return _BOILERPLATE.sub("", tool.description).rstrip(".")


def tool_text(tool: Tool) -> str:
    """What is embedded of a tool: its name as words and its purpose."""
    return f"{tool.api.replace('_', ' ')}: {purpose(tool)}"
