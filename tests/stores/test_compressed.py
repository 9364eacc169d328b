"""Claims about files that may be kept compressed."""

import bz2
import json
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import load_catalogue
from eval.core.experiment import data_sha256
from stores.compressed import kept, open_kept, read_kept
from stores.people.dataset import load_dataset, load_labels
from synth.reference import split_folder


def packed(path: Path) -> Path:
    """The file compressed in its place."""
    target = path.with_name(f"{path.name}.bz2")
    target.write_bytes(bz2.compress(path.read_bytes()))
    path.unlink()
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The first two people of dev with their requests, plain."""
    people = read_kept(split_folder("dev") / "personas.jsonl").decode().splitlines()[:2]
    ids = {json.loads(one)["persona_id"] for one in people}
    asked = read_kept(split_folder("dev") / "queries.jsonl").decode().splitlines()
    asked = [one for one in asked if json.loads(one)["persona_id"] in ids]
    (tmp_path / "personas.jsonl").write_text("\n".join(people) + "\n", encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("\n".join(asked) + "\n", encoding="utf-8")
    return tmp_path


def test_a_compressed_data_set_is_the_plain_one_with_the_same_hash(folder: Path) -> None:
    plain, labels, digest = load_dataset(folder), load_labels(folder), data_sha256(folder)
    assert plain.requests
    packed(folder / "personas.jsonl")
    packed(folder / "queries.jsonl")
    assert load_dataset(folder) == plain
    assert load_labels(folder) == labels
    assert data_sha256(folder) == digest


def test_a_bad_line_of_a_compressed_file_is_named_with_its_number(folder: Path) -> None:
    path = folder / "queries.jsonl"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{first}\n{{}}\n", encoding="utf-8")
    packed(path)
    with pytest.raises(ValueError, match=r"^queries\.jsonl\.bz2:2: query_id: Field required"):
        load_dataset(folder)


def test_a_plain_file_wins_over_a_compressed_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    packed(path)
    assert (kept(path).name, read_kept(path)) == ("a.txt.bz2", b"old")
    path.write_text("new")
    assert (kept(path).name, read_kept(path)) == ("a.txt", b"new")


@pytest.mark.parametrize("content", [b"", b"plain text", bz2.compress(b"cut" * 99)[:-9]])
def test_a_broken_compressed_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt.bz2").write_bytes(content)
    if content:
        with pytest.raises(ValueError, match=r"a\.txt\.bz2: not bzip2"):
            open_kept(tmp_path / "a.txt")
    else:
        assert read_kept(tmp_path / "a.txt") == b""  # as `bzcat` has it


def test_a_missing_file_is_named_plainly(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"a\.txt'"):
        read_kept(tmp_path / "a.txt")


def test_a_catalogue_may_be_compressed(tmp_path: Path) -> None:
    tools = [{"name": "book", "description": "Book a flight"}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    packed(tmp_path / "tools.json")
    for name in ("tools.json", "tools.json.bz2"):
        assert [one.id for one in load_catalogue(tmp_path / name)] == ["book"]
    digest = data_sha256(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    assert data_sha256(tmp_path) == digest
