"""Claims about requests that say outright which API they want."""

from datetime import datetime

import pytest

from ctrag.apps.toolbox import Toolbox
from ctrag.tools.commands import commanded
from stores.items import Item

TOOLS = list(Toolbox.packaged())
AT = datetime(2025, 4, 17, 12, 0)
DENTIST = Item(
    "c1",
    "calendar",
    {
        "title": "Dentist",
        "start": AT,
        "end": AT,
        "location": None,
        "attendees": (),
        "notes": None,
    },
)


@pytest.mark.parametrize(
    ("text", "apis"),
    [
        ("reschedule the dentist to ten", ["reschedule_event"]),
        ("Cancel the event", ["cancel_event"]),
        ("send Omar a mail that I am late", ["send_mail"]),
        ("can't make the dentist", []),
        ("order me a taxi", []),
        ("cancel my subscription", []),
    ],
)
def test_a_verb_beside_its_object_names_the_api(text: str, apis: list[str]) -> None:
    assert [TOOLS[place].api for place in commanded(text, [DENTIST], TOOLS)] == apis


def test_titles_count_for_their_own_application_only() -> None:
    assert commanded("reschedule the dentist to ten", [], TOOLS) == []
