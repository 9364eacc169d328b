"""What `ctrag eval synth` says of texts, on people made from known sources."""

import json
from pathlib import Path

import pytest

from eval.synth.run import as_in_sources, run_synth, table
from stores.compressed import read_kept
from stores.people.dataset import load_dataset
from synth.reference import scenes_folder, split_folder


def copied(source: Path, person: str, out: Path) -> list[dict[str, str]]:
    """A data set of one person, copied from a source; its requests."""
    out.mkdir()
    marker = f'"persona_id": "{person}"'
    for name in ("personas.jsonl", "queries.jsonl"):
        lines = read_kept(source / name).decode().splitlines()
        kept = [line for line in lines if marker in line]
        (out / name).write_text("\n".join(kept) + "\n", encoding="utf-8")
    return [json.loads(line) for line in kept]


@pytest.mark.slow
def test_texts_that_occur_in_a_source_are_counted(tmp_path: Path) -> None:
    scene = load_dataset(scenes_folder()).personas[0].person.person_id
    rows = copied(scenes_folder(), scene, tmp_path / "data")
    rows[0]["text"] = f"  {rows[0]['text'].upper()}!?"  # the same words
    rows[1]["text"] = "nobody in any source ever said this"
    path = tmp_path / "data" / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = as_in_sources([tmp_path / "data"])
    assert (found["of"], found["scenes"], found["either"]) == (len(rows), *2 * [len(rows) - 1])
    assert found["reference train"] < found["scenes"]


@pytest.mark.slow
def test_the_comparison_of_texts_reports_the_overlap_with_sources(tmp_path: Path) -> None:
    people = [one.person.person_id for one in load_dataset(split_folder("train")).personas[:6]]
    data = tmp_path / "data"
    data.mkdir()
    count = 0
    for person in people:
        count += len(copied(split_folder("train"), person, tmp_path / person))
        for name in ("personas.jsonl", "queries.jsonl"):
            with (data / name).open("a", encoding="utf-8") as file:
                file.write((tmp_path / person / name).read_text(encoding="utf-8"))
    experiment = run_synth(data, methods=["texts"])
    assert experiment.extra["texts_as_in_sources"]["reference train"] == count
    assert set(experiment.figures) == {"synthetic", "reference"}
    assert 0 <= experiment.extra["auc"]["all"] <= 100
    text = "\n".join(table(experiment).lines())
    assert f"word for word as in the sources: {count} of all {count} texts (scenes " in text
