"""Instructions as they are served: all of a folder, or what somebody approved."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.review import ReviewLedger
from ctrag.models.tokens import token_counter
from ctrag.settings import cache_folder, settings


@dataclass(frozen=True, slots=True)
class Served:
    """A folder's instructions."""

    fragments: tuple[Fragment, ...]
    folder: Path
    """Of their index and ledger."""
    gated: bool
    """Whether only what was approved is served."""
    ignored: tuple[tuple[str, int], ...]
    """See `Cut.ignored`."""
    problems: tuple[tuple[str, str], ...]
    """See `Cut.problems`."""
    skills: tuple[tuple[str, Path], ...]
    """See `Cut.skills`."""
    warning: str = ""
    """What is not served because nobody approved it; empty if nothing."""


def served_instructions(
    instructions: Path, index: Path | None = None, review: bool | None = None
) -> Served:
    """The fragments to serve; what changed is noted in the ledger.

    Args:
        instructions: A folder, or one file.
        index: Folder of index and ledger; beside the cache when None.
        review: Serve only what was approved; as `CTRAG_REVIEW` says when None.

    Raises:
        ValueError: Nothing of it can be read.
        FileNotFoundError: It is not there.
    """
    count = token_counter()
    cut = cut_folder(instructions, count)
    folder = index or index_folder(instructions)
    ledger = ReviewLedger(folder)
    ledger.note(cut.fragments)
    gated = settings().review if review is None else review
    served = tuple(ledger.served(cut.fragments, count)) if gated else cut.fragments
    known = {one.id for one in served}
    waiting = sum(one.id not in known for one in cut.fragments)
    warning = ""
    if waiting:
        said = f"only {len(served)} fragments are" if served else "nothing is"
        warning = (
            f"{said} approved, {waiting} fragments are not served; see `ctrag review "
            f"--instructions {instructions}`"
        )
    return Served(served, folder, gated, cut.ignored, cut.problems, cut.skills, warning)


def index_folder(instructions: Path) -> Path:
    """Default folder of the index over a folder of instructions."""
    name = sha256(str(instructions.resolve()).encode()).hexdigest()[:16]
    return cache_folder() / "prompts" / name
