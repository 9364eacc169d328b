"""Prompts under a token budget.

For any agent, the smallest prompt that is enough for a step (`PromptBuilder`):

- `fragments`, `review`: policies cut into units; the change log and the gate of approvals.
- `tool_documents`: what a tool needs and changes, how it fails, what it is not for.
- `encoders`, `index`: encoders of passages; their vectors, kept on disk by content hash.
- `settings`: how prompts are chosen.
- `retrieval`, `reranker`: the hybrid score; the cross-encoder and its card. `artefact/` has a card
  alone: hybrid weights without re-ranking.
- `domains`: where a task belongs, from policies, tools and the calls so far.
- `selection`, `choosing`, `gains`: the knapsack, limits and pinned tools, bandit feedback.
- `signatures`: tools in one line each.
- `sufficiency`: the calibrated probability that a right tool is exposed.
- `assembly`: overlay, fragments, tools and routing note as text and as chat requests.
- `forms`: tools as chat APIs take them, and what they cost there.
- `fitting`: turns the chosen units into a prompt within its budget.
- `selector`: selects what a step is shown, and more where its tools may not be enough.
- `masks`: predicted tools in the prompt of a function-calling model, by the DTDR paper.
- `front_matter`, `instruction_files`, `served`: policies, skills and rules of a folder.
- `on_demand`, `mentions`, `scopes`: which skills and rules a request needs.
- `builder`: joins them, with the help of `selection_cache`, `breaker` and `telemetry`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctrag.agents.prompt.builder import PromptBuilder

__all__ = ["PromptBuilder"]


def __getattr__(name: str) -> Any:
    """Import `PromptBuilder` lazily: it imports the encoder."""
    if name == "PromptBuilder":
        from ctrag.agents.prompt.builder import PromptBuilder

        return PromptBuilder
    raise AttributeError(f"module 'ctrag.agents.prompt' has no attribute {name!r}")
