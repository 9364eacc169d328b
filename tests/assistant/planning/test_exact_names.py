"""Claims about alike APIs of which one has the thing that a request names."""

from ctrag.assistant.planning.candidate_values import CandidateValue
from ctrag.assistant.planning.exact_names import by_exact_name, by_named_person
from ctrag.assistant.planning.ranked_values import ToolValues
from ctrag.toolbox import Tool, Toolbox
from stores.people.items import Contact, Item


def tools(*apis: str) -> list[Tool]:
    found = [Toolbox.packaged().get(api) for api in apis]
    return [one for one in found if one is not None]


def named(name: str, *values: str) -> ToolValues:
    return ToolValues({name: tuple(CandidateValue(one, "s1") for one in values)})


VALUES = {
    "play_playlist": named("playlist_name", "Night train"),
    "play_song": named("song_name", "Blue Monk"),
    "play_artist": ToolValues({"artist": (CandidateValue("blue monk", "request", "said"),)}),
    "delete_note": named("title", "Blue Monk"),
}
SHARES = [("play_playlist", 0.6), ("delete_note", 0.2), ("play_artist", 0.15), ("play_song", 0.05)]


def test_the_api_of_the_thing_that_is_named_comes_first() -> None:
    found = by_exact_name(SHARES, tools(*VALUES), VALUES, "put on Blue Monk please")
    assert found == [
        ("play_song", 0.6), ("delete_note", 0.2), ("play_artist", 0.15), ("play_playlist", 0.05),
    ]  # fmt: skip


def test_what_the_first_api_has_or_what_is_named_among_much_else_changes_nothing() -> None:
    for said in ("play night train", "play what Monk wrote when he was blue and far from Oslo"):
        assert by_exact_name(SHARES, tools(*VALUES), VALUES, said) == SHARES


def test_the_kind_that_is_named_is_played() -> None:
    assert by_exact_name(SHARES, tools(*VALUES), VALUES, "my Blue Monk playlist") == SHARES


def test_a_search_gives_way_to_what_is_to_be_heard() -> None:
    shares = [("search_music", 0.7), ("play_song", 0.3)]
    found = by_exact_name(shares, tools(*VALUES, "search_music"), VALUES, "let me hear Blue Monk")
    assert found == [("play_song", 0.7), ("search_music", 0.3)]
    said = "search my music for Blue Monk"
    assert by_exact_name(shares, tools(*VALUES, "search_music"), VALUES, said) == shares


def test_a_verb_that_is_an_api_s_own_is_not_taken_for_nothing() -> None:
    shares = [("none", 0.7), ("snooze_reminder", 0.2), ("delete_note", 0.1)]
    exposed = tools("snooze_reminder", "delete_note")
    found = by_exact_name(shares, exposed, {}, "please snooze the dough until nine")
    assert found == [("snooze_reminder", 0.7), ("none", 0.2), ("delete_note", 0.1)]
    assert by_exact_name(shares, exposed, {}, "the dough is for nine") == shares


CONTACTS = (Contact("Norrkakel", "tiles"), Contact("Ole Berg", "neighbour"))


def test_a_contact_who_is_named_is_called_and_not_somebody_s_number() -> None:
    shares = [("call_number", 0.8), ("read_mail", 0.15), ("call_contact", 0.05)]
    box = tools("call_number", "read_mail", "call_contact")
    found = by_named_person(shares, box, "ring the tile people, Norrkakel", CONTACTS)
    assert found == [("call_contact", 0.8), ("read_mail", 0.15), ("call_number", 0.05)]
    for said in ("ring Norrkakel on five five oh one", "ring 555 0100, that's Norrkakel", "ring"):
        assert by_named_person(shares, box, said, CONTACTS) == shares
    few = tools("call_number", "read_mail")
    assert by_named_person(shares, few, "ring Norrkakel", CONTACTS) == shares


