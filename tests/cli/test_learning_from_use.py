"""`ctrag train ranker --from-usage`, through the entry point."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stores.people.learned import personal_file, usage_file
from stores.people.usage import RankedItem, Use, keep_use
from tests.cli.test_own_data import holding

Run = Callable[..., Any]


@pytest.fixture
def root(home: Path) -> Path:
    """Stores with Ada in them."""
    return home / "stores"


def used(root: Path, count: int, *items: str) -> None:
    """Requests that were carried out; the ranker had another item first."""
    ranked = tuple(RankedItem(id=one, kind=6, score=0.0) for one in ("other", "ada-n1"))
    for number in range(count):
        keep_use(
            root,
            "ada",
            Use(
                text=f"the WALRUSREQUEST again, {number}",
                asked_at="2026-12-01T10:00",
                api="read_note",
                items=items,
                ranked=ranked,
                outcome="done",
            ),
        )


def test_learning_says_what_it_learned_from_and_is_taken_back_or_forgotten(
    ctrag: Run, root: Path
) -> None:
    used(root, 12, "ada-n1")
    used(root, 2)
    learned = ctrag("train", "ranker", "--from-usage", "--persona", "ada")
    assert (learned.code, learned.out) == (
        0,
        "ada: learned from 12 requests; 12 recorded about the person's items; left out: "
        "2 about none of the person's items\n",
    )
    path = personal_file(root, "ada")
    assert path.stat().st_mode & 0o777 == 0o600
    assert ctrag("train", "ranker", "--from-usage", "--undo").out == (
        "ada: the ranker is as packaged again\n"
    )
    assert not path.exists()
    assert ctrag("train", "ranker", "--from-usage", "--json").json["ada"]["learned"] == 12
    assert path.exists()
    assert ctrag("forget", "--persona", "ada", "--yes").code == 0
    assert holding(root, "WALRUSREQUEST", "ada-n1") == set()
    assert not path.exists()


def test_with_too_little_use_the_ranker_stays_and_it_is_said(ctrag: Run, root: Path) -> None:
    none = ctrag("train", "ranker", "--from-usage", "--persona", "ada")
    assert none.code == 1
    assert "ada has no record of use; set CTRAG_RECORD_USE=true" in none.out
    used(root, 3, "ada-n1")
    few = ctrag("train", "ranker", "--from-usage", "--persona", "ada")
    assert few.code == 1
    assert "3 recorded about the person's items; 10 are needed" in few.out
    assert usage_file(root, "ada").exists()
    assert not personal_file(root, "ada").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give --data and --out, or --from-usage"),
        (("--data", "x", "--out", "y", "--undo"), "--persona and --undo go with --from-usage"),
        (("--from-usage", "--out", "y"), "--from-usage takes no --out, --more or --encoder"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    ctrag: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = ctrag("train", "ranker", *arguments)
    assert refused.code == 2
    assert told in " ".join(refused.err.replace("│", " ").split())
