"""Finding tools.

- `retrieve`: which of the assistant's APIs a request needs, with and without retrieved context.
- `reader`, `sight`: the tool reader: encoders tuned to name the API from request and items;
  `artefact/` holds the packaged one with its card.
- `prior`: the simpler model for other encoders, learned with the context ranker.
- `kin`: the same for APIs of further applications, which nobody has trained on.
- `catalogue`: tools of any agent, read from a file.
- `index`: search in such a catalogue (`ToolIndex`).
"""

from ctrag.tools.index import ToolIndex

__all__ = ["ToolIndex"]
