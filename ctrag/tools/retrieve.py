"""Which APIs of a toolbox a request needs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctrag.apps.toolbox import Tool, Toolbox
from ctrag.encoder import Encoder, Matrix
from stores.items import Item

APP_WEIGHT = 0.2
"""What the applications of the retrieved items weigh beside the cosine."""
APP_DECAY = 0.4
"""Each further item says less about the application. Both chosen by cross-validation on train."""

_BOILERPLATE = re.compile(r"^\w+ app's \w+ API is used to ")


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool and why it ranks where it does."""

    tool: Tool
    score: float
    cosine: float
    """Meaning of the request against the tool's name and description."""
    context: float
    """Share of the retrieved items that belong to the tool's application, 0 to 1."""


class ToolRetriever:
    """Dense search over the APIs of a toolbox, steered by the retrieved items."""

    def __init__(self, toolbox: Toolbox, encoder: Encoder) -> None:
        self.toolbox = toolbox
        self._tools = list(toolbox)
        self._vectors = encoder.encode([tool_text(tool) for tool in self._tools])

    def search(
        self, vector: Matrix, items: Sequence[Item] = (), k: int = 5
    ) -> tuple[FoundTool, ...]:
        """The `k` best tools, best first.

        Args:
            vector: The request's vector.
            items: Retrieved items, best first; none for retrieval by the request alone.
            k: How many tools to return at most.
        """
        cosines = self._vectors @ vector
        shares = self._app_shares(items)
        scores = cosines + APP_WEIGHT * shares
        best = np.argsort(-scores, kind="stable")[:k]
        return tuple(
            FoundTool(
                self._tools[row], float(scores[row]), float(cosines[row]), float(shares[row])
            )
            for row in best
        )

    def _app_shares(self, items: Sequence[Item]) -> Matrix:
        weights: dict[str, float] = {}
        for position, item in enumerate(items):
            weights[item.app] = weights.get(item.app, 0.0) + APP_DECAY**position
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
