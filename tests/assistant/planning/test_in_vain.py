"""Claims about calls that cannot be done with what the person has."""

import pytest

from ctrag.assistant.planning.in_vain import in_vain
from ctrag.assistant.planning.plan import Plan
from stores.people.items import Item

OWNED = (
    Item("p1", "phonecall", {"contact": "Ole Berg", "direction": "missed"}),
    Item("p2", "phonecall", {"contact": "Ruth Quist", "direction": "missed", "voicemail": "Hi"}),
    Item("p3", "phonecall", {"contact": "Ines Duarte", "direction": "incoming"}),
)


@pytest.mark.parametrize(
    ("api", "contact", "vain"),
    [
        ("play_voicemail", "Ruth Quist", False),
        ("play_voicemail", "Ole Berg", True),
        ("return_missed_call", "Ole Berg", False),
        ("return_missed_call", "Ines Duarte", True),
        ("call_contact", "Ines Duarte", False),
    ],
)
def test_what_nobody_left_cannot_be_played_or_returned(api: str, contact: str, vain: bool) -> None:
    assert in_vain(Plan(api, {"contact": contact}), OWNED) is vain
    assert not in_vain(Plan(api, {"contact": contact}), ()), "nothing is known of what there is"
