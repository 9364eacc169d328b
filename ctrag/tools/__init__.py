"""Finding tools.

- `retrieve`: which of the assistant's APIs a request needs, with and without retrieved context.
- `reader`, `sight`: the tool reader: encoders tuned to name the API from request and items;
  `artefact/` holds the packaged one with its card.
- `prior`: the simpler model for other encoders, learned with the context ranker.
- `catalogue`: tools of any agent, read from a file.
- `index`: search in such a catalogue (`ToolIndex`).
- `dependency`: the next tool from the request and the calls so far (`NextTool`).
"""

from ctrag.tools.dependency.next_tool import NextTool
from ctrag.tools.index import ToolIndex

__all__ = ["NextTool", "ToolIndex"]
