"""A gateway's next-tool model: what its sessions teach, and what others have trained since."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio.to_thread import run_sync

from ctrag.agents.next_tool.artefact import CARD, LOG
from ctrag.agents.next_tool.next_tool import NextTool
from ctrag.agents.next_tool.opening import growing_next_tool, open_next_tool
from ctrag.agents.next_tool.teaching import Learner, SessionTeacher, teach, told
from ctrag.agents.next_tool.traces import TracePrior
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.server.reload import Watched
from ctrag.agents.session.lessons import lessons_of
from ctrag.agents.session.recording import is_recording, read_recordings
from ctrag.errors import InputError


def next_tool_of(
    path: Path | None, record: Path | None, *, learns: bool, catalogue: Sequence[str] = ()
) -> tuple[NextTool | TracePrior | None, list[str]]:
    """The model that a gateway begins with, and what is to be said of it.

    Args:
        path: What `open_next_tool` takes; None for none.
        record: Where sessions are recorded. A gateway that learns begins with what it recorded
            before: the process may have been killed before it had learned that.
        learns: Whether sessions teach it, so that it may begin with nothing.
        catalogue: Ids of the tools that are there from the start.
    """
    found = None if path is None else open_next_tool(path, catalogue=catalogue)
    if not learns:
        return found, []
    found = growing_next_tool() if found is None else found
    if record is None or not is_recording(record):
        return found, []
    counts = teach(found, lessons_of(read_recordings([record])).next_tool)
    return found, [f"{record.name}: {told(counts)}"]


def teacher_of(index: ToolIndex) -> SessionTeacher:
    """Teaches whatever model the index has when a session ends."""

    def model() -> Learner | None:
        found = index.next_tool
        return found if isinstance(found, NextTool | TracePrior) else None

    return SessionTeacher(model)


def watched_model(index: ToolIndex, path: Path | None) -> list[Watched]:
    """The files of a trained model: another `ctrag train dependency` into its folder is taken over
    as a whole or not at all, and lines that others add to its log are learned."""
    if path is None or not (path / CARD).is_file():
        return []

    async def reread() -> list[str]:
        try:
            index.next_tool = await run_sync(partial(NextTool.load, path))
        except Exception as error:  # half a model, or one of another version: the old one stays
            raise InputError(f"{type(error).__name__}: {error}") from None
        return ["the next-tool model is loaded again"]

    async def refresh() -> list[str]:
        model = index.next_tool
        count = await run_sync(model.refresh) if isinstance(model, NextTool) else 0
        return [f"{count} lines that others observed are learned"] if count else []

    return [Watched(path / CARD, reread), Watched(path / LOG, refresh, silent=True)]
