"""Claims about several data sets as one."""

import json
from pathlib import Path

import pytest

from ctrag.models.encoder import Encoder
from tests.training.conftest import copy_people, halves
from training.core.datasets import load_together, of_same_people


def test_more_requests_of_the_same_people_are_distinguished_from_other_people(
    dozen: Path, tmp_path: Path
) -> None:
    own, further = halves(dozen, tmp_path)
    others = copy_people("dev", 3, tmp_path / "others")
    assert of_same_people(own, [others, further]) == [further]


def test_a_data_set_of_known_people_and_others_is_refused(dozen: Path, tmp_path: Path) -> None:
    some = copy_people("train", 13, tmp_path / "thirteen")
    with pytest.raises(ValueError, match=r"has people of .* and others .*; part them"):
        of_same_people(dozen, [some])


def test_one_id_with_other_items_is_refused(dozen: Path, encoder: Encoder, tmp_path: Path) -> None:
    own, further = halves(dozen, tmp_path)
    lines = (further / "personas.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["apps"]["mail"] = first["apps"]["mail"][:-1]
    kept = [json.dumps(first), *lines[1:]]
    (further / "personas.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    gone = json.loads(lines[0])["apps"]["mail"][-1]["id"]
    asked = (further / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [line for line in asked if gone not in json.loads(line)["relevant"]]
    (further / "queries.jsonl").write_text("\n".join(asked) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"has other items of {first['persona_id']}"):
        load_together([own, further], encoder)
