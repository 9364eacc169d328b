"""The record of use: what stands in it after undo and corrections, its size, its rights, its end."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from stores.people import doctor, usage
from stores.people.changes import Change
from stores.people.learned import personal_file, usage_file
from stores.people.stores import Stores
from stores.people.turns import keep_turn, take_back
from stores.people.usage import Corrected, RankedItem, Use, keep_taken_back, keep_use, read_usage
from tests.stores.conftest import WHEN
from tests.stores.test_forget import found_in


def use(
    text: str = "the dentist one",
    *items: str,
    change: int | None = None,
    outcome: Literal["done", "agreed", "declined"] = "done",
) -> Use:
    ranked = (RankedItem(id="ada-mail", kind=0, score=1.0),)
    about: dict[str, Any] = {"items": items, "ranked": ranked, "outcome": outcome}
    return Use(text=text, asked_at="2025-04-17T12:59", api="read_mail", change=change, **about)


def test_what_was_undone_no_longer_stands_in_the_record(stores: Stores, root: Path) -> None:
    changes = [
        stores.apply("ada", app, Change("gone", remove=[f"ada-{app}"]), WHEN).change_id
        for app in ("mail", "notes", "music")
    ]
    for change in changes:
        keep_use(root, "ada", use("bin it", "ada-mail", change=change))
    keep_turn(root, "ada", changes[1:])
    list(take_back(stores, "ada"))
    record = read_usage(root, "ada")
    assert [one.change for one in record.uses] == changes[:1]
    assert record.undone == 2


def test_an_undo_makes_no_record_where_there_is_none(stores: Stores, root: Path) -> None:
    stores.apply("ada", "mail", Change("gone", remove=["ada-mail"]), WHEN)
    list(take_back(stores, "ada"))
    keep_taken_back(root, "ada", [7])
    assert not usage_file(root, "ada").exists()


def test_a_corrected_request_is_about_what_had_been_meant(root: Path) -> None:
    keep_use(root, "ada", use("read her mail", "old"))
    keep_use(root, "ada", use("read her mail", "wrong"))
    keep_use(root, "ada", Corrected(text="read her mail", items=("right",)))
    keep_use(root, "ada", Corrected(text="never asked", items=("right",)))
    record = read_usage(root, "ada")
    assert [one.items for one in record.uses] == [("old",), ("right",)]
    assert record.corrected == 1


def test_what_was_declined_or_is_about_nothing_is_counted_and_not_learned_from(root: Path) -> None:
    keep_use(root, "ada", use("ring Ben", "ada-phonecall", outcome="declined"))
    keep_use(root, "ada", use("tell Ben", "ada-mail", outcome="declined"))
    keep_use(root, "ada", use("tell Ben", "ada-mail", outcome="agreed"))  # a yes, a turn later
    keep_use(root, "ada", use("search the web"))
    record = read_usage(root, "ada")
    assert [one.text for one in record.uses] == ["tell Ben"]
    assert (record.declined, record.about_no_item) == (1, 1)


def test_a_broken_line_costs_itself_alone(root: Path) -> None:
    keep_use(root, "ada", use("line\u2028separator", "ada-mail"))
    with usage_file(root, "ada").open("a", encoding="utf-8") as file:
        file.write('{"kind": "use", "text": \n')
    keep_use(root, "ada", use("after it", "ada-mail"))
    record = read_usage(root, "ada")
    assert [one.text for one in record.uses] == ["line\u2028separator", "after it"]
    assert record.unreadable == 1


def test_a_record_grows_no_further_than_its_bound(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_MOST_BYTES", 3000)
    for number in range(60):
        keep_use(root, "ada", use(f"request {number}", "ada-mail"))
        assert usage_file(root, "ada").stat().st_size <= 3000
    texts = [one.text for one in read_usage(root, "ada").uses]
    assert texts == [f"request {number}" for number in range(60 - len(texts), 60)]
    assert usage_file(root, "ada").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", [None, "ada-mail", "Ben"])
def test_forgetting_leaves_no_byte_of_use_or_of_what_was_learned_of_it(
    stores: Stores, root: Path, what: str | None
) -> None:
    keep_use(root, "ada", use("xylophone for Ben", "ada-mail"))
    keep_use(root, "bob", use("about the plumber", "bob-mail"))
    path = personal_file(root, "ada")
    path.write_bytes(b"xylophone")
    path.with_name(f".{path.name}.1.2.tmp").write_bytes(b"xylophone")  # killed while writing
    if what == "Ben":
        stores.forget_contact("ada", "Ben")
    else:
        stores.forget("ada", what)
    assert found_in(root, "xylophone") == []
    assert len(read_usage(root, "bob").uses) == 1


def test_the_doctor_finds_and_mends_a_record_and_what_was_learned(
    stores: Stores, root: Path
) -> None:
    keep_use(root, "ada", use("the first", "ada-mail"))
    record, learned = usage_file(root, "ada"), personal_file(root, "bob")
    assert doctor.examine(stores.files) == []
    with record.open("a", encoding="utf-8") as file:
        file.write("quokka\n")
    record.chmod(0o644)
    np.savez(learned, kinds=np.zeros(3))
    learned.write_bytes(learned.read_bytes()[:-40])
    learned.chmod(0o600)
    found = [(one.name, one.path.suffix, one.problem) for one in doctor.examine(stores.files)]
    assert found == [
        ("learned", ".usage", "1 of 2 lines cannot be read"),
        ("learned", ".npz", "damaged"),
        ("rights", ".usage", "others may read it"),
    ]
    assert doctor.repair(stores.files) == []
    assert [one.text for one in read_usage(root, "ada").uses] == ["the first"]
    assert found_in(root, "quokka") == []
    assert not learned.exists()
