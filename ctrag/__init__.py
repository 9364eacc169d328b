"""ctrag: a context-tuning planner for personal assistants.

A request's way through the package, each step usable alone:

- `context`: the person's own items that the request is about (`ContextRetriever`).
- `tools`: the tools that it needs (`ToolRetriever`, `ToolIndex` for any catalogue).
- `planner`: the values that arguments may take, best first (`rank_values`), and one grounded API
  call (`EmbeddedPlanner`, `EndpointPlanner`).
- `prompt`: what a planner's model reads, under a token budget, made only when it is asked; for any
  agent, `PromptBuilder`.
- `apps`: the 59 APIs, run on the person's stores.
- `session`: the trace of it all.
- `assistant`: joins them (`Assistant`); `answer`: what it answers (`Answer`).

Besides: `encoder`, `graphs`, `bert_graph`, `vocabularies`, `weights` and `models` (vectors, how
they are computed, where the weights come from), `tuned` (the adapter's reading of a request),
`artefacts` (what was trained), `opening` and `importing` (from a folder or file to stores),
`extras` (what more than the bare install is needed), `settings`, `threads`, `cli`.
`stores` is the package below; `synth`, `eval` and `training` are above.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctrag.answer import Answer
    from ctrag.assistant import Assistant
    from ctrag.tools.index import ToolIndex

try:
    __version__ = version("ctrag")
except PackageNotFoundError:
    __version__ = "0"

__all__ = ["Answer", "Assistant", "ToolIndex", "__version__"]

_HOMES = {
    "Answer": "ctrag.answer",
    "Assistant": "ctrag.assistant",
    "ToolIndex": "ctrag.tools.index",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when asked for, so that `import ctrag` stays quick."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ctrag' has no attribute {name!r}")
