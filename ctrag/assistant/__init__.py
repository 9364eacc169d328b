"""One person's request, from its words to one executed call.

In pipeline order, each step usable on its own:

- `open`, `imports`: from a folder or from a person's own files to stores.
- `context`: the person's own items that the request is about (`ContextRetriever`).
- `api_choice`: which of the applications' APIs it needs (`ToolRetriever`).
- `planning`: candidate values, their ranking, and one checked call (`EmbeddedPlanner`).
- `apps`: the APIs, run on the person's stores (`execute`).
- `conversation`: turns that lean on earlier ones, and several requests in one breath.
- `sync`: calendars, contacts and mails from the person's servers; `server`: the assistant as MCP
  tools and as a chat endpoint.
- `usage`: a record of use, for rankers fitted to it; `written`: what was written outside of stores.
- `spoken`: how long a request may be, and when it is made.
- `assistant`, `answer`: joins them (`Assistant`) and what it answers (`Answer`).
- `artefacts`: the trained models; `trace`, `record`: what happened, for `--explain` and as files.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctrag.assistant.answer import Answer
    from ctrag.assistant.assistant import Assistant

__all__ = ["Answer", "Assistant"]


def __getattr__(name: str) -> Any:
    """Public names are imported on first use: they import the encoders."""
    if name == "Answer":
        from ctrag.assistant.answer import Answer

        return Answer
    if name == "Assistant":
        from ctrag.assistant.assistant import Assistant

        return Assistant
    raise AttributeError(f"module 'ctrag.assistant' has no attribute {name!r}")
