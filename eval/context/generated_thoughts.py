"""Semantic search with a generated thought behind the request: `cot_generated` of Table 2."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from ctrag.assistant.context.item_arrays import Floats
from ctrag.models.encoder import Encoder, Matrix
from ctrag.settings import cache_folder, settings
from eval.context.thought import thought_prompt, write_thoughts
from eval.context.thought_writers import thought_writer
from eval.core.examples import RankingExample

KEPT = "thoughts.jsonl"
"""File in the cache folder: a run that was killed, or a second one, does not pay again."""
SHARE = 0.2
"""What the vector with the thought counts in `mixed`; chosen on training people."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Vectors of requests with their generated thoughts."""

    vectors: dict[str, Matrix]
    """Query id → vector of request and thought together."""
    facts: dict[str, JsonValue]
    """Who wrote the thoughts, and how long that took."""

    def scores(self, example: RankingExample) -> Floats:
        """Cosine of each item with request and thought."""
        found = example.context.view.vectors @ self.vectors[example.asked.query_id]
        return np.asarray(found, dtype=np.float32)

    def mixed(self, example: RankingExample) -> Floats:
        """Mean of `scores` and the request's own cosine, weighted by `SHARE`."""
        return SHARE * self.scores(example) + (1 - SHARE) * example.context.cosine


def generate(
    examples: Sequence[RankingExample],
    encoder: Encoder,
    writer_name: str = "embedded",
    progress: Callable[[str], None] = lambda _: None,
) -> Generated:
    """A thought for each request, from what a method may see of it.

    Args:
        examples: Requests; their labels are not looked at.
        encoder: Reads request and thought.
        writer_name: `embedded` or `openai`.
        progress: Called with progress messages.

    Raises:
        ModelMissing: The embedded model is not on this machine.
        EndpointError: The endpoint cannot be reached or refuses.
        ValueError: There is no such writer.
    """
    began = time.perf_counter()
    writer = thought_writer(writer_name, settings())
    prompts = [
        thought_prompt(one.context.request, {item.app for item in one.context.view.items})
        for one in examples
    ]
    written = write_thoughts(prompts, writer, cache_folder() / KEPT, progress)
    seconds = time.perf_counter() - began
    vectors = encoder.encode(
        [
            f"{one.context.request.text} {thought}"
            for one, thought in zip(examples, written.thoughts, strict=True)
        ]
    )
    return Generated(
        {one.asked.query_id: vector for one, vector in zip(examples, vectors, strict=True)},
        {
            "writer": writer.name,
            "written_now": written.fresh,
            "seconds_per_thought": round(seconds / written.fresh, 3) if written.fresh else None,
        },
    )
