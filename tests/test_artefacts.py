"""Claims about which trained artefacts are used."""

from pathlib import Path

import pytest

from ctrag.artefacts import load_artefacts
from ctrag.context.ranker import Ranker
from ctrag.tools.prior import ToolPrior


def test_the_packaged_artefacts_are_the_default() -> None:
    found = load_artefacts(None)
    ranker, prior = found.ranker, found.tool_prior
    assert ranker.card == Ranker.packaged().card
    assert prior.card == ToolPrior.packaged().card


def test_a_folder_of_ones_own_wins_with_its_own_tool_prior(tmp_path: Path) -> None:
    Ranker.packaged().save(tmp_path)
    prior = ToolPrior.packaged()
    ToolPrior(prior.weights, prior.card.model_copy(update={"seed": 7})).save(tmp_path)
    assert load_artefacts(tmp_path).tool_prior.card.seed == 7


def test_a_folder_without_a_tool_prior_gets_the_packaged_one(tmp_path: Path) -> None:
    Ranker.packaged().save(tmp_path)
    assert load_artefacts(tmp_path).tool_prior.card == ToolPrior.packaged().card


def test_a_folder_without_a_ranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"card\.json"):
        load_artefacts(tmp_path)
