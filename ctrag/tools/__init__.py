"""Finding tools.

- `retrieve`: which of the assistant's APIs a request needs, with and without retrieved context
  (`ToolRetriever`).
- `reader`, `sight`: the tool reader: encoders tuned to name the API from request and items;
  `artefact/` holds the packaged one with its card.
- `prior`: what the learners of APIs share: their classes, and what each retrieved item counts.
- `kin`: the same for APIs of further applications, which nobody has trained on.

Tools of any agent, in the order in which a search goes:

- `catalogue`, `files`, `sources`: tools read from files, OpenAPI documents, functions, LangChain.
- `access`: who may see which tool, and configured agents.
- `index`: search in a catalogue (`ToolIndex`); `shelf` is what it holds and how that changes,
  `governed` the rules of who sees which of it.
- `parts`, `names`: the needs of a request, and the tools and servers that it names.
- `fields`, `tuned`, `vectors`: a tool's terms by field, the encoder that is tuned for tools, and
  vectors kept on disk.
- `pool`, `features`, `ranker`: candidates out of a store, what is known of each, their order;
  `artefact/discovery.json` has the weights with their card.
- `tiers`: experts' and system tools by keywords, and the merged list.
- `affinity`: what helped a caller before.
- `results`: hits, near-duplicates told apart, the trace.
- `dependency`: the next tool from the request and the calls so far (`NextTool`).
"""

from ctrag.tools.dependency.next_tool import NextTool
from ctrag.tools.index import ToolIndex

__all__ = ["NextTool", "ToolIndex"]
