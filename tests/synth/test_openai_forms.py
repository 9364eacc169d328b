"""Claims about the items that a model may give a person."""

from datetime import datetime
from typing import Any

import pytest

from stores.people.app_spec import packaged_apps
from synth.openai.forms import items_form

MAIL = packaged_apps()[0]
NOON = datetime(2025, 4, 17, 12, 0)


def mail(sender: str, received: str) -> dict[str, Any]:
    """A mail as a model gives it; the subject tells two apart."""
    return {
        "sender": sender,
        "subject": f"of {received}",
        "body": "x",
        "received_at": received,
        "unread": False,
        "usage": {"opens_30d": 0},
    }


@pytest.mark.parametrize(
    ("rows", "said"),
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
def test_items_that_do_not_fit_the_person_are_sent_back(
    rows: list[dict[str, Any]], said: str
) -> None:
    form = items_form(MAIL, "p1", len(rows), NOON, known=["Ben"])
    with pytest.raises(ValueError, match=said):
        form.read({"items": rows})


def test_items_near_the_moment_with_somebody_known_are_taken() -> None:
    rows = [mail("Ben", "2025-04-17T12:00"), mail("A shop", "2025-04-02T08:00")]
    assert len(items_form(MAIL, "p1", 2, NOON, known=["Ben"]).read({"items": rows})) == 2