def test_what_is_on_with_somebody_is_looked_for_by_the_name() -> None:
    shares = [("google_news", 0.7), ("list_events", 0.2), ("search_events", 0.1)]
    box = tools("google_news", "list_events", "search_events")
    found = by_named_person(shares, box, "anything coming up w ole", CONTACTS)
    assert found[0] == ("search_events", 0.7)
    assert by_named_person(shares, box, "anything new with the ferry", CONTACTS) == shares


def test_a_shop_near_a_place_is_looked_for_and_no_way_there() -> None:
    shares = [("google_directions", 0.7), ("google_nearby", 0.3)]
    box = tools("google_directions", "google_nearby")
    assert by_exact_name(shares, box, {}, "bakery near the pier")[0] == ("google_nearby", 0.7)
    assert by_exact_name(shares, box, {}, "drive to the shop near the pier") == shares


def test_news_from_who_has_written_are_looked_for_in_the_mail() -> None:
    shares = [("google_news", 0.9), ("search_mail", 0.1)]
    mail = Item("m1", "mail", {"sender": "Bodø University", "subject": "Your papers"})
    exposed = tools("google_news", "search_mail")
    found = by_named_person(shares, exposed, "any news from bodø yet", (), [mail])
    assert found == [("search_mail", 0.9), ("google_news", 0.1)]
    for said in ("any news from Oslo", "news about Bodø"):
        assert by_named_person(shares, exposed, said, (), [mail]) == shares


def test_what_is_moved_is_what_has_that_title() -> None:
    shares = [("none", 0.8), ("reschedule_event", 0.1), ("snooze_reminder", 0.1)]
    exposed = tools("reschedule_event", "snooze_reminder")
    owned = [
        Item("r1", "reminders", {"title": "Order the kiln shelves"}),
        Item("c1", "calendar", {"title": "Kiln demonstration"}),
    ]
    found = by_named_person(shares, exposed, "push kiln order to 4.30", (), owned)
    assert found[0] == ("snooze_reminder", 0.8)
    for said in ("push the kiln to 4.30", "push it to 4.30", "push the sofa to the wall"):
        assert by_named_person(shares, exposed, said, (), owned) == shares


def test_what_is_on_with_a_guest_is_looked_for() -> None:
    shares = [("list_events", 0.9), ("search_events", 0.1)]
    owned = [Item("c1", "calendar", {"title": "Demonstration", "attendees": ("Jonah Feld",)})]
    exposed = tools("list_events", "search_events")
    found = by_named_person(shares, exposed, "anything coming up with Jonah", (), owned)
    assert found[0] == ("search_events", 0.9)
    assert by_named_person(shares, exposed, "anything on with Ida", (), owned) == shares


def test_what_is_opened_is_what_has_that_title() -> None:
    shares = [("none", 0.8), ("read_note", 0.2)]
    exposed = tools("read_note")
    owned = [
        Item("n1", "notes", {"title": "Novel, part two"}),
        Item("n2", "notes", {"title": "Novel, part one"}),
    ]
    assert by_named_person(shares, exposed, "and open part two", (), owned)[0] == ("read_note", 0.8)
    for said in ("open the novel", "open the garage", "open sesame"):
        assert by_named_person(shares, exposed, said, (), owned) == shares


def test_a_note_is_shared_and_a_reminder_that_is_there_is_moved() -> None:
    shares = [("forward_mail", 0.9), ("share_note", 0.1)]
    exposed = tools("forward_mail", "share_note")
    assert by_named_person(shares, exposed, "send that note to Ole", ())[0][0] == "share_note"
    assert by_named_person(shares, exposed, "send that mail with the note to Ole", ()) == shares
    shares = [("create_reminder", 0.9), ("snooze_reminder", 0.1)]
    exposed = tools("create_reminder", "snooze_reminder")
    for said, first in (
        ("put my reminder for that to monday", "snooze_reminder"),
        ("put a reminder in for monday", "create_reminder"),
    ):
        assert by_named_person(shares, exposed, said, ())[0][0] == first
