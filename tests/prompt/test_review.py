"""The change log and the review gate."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctrag.prompt.review import LEDGER, ReviewLedger
from tests.prompt.toys import count_words, fragment

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
    assert book.pending([OLD]) == [OLD]


def test_a_broken_ledger_is_named(tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"ledger\.json: "):
        ledger(tmp_path)
