"""Claims about which trained artefacts are used."""

from dataclasses import replace
from pathlib import Path

import pytest

from ctrag.artefacts import load_artefacts
from ctrag.cards import Card
from ctrag.context.ranker import Ranker
from ctrag.planner.arguments import ArgumentRanker
from ctrag.tools.reader import ToolReader
from eval.experiment import folders_sha256
from stores.dataset import load_dataset
from synth.reference import scenes_folder, split_folder


def test_the_packaged_artefacts_are_the_default() -> None:
    assert load_artefacts(None).ranker.card == Ranker.packaged().card


@pytest.mark.parametrize("part", ["ranker", "adapter", "reader", "arguments"])
def test_an_artefact_was_trained_on_the_packaged_people_and_nobody_of_dev(part: str) -> None:
    card: Card = getattr(load_artefacts(None), part).card
    packaged = scenes_folder().parent
    folders = [
        split_folder(name) if name == "train" else packaged / name for name in card.data.split("+")
    ]
    assert card.data_sha256 == folders_sha256(folders)
    known = {one.person.person_id for one in load_dataset(split_folder("dev")).personas}
    for folder in folders:
        assert not known & {one.person_id for one in load_dataset(folder).requests}


def test_a_ranker_of_ones_own_wins_and_its_old_neighbours_are_ignored(tmp_path: Path) -> None:
    ranker = Ranker.packaged()
    replace(ranker, card=ranker.card.model_copy(update={"seed": 7})).save(tmp_path)
    for name in ("tools.npz", "tools-card.json"):  # older versions wrote them beside it
        (tmp_path / name).write_bytes(b"unreadable")
    found = load_artefacts(tmp_path)
    assert found.ranker.card.seed == 7
    assert found.adapter is None
    assert found.reader.card == ToolReader.packaged().card


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
