"""The one next-tool model of a process: that of prompts, searches and sessions."""

import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ctrag.agents.next_tool.artefact import CARD
from ctrag.agents.next_tool.demonstrations import read_demonstrations
from ctrag.agents.next_tool.next_tool import NextTool
from ctrag.agents.next_tool.texts import with_ids
from ctrag.agents.next_tool.traces import ToolTrace, TracePrior
from ctrag.models import packages
from ctrag.models.encoder import Encoder, Matrix, load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings

_REQUESTS = 256
"""Requests whose vectors are kept."""


class OneText:
    """An encoder of lists as one of single texts, which remembers the last ones."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._lock = encoder, threading.Lock()
        self._known = lru_cache(_REQUESTS)(lambda text: self._encoder.encode([text])[0])

    def encode(self, text: str) -> Matrix:
        """See `TextEncoder.encode`."""
        with self._lock:
            vector: Matrix = self._known(text)
        return vector


def open_next_tool(
    path: str | Path, encoder: Encoder | None = None, catalogue: Sequence[str] = ()
) -> NextTool | TracePrior:
    """The next tool by what a path holds.

    Args:
        path: A folder of `ctrag train dependency`, or demonstrations as `load_demonstrations` takes
            them, a recording among them, which are counted here and now.
        encoder: Of requests; when None, the one that the model was fitted with.
        catalogue: Ids of the agent's tools: traces that call a tool by a name that one alone has,
            mean it.

    Raises:
        FileNotFoundError: Nothing is there.
        ValueError: It breaks a rule.
    """
    folder = Path(path)
    if (folder / CARD).is_file():
        return NextTool.load(folder) if encoder is None else NextTool.load(folder, encoder)
    read = read_demonstrations(folder)
    named = with_ids(read.demonstrations, [*catalogue, *(tool.id for tool in read.tools)])
    encoder = encoder or CachedEncoder(load_encoder(f"{packages.ENCODER}-int8"), cache_folder())
    encoder.encode([one.text for one in named])  # all at once, into the cache
    traces = [ToolTrace(one.text, one.tools, one.before, one.group) for one in named]
    return TracePrior(traces, OneText(encoder), ends=True)


def growing_next_tool() -> TracePrior:
    """A model that counts what sessions will do, where nothing is known yet."""
    encoder = CachedEncoder(load_encoder(f"{packages.ENCODER}-int8"), cache_folder())
    return TracePrior([], OneText(encoder), ends=True, growing=True)


def configured_next_tool(catalogue: Sequence[str] = ()) -> NextTool | TracePrior | None:
    """The model that `CTRAG_DEPENDENCY` names; None where it names none.

    Args:
        catalogue: See `open_next_tool`.
    """
    folder = settings().dependency
    return None if folder is None else open_next_tool(folder.expanduser(), catalogue=catalogue)
