"""Claims about the slot filler's training, on a Llama of two random layers."""

from datetime import datetime
from pathlib import Path

import pytest

from ctrag.assistant.planning.slot_filler import SlotFiller
from ctrag.models.lora import PACKED, WEIGHTS, has_adapter, load_card, pack
from ctrag.toolbox import Toolbox
from stores.people.items import Request
from training.core.adapter import AdapterSettings
from training.slots.examples import SlotExample
from training.slots.train import train_slots

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
LONG = 40
"""Repetitions after which two layers know one answer by heart."""


@pytest.fixture(scope="module")
def trained(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("slots")
    settings = AdapterSettings(
        epochs=LONG, rank=8, alpha=16, learning_rate=1e-2, layers=1, threads=1, longest=200
    )
    train_slots([EXAMPLE], str(llama), settings, out, SOURCE)
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
