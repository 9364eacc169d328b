"""What one turn changed is taken back together, and nothing else with it."""

from stores.people.changes import Change
from stores.people.learned import turns_file
from stores.people.stores import Stores
from stores.people.turns import LINES, keep_turn, take_back, turn_of
from tests.stores.conftest import ENCODER, WHEN, encode, persona


def applied(stores: Stores, app: str, summary: str) -> int:
    change = Change(summary, remove=[f"ada-{app}"])
    return stores.apply("ada", app, change, WHEN).change_id


def taken_back(stores: Stores) -> list[str]:
    return [one.summary for one in take_back(stores, "ada")]


def test_the_changes_of_a_turn_are_taken_back_newest_first(stores: Stores) -> None:
    applied(stores, "notes", "before")
    turn = [applied(stores, "mail", "first"), applied(stores, "notes", "second")]
    keep_turn(stores.root, "ada", turn)
    assert taken_back(stores) == ["second", "first"]
    assert taken_back(stores) == ["before"]


def test_a_change_after_a_turn_is_taken_back_alone(stores: Stores) -> None:
    keep_turn(
        stores.root, "ada", [applied(stores, "mail", "first"), applied(stores, "notes", "second")]
    )
    applied(stores, "mail", "later")
    assert taken_back(stores) == ["later"]
    assert taken_back(stores) == ["second", "first"]


def test_an_import_after_a_turn_is_taken_back_alone(stores: Stores) -> None:
    keep_turn(
        stores.root, "ada", [applied(stores, "mail", "first"), applied(stores, "notes", "second")]
    )
    stores.import_personas([persona("ada", "zebra")], encode, ENCODER)
    [summary] = taken_back(stores)
    assert summary.startswith("import of")


def test_a_turn_of_somebody_else_groups_nothing(stores: Stores) -> None:
    first, second = applied(stores, "mail", "first"), applied(stores, "notes", "second")
    keep_turn(stores.root, "bob", [first, second])
    assert taken_back(stores) == ["second"]


def test_the_latest_line_about_a_change_counts_and_damaged_ones_do_not(stores: Stores) -> None:
    keep_turn(stores.root, "ada", [1, 2])
    keep_turn(stores.root, "ada", [1, 2, 3])
    with turns_file(stores.root, "ada").open("a", encoding="utf-8") as file:
        file.write("{broken\n7\n")
    assert turn_of(stores.root, "ada", 2) == {1, 2, 3}
    assert turn_of(stores.root, "ada", 7) == {7}
    for number in range(LINES):
        keep_turn(stores.root, "ada", [100 + number, 1000 + number])
    assert turn_of(stores.root, "ada", 2) == {2}


def test_a_line_that_is_nested_without_end_counts_for_nothing(stores: Stores) -> None:
    keep_turn(stores.root, "ada", [3, 4])
    with turns_file(stores.root, "ada").open("a") as file:
        file.write("[" * 99_999 + "\n" + "1" * 9_999 + "\n")
    assert turn_of(stores.root, "ada", 4) == {3, 4}
