"""Claims about the items that a model may give a person."""

from datetime import datetime
from typing import Any

import pytest

from stores.people.app_spec import packaged_apps
from synth.openai.asking import _parsed
from synth.openai.forms import items_form

MAIL = packaged_apps()[0]
NOON = datetime(2025, 4, 17, 12, 0)


def mail(sender: str, received: str) -> dict[str, Any]:
    """A mail as a model returns it; subjects differ."""
    return {
        "sender": sender,
        "subject": f"of {received}",
        "body": "x",
        "received_at": received,
        "unread": False,
        "usage": {"opens_30d": 0},
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([mail("Ben", "2025-04-17T12:01")], "lies after .*; what is in mail has happened already"),
        ([mail("Ben", "2023-04-17T12:00")], "2023-04-17 12:00:00 lies too far from"),
        (
            [mail("A shop", "2025-04-16T12:00"), mail("An office", "2025-04-15T12:00")],
            "nobody in them is a contact; some must be: Ben",
        ),
    ],
    ids=["to-come", "long-ago", "strangers-only"],
)
def test_items_that_do_not_fit_the_person_are_rejected(
    rows: list[dict[str, Any]], message: str
) -> None:
    form = items_form(MAIL, "p1", len(rows), NOON, known=["Ben"])
    with pytest.raises(ValueError, match=message):
        form.read({"items": rows})


def test_items_near_now_with_a_contact_are_accepted() -> None:
    rows = [mail("Ben", "2025-04-17T12:00"), mail("A shop", "2025-04-02T08:00")]
    assert len(items_form(MAIL, "p1", 2, NOON, known=["Ben"]).read({"items": rows})) == 2


@pytest.mark.parametrize(
    "text",
    [
        'Sure! Here it is:\n{"a": {"b": 1}}\nAnything else?',
        'As in {this}, so: {"a": {"b": 1}}',
        '{"x": 1}? No: {"a": {"b": 1}}.',
    ],
)
def test_prose_around_an_answer_is_understood(text: str) -> None:
    assert _parsed(text, cut=False) == {"a": {"b": 1}}


def test_an_answer_that_was_cut_off_is_not_guessed_at() -> None:
    with pytest.raises(ValueError, match="cut off"):
        _parsed('Here: {"a": {"b": 1}}, {"c', cut=True)
