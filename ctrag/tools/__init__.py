"""Finding tools.

- `retrieve`: which of the assistant's APIs a request needs, with and without retrieved context.
- `catalogue`: tools of any agent, read from a file.
- `index`: search in such a catalogue (`ToolIndex`).
"""

from ctrag.tools.index import ToolIndex

__all__ = ["ToolIndex"]
