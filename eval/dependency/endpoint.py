"""Baselines of the DTDR paper that ask a language model: Less-is-More (level 1), tool graph.

Less-is-More has the model describe the tools that would be ideal for a request; a tool is as good
as its text is like the likest description (Paramanayakam et al., 2025). The tool-graph retriever
has the model say which tools need another one's result, and mixes each tool's vector with those of
its neighbours; a tool is as good as its mixed vector is like the request (Gao et al., 2025, whose
dependencies come from a trained judge). Neither predicts `end`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctrag.agents.next_tool import NextTool
from ctrag.agents.next_tool.baselines import COSINE_SHARPNESS, by_text, restricted_to
from ctrag.agents.next_tool.graph import Probabilities
from ctrag.errors import InputError
from ctrag.models.encoder import Matrix
from ctrag.models.endpoint import ChatEndpoint

ENDPOINT_METHODS = ("less_is_more", "tool_graph")
_IDEAL = (
    "Describe the tools that would be ideal to carry out the request, whether they exist or not: "
    "one line each, what it does in at most fifteen words, nothing else."
)
_NEEDS = (
    "You are given a tool and the names of all tools. Answer with the names of those whose result "
    "the tool needs before it can be called, one a line, at most five, or with: none"
)
_MOST_LINES = 8
_LINE_START = re.compile(r"^[\s\d.)*-]+")


@dataclass
class EndpointRetrievers:
    """Both retrievers over a model's tools; what was asked once is remembered."""

    model: NextTool
    endpoint: ChatEndpoint
    progress: Callable[[str], None] = lambda _: None
    _ideal: dict[str, Matrix] = field(default_factory=dict)

    def chances(
        self,
        text: str,
        history: tuple[str, ...],
        method: str,
        among: NDArray[np.int64] | None = None,
    ) -> Probabilities:
        """Probability of each of `memory.names`, as `NextTool.chances`; the history is not read.

        Raises:
            EndpointError: The endpoint does not answer.
            ValueError: The method is unknown.
        """
        if method == "less_is_more":
            likeness = (self.model.texts.vectors @ self._described(text).T).max(axis=1)
        elif method == "tool_graph":
            likeness = self._mixed @ self.model.encoder.encode([text])[0]
        else:
            raise InputError(f"method: {method!r} asks no endpoint")
        scores = np.asarray(likeness, dtype=np.float64)
        found = by_text(self.model.memory, self.model.texts, scores, COSINE_SHARPNESS)
        return found if among is None else restricted_to(found, among)

    def prepare(self, text: str, history: tuple[str, ...], method: str) -> None:
        """Ask what a method will read, so that ranking alone can be timed."""
        if method == "less_is_more":
            self._described(text)
        else:
            assert self._mixed.size

    def _described(self, text: str) -> Matrix:
        """(descriptions, dimension): the ideal tools; the request's own vector without any."""
        if text not in self._ideal:
            lines = self._lines(_IDEAL, f"Request: {text}") or [text]
            self._ideal[text] = self.model.encoder.encode(lines)
        return self._ideal[text]

    @cached_property
    def _mixed(self) -> Matrix:
        """(tools, dimension): each tool's vector, averaged with its neighbours' over the graph."""
        names = [self.model.memory.names[number] for number in self.model.texts.numbers]
        numbers = {name: number for number, name in enumerate(names)}
        near = np.eye(len(names), dtype=np.float32)
        listed = "\n".join(names)
        for number, tool in enumerate(self.model.tools):
            self.progress(f"asking for dependencies: tool {number + 1} of {len(names)}")
            asked = f"Tool: {names[number]}: {tool.description}\n\nAll tools:\n{listed}"
            for name in self._lines(_NEEDS, asked):
                if name in numbers:
                    near[number, numbers[name]] = near[numbers[name], number] = 1.0
        root = 1 / np.sqrt(near.sum(axis=1))
        mixed = (near * root[:, None] * root) @ self.model.texts.vectors
        length = np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-9)
        return np.asarray(mixed / length, dtype=np.float32)

    def _lines(self, rule: str, asked: str) -> Sequence[str]:
        messages = [{"role": "system", "content": rule}, {"role": "user", "content": asked}]
        answer = self.endpoint.complete(messages, temperature=0)
        lines = [_LINE_START.sub("", one).strip() for one in answer.text.splitlines()]
        return [one for one in lines if one][:_MOST_LINES]
