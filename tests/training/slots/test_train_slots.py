"""Claims about the slot filler's training, on a Llama of two random layers."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.rewriting import rewriting_prompt, rewritten
from ctrag.assistant.conversation.state import State
from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.models.lora import PACKED, WEIGHTS, has_adapter, load_card, pack
from ctrag.toolbox import Toolbox
from stores.people.items import Person, Profile, Request
from training.core.adapter import AdapterSettings
from training.core.tuning import mean_change
from training.slots.examples import SlotExample
from training.slots.train import train_slots
from training.slots.whole import WholeExample

SOURCE = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "people": [],
    "seed": 1,
    "versions": {},
}
TOOL = next(tool for tool in Toolbox.packaged() if tool.api == "play_artist")
SAID = Request("play abba", datetime(2025, 4, 17, 12, 0))
EXAMPLE = SlotExample(SAID, TOOL, (), "artist\nabba\n")
SEVERAL = "call ana and bo"
NOBODY = PersonView(
    Person("ada", SAID.asked_at, Profile(name="Ada")), (), np.empty((0, 0), np.float32)
)
WHOLE = WholeExample(rewriting_prompt(SEVERAL, State(), NOBODY), "call ana\ncall bo\n")
SETTINGS = AdapterSettings(
    epochs=40,  # two layers know an answer by heart
    rank=8,
    alpha=16,
    learning_rate=1e-2,
    layers=1,
    threads=1,
    longest=200,
)


@pytest.fixture(scope="module")
def trained(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("slots")
    train_slots([EXAMPLE], str(llama), SETTINGS, out, SOURCE, whole=[WHOLE])
    return out


def test_only_the_last_layers_change(trained: Path) -> None:
    from safetensors.numpy import load_file

    names = load_file(str(trained / WEIGHTS))
    assert {name.split(".layers.")[1][0] for name in names} == {"1"}
    assert load_card(trained).settings["layers"] == 1


def test_what_was_learned_is_written(trained: Path, llama: Path) -> None:
    filler = SlotFiller(str(llama), 1, trained, engine="transformers")
    [(name, slot)] = filler.fill(SAID, TOOL, []).items()
    assert (name, slot.value) == ("artist", "abba")
    assert slot.probability > 0.5
    untrained = SlotFiller(str(llama), 1, engine="transformers").fill(SAID, TOOL, [])["artist"]
    assert untrained.probability < slot.probability


def test_what_was_learned_is_said_whole(trained: Path, llama: Path) -> None:
    filler = SlotFiller(str(llama), 1, trained, engine="transformers")
    assert rewritten(filler, SEVERAL, State(), NOBODY) == ("call ana", "call bo")


def test_an_adapter_is_trained_further(trained: Path, llama: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    still = replace(SETTINGS, epochs=1, learning_rate=1e-9)
    train_slots([EXAMPLE], str(llama), still, tmp_path / "further", SOURCE, start=trained)
    before, after = (load_file(str(one / WEIGHTS)) for one in (trained, tmp_path / "further"))
    assert all(np.allclose(before[name], after[name], atol=1e-3) for name in before)
    other = replace(still, rank=4)
    with pytest.raises(ValueError, match="rank 8 and alpha 16, wanted 4 and 16"):
        train_slots([EXAMPLE], str(llama), other, tmp_path / "other", SOURCE, start=trained)


def test_training_ends_after_so_many_steps(llama: Path, tmp_path: Path) -> None:
    few = replace(SETTINGS, steps=3)
    card = train_slots([EXAMPLE], str(llama), few, tmp_path, SOURCE, whole=[WHOLE])
    assert (card.figures["training"]["steps"], card.settings["steps"]) == (3.0, 3)


def test_the_mean_of_an_adapter_and_itself_is_the_same_change(trained: Path) -> None:
    import torch
    from safetensors.torch import load_file

    given = {name: one.double() for name, one in load_file(str(trained / WEIGHTS)).items()}
    other = {name: -3 * one if "lora_B" in name else one for name, one in given.items()}
    for share, times in ((0.5, -1.0), (0.25, -2.0)):
        mean = mean_change(given, other, share)
        for name in (one for one in given if "lora_A" in one):
            up = name.replace("lora_A", "lora_B")
            wanted = times * (given[up] @ given[name])
            assert torch.allclose((mean[up] @ mean[name]).double(), wanted, atol=1e-4)


def test_an_adapter_in_eight_bits_writes_the_same(
    trained: Path, llama: Path, tmp_path: Path
) -> None:
    pack(trained, tmp_path)
    assert has_adapter(tmp_path)
    assert load_card(tmp_path) == load_card(trained)
    assert (tmp_path / PACKED).exists()
    assert not (tmp_path / WEIGHTS).exists()
    filler = SlotFiller(str(llama), 1, tmp_path, engine="transformers")
    assert filler.fill(SAID, TOOL, [])["artist"].value == "abba"


def test_nothing_to_fill_in_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="data: no request has a plan with something to fill in"):
        train_slots([], "base", AdapterSettings(), tmp_path, SOURCE)
