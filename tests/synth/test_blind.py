"""A blind reading: the sheet does not say who was made, and answers are scored with an interval."""

import json
from pathlib import Path

import pytest

from stores.people.dataset import load_dataset
from synth.blind import ANSWERS, KEY, SHEET, mixed, scored, wilson
from synth.reference import split_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two halves of the reference people: one of them stands for the made ones."""
    out = tmp_path_factory.mktemp("blind") / "sheet"
    mixed(split_folder("dev"), split_folder("train"), out, people=5, seed=3)
    return out


def answered(folder: Path, name: str, right: int) -> Path:
    """Answers of which so many are right."""
    path = folder / name
    rows = []
    for place, (person, one) in enumerate(json.loads((folder / KEY).read_text()).items()):
        other = "made" if one["from"] == "reference" else "reference"
        rows.append(f"{person},{one['from'] if place < right else other}\n")
    path.write_text("person,from\n" + "".join(rows))
    return path


def test_the_sheet_has_as_many_of_either_kind_and_names_no_origin(folder: Path) -> None:
    key = json.loads((folder / KEY).read_text())
    assert [one["from"] for one in key.values()].count("made") == 5
    sheet = (folder / SHEET).read_text(encoding="utf-8").partition("\n## ")[2]
    people = [one.person for split in ("dev", "train") for one in
              load_dataset(split_folder(split)).personas]  # fmt: skip
    chosen = {one["persona_id"] for one in key.values()}
    assert sum(one.profile.name in sheet for one in people if one.person_id in chosen) == 10
    assert not any(f"{one.person_id}-" in sheet for one in people)
    assert sheet.count("\nSays:\n") == 10
    assert (folder / ANSWERS).read_text().count("\n") == 11


def test_answers_are_scored(folder: Path) -> None:
    found = scored(folder / KEY, answered(folder, "nine.csv", 9))
    assert (found.answered, found.right, found.accuracy) == (10, 9, 90.0)
    assert found.interval == wilson(9, 10)
    low, high = wilson(65, 100)
    assert (low, high) == (55.3, 73.6)  # as in tables of Wilson's interval


def test_rows_without_an_answer_are_left_out_and_wrong_ones_refused(folder: Path) -> None:
    path = folder / "some.csv"
    path.write_text("person,from\nr001,made\nr002,\n")
    assert scored(folder / KEY, path).answered == 1
    path.write_text("person,from\nr999,made\n")
    with pytest.raises(ValueError, match=r"some\.csv:2: person: 'r999' is not on the sheet"):
        scored(folder / KEY, path)
    path.write_text("person,from\nr001,perhaps\n")
    with pytest.raises(ValueError, match="must be made or reference, not 'perhaps'"):
        scored(folder / KEY, path)
    path.write_text("person,from\n")
    with pytest.raises(ValueError, match="no person has an answer"):
        scored(folder / KEY, path)


def test_too_few_people_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has 40 people, 41 are wanted"):
        mixed(split_folder("dev"), split_folder("train"), tmp_path, people=41)
