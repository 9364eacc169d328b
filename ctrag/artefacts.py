"""Trained artefacts: the packaged ones, or a folder that `ctrag train ranker` wrote."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ctrag.context.ranker import Ranker
from ctrag.tools.prior import WEIGHTS, ToolPrior
from ctrag.tuned import WEIGHTS as ADAPTER
from ctrag.tuned import Adapter


@dataclass(frozen=True, slots=True)
class Artefacts:
    """What was learned, for one encoder."""

    ranker: Ranker
    tool_prior: ToolPrior
    adapter: Adapter | None
    """None for a ranker that was trained without one."""


def load_artefacts(folder: Path | None) -> Artefacts:
    """The artefacts of `folder`, or the packaged ones when None.

    A folder without a tool prior gets the packaged one.

    Raises:
        FileNotFoundError: The folder holds no ranker.
        ValueError: The ranker was made for other signals than this version computes.
    """
    if folder is None:
        packaged = Path(str(files("ctrag.context").joinpath("artefact")))
        return Artefacts(Ranker.packaged(), ToolPrior.packaged(), Adapter.load(packaged))
    return Artefacts(
        ranker=Ranker.load(folder),
        tool_prior=ToolPrior.load(folder) if (folder / WEIGHTS).exists() else ToolPrior.packaged(),
        adapter=Adapter.load(folder) if (folder / ADAPTER).exists() else None,
    )
