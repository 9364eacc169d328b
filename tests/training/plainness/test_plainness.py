"""Claims about telling plain requests from those that only hint."""

import json
from pathlib import Path

import pytest

from ctrag.assistant.planning.plainness import PLAIN, Plainness
from ctrag.models.encoder import Matrix, load_encoder
from ctrag.settings import settings
from tests.training.conftest import copy_people
from training.plainness.train import train_plainness

SOURCE = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "people": [],
    "seed": 1,
    "versions": {},
}


def vector(text: str) -> Matrix:
    return load_encoder(settings().encoder).encode([text])[0]


def test_orders_that_say_all_are_plain_and_hints_are_not() -> None:
    shipped = Plainness.packaged()
    assert shipped.of(vector("play some jazz")) > PLAIN
    assert shipped.of(vector("remind me to call the bank at ten tomorrow")) > PLAIN
    assert shipped.of(vector("walking home, you know the drill")) < PLAIN
    assert shipped.card.encoder == settings().encoder


def test_it_learns_from_both_kinds_and_is_saved_with_its_figures(tmp_path: Path) -> None:
    oblique = copy_people("dev", 6, tmp_path / "oblique")
    plain = copy_people("dev", 6, tmp_path / "plain")
    rows = [json.loads(line) for line in (plain / "queries.jsonl").read_text().splitlines()]
    for place, row in enumerate(rows):
        row["text"] = f"please set a timer for {place} minutes"
    (plain / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fitted = train_plainness([plain], [oblique], None, SOURCE)
    assert fitted.card.figures["cross-validated"]["plain"] > 90
    fitted.save(tmp_path / "out")
    again = Plainness.load(tmp_path / "out")
    asked = vector("please set a timer for 99 minutes")
    assert again.of(asked) == pytest.approx(fitted.of(asked), abs=1e-2)
    assert again.of(asked) > PLAIN


def test_one_kind_alone_is_an_error(tmp_path: Path) -> None:
    plain = copy_people("dev", 6, tmp_path / "plain")
    with pytest.raises(ValueError, match="requests of both kinds are needed"):
        train_plainness([plain], [], None, SOURCE)
