"""Four tools of three servers, with vectors and words that can be worked out by hand."""

import numpy as np

from stores.tools.protocol import Filter, Query, ToolRow, ToolStore

ANYBODY = Filter()


def row(tool_id: str, vector: list[float], **terms: float) -> ToolRow:
    server, _, name = tool_id.rpartition("/")
    direction = np.array(vector, dtype=np.float32)
    return ToolRow(
        tool_id=tool_id,
        server=server,
        name_key=name.replace("_", ""),
        server_key=server,
        content_hash=f"{tool_id}-{sorted(terms.items())}",
        definition=f'{{"name": "{name}"}}',
        always=False,
        terms=terms,
        vector=direction / np.linalg.norm(direction),
    )


TOOLS = [
    row("air/book", [1, 0, 0], book=1.0, flight=2.0),
    row("air/cancel", [0, 1, 0], cancel=1.0, flight=1.0),
    row("mail/send", [0, 0, 1], send=1.5),
    row("clock/alarm", [1, 1, 0], alarm=1.0),
]


def ids(store: ToolStore, seen: Filter = ANYBODY, limit: int = 99) -> list[str]:
    query = Query((), np.array([1, 0, 0], np.float32))
    return [one.tool_id for one in store.candidates([query], seen, limit).found]
