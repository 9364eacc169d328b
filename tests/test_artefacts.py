"""Claims about which trained artefacts are used."""

from pathlib import Path

import pytest

from ctrag.artefacts import load_artefacts
from ctrag.cards import Card
from ctrag.context.ranker import Ranker
from ctrag.planner.arguments import ArgumentRanker
from ctrag.tools.prior import ToolPrior
from ctrag.tools.reader import ToolReader
from eval.experiment import folders_sha256
from stores.dataset import load_dataset
from synth.reference import scenes_folder, split_folder

DATA = Path(__file__).parents[1] / "data"


def test_the_packaged_artefacts_are_the_default() -> None:
    found = load_artefacts(None)
    ranker, prior = found.ranker, found.tool_prior
    assert ranker.card == Ranker.packaged().card
    assert prior.card == ToolPrior.packaged().card


@pytest.mark.parametrize("part", ["ranker", "tool_prior", "adapter", "reader", "arguments"])
def test_an_artefact_was_trained_on_the_packaged_people_and_nobody_of_dev(part: str) -> None:
    card: Card = getattr(load_artefacts(None), part).card
    packaged = {"train": split_folder("train"), "scenes": scenes_folder()}
    folders = [packaged.get(name, DATA / name) for name in card.data.split("+")]
    assert card.data_sha256 == folders_sha256(folders)
    known = {one.person.person_id for one in load_dataset(split_folder("dev")).personas}
    for folder in folders:
        assert not known & {one.person_id for one in load_dataset(folder).requests}


def test_a_folder_of_ones_own_wins_with_its_own_tool_prior(tmp_path: Path) -> None:
    Ranker.packaged().save(tmp_path)
    prior = ToolPrior.packaged()
    ToolPrior(prior.weights, prior.card.model_copy(update={"seed": 7})).save(tmp_path)
    assert load_artefacts(tmp_path).tool_prior.card.seed == 7


def test_a_folder_without_a_tool_prior_gets_the_packaged_one(tmp_path: Path) -> None:
    Ranker.packaged().save(tmp_path)
    assert load_artefacts(tmp_path).tool_prior.card == ToolPrior.packaged().card


def test_a_folder_of_tools_alone_gets_the_packaged_ranker(tmp_path: Path) -> None:
    reader = ToolReader.packaged()
    ToolReader(reader.arrays, reader.card.model_copy(update={"seed": 7})).save(tmp_path)
    arguments = ArgumentRanker.packaged()
    changed = arguments.card.model_copy(update={"seed": 8})
    ArgumentRanker(arguments.model, changed).save(tmp_path)
    found = load_artefacts(tmp_path)
    assert (found.reader.card.seed, found.arguments.card.seed) == (7, 8)
    assert found.ranker.card == Ranker.packaged().card
    assert found.adapter is not None


def test_a_folder_without_any_artefact_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"holds none of card\.json"):
        load_artefacts(tmp_path)
