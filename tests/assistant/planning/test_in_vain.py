"""Claims about calls that cannot be done with what the person has."""

import pytest

from ctrag.assistant.planning.in_vain import in_vain, unasked
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item

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


CONTACTS = (Contact("Ole Berg", "neighbour"), Contact("Fjord Clinic", "clinic"))


@pytest.mark.parametrize(
    ("request_", "api", "arguments", "wanted"),
    [
        ("did the clinic ring", "return_missed_call", {"contact": "Fjord Clinic"}, True),
        ("did the clinic ring? call them back", "return_missed_call", {"contact": "F"}, False),
        ("did the clinic ring", "get_missed_calls", {}, False),
        ("what did Ole say on the voicemail", "play_voicemail", {"contact": "Ole Berg"}, False),
        ("what about telling Ole I'm late", "send_mail", {"to": "Ole Berg"}, False),
        ("when do I give the cat her pill", "complete_reminder", {"title": "Cat"}, True),
        ("anything coming up with ole", "google_news", {"topic": "ole coming"}, True),
        ("have I anything on with ole next week", "list_events", {"date": "2024-08-05"}, True),
        ("what have I on next week", "list_events", {"date": "2024-08-05"}, False),
        ("anything new on the tunnel", "google_news", {"topic": "tunnel"}, False),
        ("take rye off my shopping list", "delete_note", {"title": "Shopping"}, True),
        ("delete the shopping note", "delete_note", {"title": "Shopping"}, False),
    ],
)
def test_a_call_that_was_not_asked_for_is_told(
    request_: str, api: str, arguments: dict[str, str], wanted: bool
) -> None:
    tool = Toolbox.packaged().get(api)
    assert tool is not None
    assert unasked(Plan(api, arguments), tool, request_, CONTACTS) is wanted
