"""Trained artefacts: the packaged ones, or a folder that `ctrag train ranker` wrote."""

from pathlib import Path

from ctrag.context.ranker import Ranker
from ctrag.tools.prior import WEIGHTS, ToolPrior


def load_artefacts(folder: Path | None) -> tuple[Ranker, ToolPrior]:
    """Ranker and tool prior of `folder`, or the packaged ones when None.

    A folder without a tool prior gets the packaged one.

    Raises:
        FileNotFoundError: The folder holds no ranker.
        ValueError: The ranker was made for other signals than this version computes.
    """
    if folder is None:
        return Ranker.packaged(), ToolPrior.packaged()
    has_prior = (folder / WEIGHTS).exists()
    return Ranker.load(folder), ToolPrior.load(folder) if has_prior else ToolPrior.packaged()
