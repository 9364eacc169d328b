"""The change log and the review gate."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.prompt.review import LEDGER, ReviewLedger
from tests.agents.prompt.toys import count_words, fragment

POLICY = "# Shop\n\n{shop}\n\n## Cancel\n\n{cancel}\n\n## Return\n\n{back}\n"

OLD = fragment("shop#refund", "Refunds take a week.")
NEW = fragment("shop#refund", "Refunds take a day.")
OTHER = fragment("shop#tone", "Be kind.")


def ledger(folder: Path) -> ReviewLedger:
    return ReviewLedger(folder, lambda: datetime(2026, 1, 2, tzinfo=UTC))


def test_what_comes_changes_and_goes_is_logged_once(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    assert [one.what for one in book.note([OLD, OTHER])] == ["added", "added"]
    assert book.note([OLD, OTHER]) == []
    assert [(one.unit, one.what) for one in book.note([NEW])] == [
        ("shop#refund", "changed"),
        ("shop#tone", "removed"),
    ]
    assert [one.what for one in ledger(tmp_path).changes] == [
        "added",
        "added",
        "changed",
        "removed",
    ]
    assert book.updated("shop#refund") == "2026-01-02T00:00:00+00:00"
    assert book.updated("shop#none") == ""


def test_a_changed_policy_is_served_as_approved_until_the_change_is(tmp_path: Path) -> None:
    book = ledger(tmp_path)
    book.note([OLD, OTHER])
    assert book.served([OLD, OTHER], count_words) == []
    book.approve([OLD, OTHER], ["shop#refund"], "Ada")
    assert book.served([OLD, OTHER], count_words) == [OLD]
    book = ledger(tmp_path)  # what was approved outlives the process
    book.note([NEW, OTHER])
    [served] = book.served([NEW, OTHER], count_words)
    assert (served.id, served.text, served.tokens) == ("shop#refund", "Refunds take a week.", 4)
    assert [one.id for one in book.pending([NEW, OTHER])] == ["shop#refund", "shop#tone"]
    book.approve([NEW, OTHER], ["shop#refund"], "Ada")
    assert book.served([NEW, OTHER], count_words) == [NEW]


def repeated(word: str, number: int) -> str:
    return " ".join(f"{word}{at}" for at in range(number))


def shop(folder: Path, cancel: int) -> tuple[Fragment, ...]:
    """Fragments of a policy whose part about cancelling has so many words."""
    policy = folder / "policies" / "shop.md"
    policy.parent.mkdir(exist_ok=True)
    parts = {
        "shop": repeated("greet", 250),
        "cancel": repeated("stop", cancel),
        "back": repeated("give", 250),
    }
    policy.write_text(POLICY.format(**parts), encoding="utf-8")
    return cut_folder(policy.parent, count_words).fragments


def approved(folder: Path, fragments: tuple[Fragment, ...]) -> list[Fragment]:
    book = ledger(folder)
    book.note(fragments)
    book.approve(fragments, [one.id for one in fragments], "Ada")
    return book.served(fragments, count_words)


def served(folder: Path, fragments: tuple[Fragment, ...]) -> list[Fragment]:
    """What a later process serves."""
    book = ledger(folder)
    book.note(fragments)
    return book.served(fragments, count_words)


def test_a_section_that_shrinks_into_its_neighbour_takes_no_approved_rule_away(
    tmp_path: Path,
) -> None:
    before = approved(tmp_path, shop(tmp_path, 250))
    assert [one.id for one in before] == ["shop#shop", "shop#cancel", "shop#return"]
    shrunk = shop(tmp_path, 150)  # too short to stand alone: what follows is joined to it
    assert [one.id for one in shrunk] == ["shop#shop", "shop#cancel"]
    assert served(tmp_path, shrunk) == before
    book = ledger(tmp_path)
    waiting = {one.id: one.what for one in book.pending(shrunk)}
    assert waiting == {"shop#cancel": "changed", "shop#return": "removed"}
    book.approve(shrunk, list(waiting), "Ada")
    assert served(tmp_path, shrunk) == list(shrunk)
    assert ledger(tmp_path).pending(shrunk) == []


def test_an_edit_that_is_undone_needs_no_second_approval(tmp_path: Path) -> None:
    before = approved(tmp_path, shop(tmp_path, 250))
    served(tmp_path, shop(tmp_path, 150))
    again = shop(tmp_path, 250)
    assert served(tmp_path, again) == before
    assert ledger(tmp_path).pending(again) == []


def test_a_removed_unit_is_served_until_its_removal_is_approved(tmp_path: Path) -> None:
    approved(tmp_path, (OLD, OTHER))
    assert served(tmp_path, (OTHER,)) == [OTHER, OLD]
    book = ledger(tmp_path)
    assert [(one.id, one.what) for one in book.pending([OTHER])] == [("shop#refund", "removed")]
    book.approve([OTHER], ["shop#refund"], "Ada")
    assert served(tmp_path, (OTHER,)) == [OTHER]
    assert (book.changes[-1].what, book.changes[-1].digest) == ("approved", "")
    assert served(tmp_path, (OLD, OTHER)) == [OTHER]  # to come back takes an approval


def test_a_copy_of_another_units_words_takes_that_unit_not_away(tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "a.md").write_text(f"# Greeting\n\n{repeated('hello', 250)}", encoding="utf-8")
    (policies / "b.md").write_text(f"# Refund\n\n{repeated('refund', 250)}", encoding="utf-8")
    before = approved(tmp_path, cut_folder(policies, count_words).fragments)
    (policies / "a.md").write_text(f"# Greeting\n\n{repeated('refund', 250)}", encoding="utf-8")
    copied = cut_folder(policies, count_words)
    assert copied.duplicates == (("b#refund", "a#greeting"),)
    assert served(tmp_path, copied.fragments) == before


@pytest.mark.parametrize(
    "change", [{"priority": 99}, {"domain": "air"}, {"kind": "style"}, {"heading": "Others"}]
)
def test_what_is_said_of_a_unit_waits_for_approval_as_its_text_does(
    tmp_path: Path, change: dict[str, object]
) -> None:
    approved(tmp_path, (OLD,))
    changed = replace(OLD, **change)  # type: ignore[arg-type]
    assert served(tmp_path, (changed,)) == [OLD]
    assert [one.what for one in ledger(tmp_path).pending([changed])] == ["changed"]
    assert approved(tmp_path, (changed,)) == [changed]


def test_a_unit_that_moved_keeps_its_place_until_something_is_approved(tmp_path: Path) -> None:
    approved(tmp_path, (OTHER,))
    moved = replace(OTHER, place=1)
    assert served(tmp_path, (OLD, moved)) == [OTHER]
    book = ledger(tmp_path)
    book.approve([OLD, moved], [OLD.id], "Ada")
    assert book.served([OLD, moved], count_words) == [OLD, moved]


@pytest.mark.parametrize(
    ("units", "by", "problem"),
    [
        (["shop#none"], "Ada", "units: 'shop#none' is no fragment"),
        (["shop#refund"], " ", "by: say who approves"),
    ],
)
def test_an_approval_needs_a_unit_and_a_name(
    tmp_path: Path, units: list[str], by: str, problem: str
) -> None:
    book = ledger(tmp_path)
    book.note([OLD])
    with pytest.raises(ValueError, match=problem):
        book.approve([OLD], units, by)
    assert [one.id for one in book.pending([OLD])] == [OLD.id]


def test_a_broken_ledger_is_named(tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"ledger\.json: "):
        ledger(tmp_path)


def test_what_another_process_approved_meanwhile_stays_approved(tmp_path: Path) -> None:
    waiting = ledger(tmp_path)  # a gateway that has opened the folder
    reviewer = ledger(tmp_path)
    reviewer.note([OLD, OTHER])
    reviewer.approve([OLD, OTHER], [OLD.id], "Ada")
    waiting.note([NEW, OTHER])
    assert waiting.served([NEW, OTHER], count_words) == [OLD]
    reviewer.approve([NEW, OTHER], [OTHER.id], "Ada")
    assert len(ledger(tmp_path).served([NEW, OTHER], count_words)) == 2
    assert [one.what for one in ledger(tmp_path).changes].count("approved") == 2
