"""`stores.people.doctor`: damage is found, told and mended from the last good files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.people import doctor
from stores.people.stores import Stores
from tests.stores.conftest import ENCODER, comparable, contents, encode, persona
from tests.stores.test_forget import found_in
from tests.stores.test_unavailable import DAMAGE


def newest(root: Path) -> Path:
    return max(path for path in root.iterdir() if path.is_dir())


def test_stores_in_order_have_nothing_to_mend(stores: Stores, root: Path) -> None:
    assert doctor.examine(stores.files) == []
    assert doctor.repair(stores.files) == []


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["mail", "people"])
def test_a_damaged_store_comes_back_from_the_last_good_generation(
    stores: Stores, root: Path, kind: str, name: str
) -> None:
    before = contents(stores)
    stores.import_personas([persona("eve")], encode, ENCODER)
    damage, reason = DAMAGE[kind]
    damage(newest(root) / f"{name}.duckdb")
    [found] = doctor.examine(stores.files)
    assert (found.name, found.problem.split()[0]) == (name, reason)
    assert found.lost.startswith("profiles and" if name == "people" else "all items of mail since")
    assert (
        found.mends == "take it from g000001, as it was before the import of 1 people and 7 items"
    )
    assert doctor.repair(stores.files) == []
    for person in ("ada", "bob"):
        assert contents(stores)[person]["items"] == before[person]["items"]
    assert len(stores.items("eve").items) == (7 if name == "people" else 6)
    assert stores.people() == ["ada", "bob"] + ["eve"] * (name == "mail")


def test_without_an_older_one_a_store_is_dropped_only_by_name(stores: Stores, root: Path) -> None:
    (root / "g000001" / "mail.duckdb").write_bytes(b"quokka" * 5000)
    [found] = doctor.repair(stores.files)
    assert (found.name, found.mends) == ("mail", "")
    with pytest.raises(ValueError, match="--drop: the notes store is in order"):
        doctor.drop(stores.files, "notes")
    with pytest.raises(ValueError, match="--drop: 'zoo' is no store; there are people, calendar"):
        doctor.drop(stores.files, "zoo")
    doctor.drop(stores.files, "mail")
    assert doctor.examine(stores.files) == []
    assert found_in(root, "quokka") == []
    assert len(stores.items("ada").items) == 6
    stores.import_personas([persona("ada")], encode, ENCODER)
    assert len(stores.items("ada").items) == 7


def test_people_who_are_lost_for_good_come_back_by_the_ids_of_their_items(
    stores: Stores, root: Path
) -> None:
    (root / "g000001" / "people.duckdb").unlink()
    [found] = doctor.examine(stores.files)
    assert found.mends == "make it anew with the ids of the people who have items"
    assert doctor.repair(stores.files) == []
    assert stores.people() == ["ada", "bob"]
    assert stores.person("ada").profile.name == "ada"
    assert len(comparable(stores.items("ada"))) == 7


@pytest.mark.parametrize(
    "damage",
    [
        lambda root: (root / "manifest.json").unlink(),
        lambda root: (root / "manifest.json").write_bytes(b"{"),
        lambda root: shutil.rmtree(newest(root)),
    ],
)
def test_without_its_manifest_the_newest_whole_generation_is_taken(
    stores: Stores, root: Path, damage: Callable[[Path], object]
) -> None:
    stores.import_personas([persona("eve")], encode, ENCODER)
    damage(root)
    half_built = root / "g000009"
    half_built.mkdir(mode=0o700)
    [found] = doctor.examine(stores.files)
    assert found.name == "manifest"
    assert found.mends.startswith("make g00000")
    assert doctor.repair(stores.files) == []
    assert stores.people()[:2] == ["ada", "bob"]
    assert not half_built.exists()
    stores.import_personas([persona("flo")], encode, ENCODER)
    assert newest(root).name == "g000010"  # a name is never used again


def test_what_others_may_read_and_what_a_crash_left_is_told_and_mended(
    stores: Stores, root: Path
) -> None:
    shutil.copytree(root / "g000001", root / "g000007")
    mail = root / "g000001" / "mail.duckdb"
    mail.chmod(0o644)
    found = {one.name: one.path for one in doctor.examine(stores.files)}
    assert found == {"leftover": root / "g000007", "rights": mail}
    assert doctor.repair(stores.files) == []
    assert not (root / "g000007").exists()
    assert mail.stat().st_mode & 0o777 == 0o600


def test_a_folder_without_stores_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no stores in .*nowhere: run `ctrag import`"):
        doctor.examine(Stores(tmp_path / "nowhere").files)


def test_a_lost_manifest_is_told_by_whoever_would_begin_anew(stores: Stores, root: Path) -> None:
    before = contents(stores)
    (root / "manifest.json").unlink()
    with pytest.raises(ValueError, match=r"lost; `ctrag doctor --repair`"):
        stores.import_personas([persona("eve")], encode, ENCODER)
    assert doctor.repair(stores.files) == []
    assert contents(stores) == before
