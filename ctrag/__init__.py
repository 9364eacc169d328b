"""ctrag: context tuning for personal assistants, and tool search for any agent.

Two products on one ground; neither imports the other:

- `ctrag.assistant`: one person's request becomes one checked, executed call (`Assistant`).
- `ctrag.agents`: any agent with many tools shows its model the few it needs (`ToolIndex`,
  `ToolSession`, `PromptBuilder`, `NextTool`).

Below both: `models` (weights, encoders, the language model), `text` (words and temporal
expressions), `toolbox` (APIs as data), `settings`, `errors`. Above both: `serving` (what servers
share), `web` (pages), `cli`.
`stores` is the package below; `synth`, `eval` and `training` are above.

The names below are the public ones; they are imported when asked for, so that `import ctrag` is
quick and needs nothing that the asked name does not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ctrag.version import __version__

if TYPE_CHECKING:
    from ctrag.agents.next_tool.next_tool import NextTool
    from ctrag.agents.prompt.builder import PromptBuilder
    from ctrag.agents.search.index import ToolIndex
    from ctrag.agents.session.tool_session import ToolSession
    from ctrag.assistant.answer import Answer
    from ctrag.assistant.api_choice.retrieve import ToolRetriever
    from ctrag.assistant.apps.execute import execute
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.context.retrieve import ContextRetriever
    from ctrag.assistant.planning.embedded import EmbeddedPlanner
    from ctrag.assistant.planning.grammar import plan_grammar

__all__ = [
    "Answer",
    "Assistant",
    "ContextRetriever",
    "EmbeddedPlanner",
    "NextTool",
    "PromptBuilder",
    "ToolIndex",
    "ToolRetriever",
    "ToolSession",
    "__version__",
    "execute",
    "plan_grammar",
]

_MODULES = {
    "Answer": "ctrag.assistant.answer",
    "Assistant": "ctrag.assistant.assistant",
    "ContextRetriever": "ctrag.assistant.context.retrieve",
    "EmbeddedPlanner": "ctrag.assistant.planning.embedded",
    "NextTool": "ctrag.agents.next_tool.next_tool",
    "PromptBuilder": "ctrag.agents.prompt.builder",
    "ToolIndex": "ctrag.agents.search.index",
    "ToolRetriever": "ctrag.assistant.api_choice.retrieve",
    "ToolSession": "ctrag.agents.session.tool_session",
    "execute": "ctrag.assistant.apps.execute",
    "plan_grammar": "ctrag.assistant.planning.grammar",
}


def __getattr__(name: str) -> Any:
    """The public name's object, imported now."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'ctrag' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
