"""What calls did to a person's items: made, changed, removed; imports are none of it."""

from pathlib import Path
from shutil import copytree

import pytest

from stores.people.app_spec import packaged_apps
from stores.people.changes import Change
from stores.people.item_rows import StoredItem
from stores.people.stores import Stores
from tests.stores.conftest import WHEN, item


@pytest.fixture
def stores(template: Path, tmp_path: Path) -> Stores:
    root = copytree(template, tmp_path / "own")
    return Stores.open(root, [one for one in packaged_apps() if one.name in {"mail", "notes"}])


def test_an_import_touches_nothing(stores: Stores) -> None:
    assert stores.touched("ada") == []


def test_each_item_is_told_with_its_newest_call_and_what_it_was_before(stores: Stores) -> None:
    made, changed = item("notes", "new", "rope"), item("notes", "new", "long rope")
    stores.apply("ada", "notes", Change("made it", [StoredItem(made, None)]), WHEN)
    stores.apply("ada", "notes", Change("changed it", [StoredItem(changed, None)]), WHEN)
    stores.apply("ada", "mail", Change("removed it", remove=["ada-mail"]), WHEN)
    note, mail = stores.touched("ada")
    assert (note.item_id, note.record.summary, note.before) == ("new", "changed it", made)
    assert (mail.item_id, mail.record.summary) == ("ada-mail", "removed it")
    assert mail.before is not None
    assert mail.before.id == "ada-mail"


def test_what_was_made_was_nothing_before_and_an_undo_forgets_it(stores: Stores) -> None:
    stores.apply("ada", "notes", Change("x", [StoredItem(item("notes", "new"), None)]), WHEN)
    [one] = stores.touched("ada")
    assert one.before is None
    stores.undo("ada")
    assert stores.touched("ada") == []


def test_others_see_nothing_of_it(stores: Stores) -> None:
    stores.apply("ada", "notes", Change("x", [StoredItem(item("notes", "new"), None)]), WHEN)
    assert [stores.touched(person) for person in stores.people() if person != "ada"] == [[]]
