"""Claims about calls that are composed of what was said and of ranked values."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from ctrag.assistant.planning.candidate_values import CandidateValue, ValueSources
from ctrag.assistant.planning.compose import Composed, compose
from ctrag.assistant.planning.filled_slot import FilledSlot
from ctrag.assistant.planning.plan import Plan
from ctrag.assistant.planning.ranked_values import ToolValues, rank_values
from ctrag.assistant.planning.said import FEATURES, SaidChoice
from ctrag.assistant.planning.slots import slots_of
from ctrag.toolbox import Argument, Tool, Toolbox
from stores.people.items import Contact, Item, Person, Profile, Request

AT = datetime(2025, 4, 17, 12, 0)
ADA = Person(
    "ada",
    AT,
    Profile(name="Ada"),
    (
        Contact("Anna Berg", "colleague"),
        Contact("Anna Holt", "landlady"),
        Contact("Tom Reed", "brother"),
    ),
)
PLANETS = Item(
    "s1",
    "music",
    {
        "song_name": "Jupiter",
        "artist": "LSO",
        "album_title": "Holst: The Planets",
        "genre": "Classical",
        "playlist": "Calm",
        "played_at": AT,
    },
)
LUNCH = Item(
    "c1",
    "calendar",
    {
        "title": "Lunch",
        "start": datetime(2025, 4, 18, 13, 0),
        "end": datetime(2025, 4, 18, 14, 0),
        "location": "Bistro",
        "attendees": ("Tom Reed",),
        "notes": None,
    },
)

NOTHING: dict[str, Any] = {
    "command": "toy",
    "data": "toy",
    "data_sha256": "hash",
    "settings": {},
    "figures": {},
    "versions": {},
    "seed": 1,
}
NEVER = SaidChoice(**NOTHING, weights=[0.0] * len(FEATURES), bias=-9.0)
"""Takes nothing for said."""


def tool(api: str) -> Tool:
    found = Toolbox.packaged().get(api)
    assert found is not None
    return found


def composed(api: str, *items: Item, said: str = "do it", **slots: str) -> Composed:
    called = tool(api)
    sources = ValueSources(Request(said, AT), ADA, items)
    filled = {name: FilledSlot(value, 0.9) for name, value in slots.items()}
    return compose(called, rank_values([called], sources)[api], filled, sources)


def test_a_request_can_say_everything_but_choices_and_names_of_what_the_person_has() -> None:
    assert [one.name for one in slots_of(tool("reschedule_event"))] == ["new_start"]
    assert [one.name for one in slots_of(tool("send_mail"))] == ["to", "subject", "body"]
    assert slots_of(tool("skip_song")) == []
    assert slots_of(tool("call_number")) == []


def test_what_was_said_wins_over_what_an_item_has() -> None:
    found = composed("play_genre", PLANETS, genre="jazz")
    assert found.plan == Plan("play_genre", {"genre": "jazz"})
    assert found.beliefs[0] == 0.9
    slots = {"album_title": FilledSlot("the Variations", 0.9), "artist": FilledSlot(None, 0.9)}
    called = tool("play_album")
    sources = ValueSources(Request("play the Variations", AT), ADA, [PLANETS])
    made = compose(called, rank_values([called], sources)["play_album"], slots, sources)
    assert made.plan == Plan("play_album", {"album_title": "the Variations"}), "not by the LSO"


def test_a_title_said_in_part_is_the_one_that_the_person_has() -> None:
    found = composed("add_song_to_playlist", PLANETS, song_name="jupiter", playlist_name="calm")
    assert found.plan == Plan(
        "add_song_to_playlist", {"song_name": "Jupiter", "playlist_name": "Calm"}
    )


def test_what_was_not_said_comes_from_the_ranked_values() -> None:
    said = "move lunch tomorrow at two"
    found = composed("reschedule_event", LUNCH, said=said, new_start="tomorrow at two")
    assert found.plan == Plan(
        "reschedule_event", {"title": "Lunch", "new_start": "2025-04-18T14:00"}
    )


@pytest.mark.parametrize(
    ("mention", "name", "sure"),
    [
        ("Anna Holt", "Anna Holt", 0.9),
        ("my landlady", "Anna Holt", 0.9),
        ("my bro", "Tom Reed", 0.9),
        ("Anna", "Anna Berg", 0.45),  # one of two
        ("Zoe Adams", "Zoe Adams", 0.9 * 0.3),  # nobody of that name
        ("zoe", "zoe", 0.9 * 0.3),
    ],
)
def test_a_mention_is_a_contact_and_belief_says_how_many_it_fits(
    mention: str, name: str, sure: float
) -> None:
    found = composed("call_contact", contact=mention)
    assert found.plan == Plan("call_contact", {"contact": name})
    assert found.beliefs == pytest.approx((sure,))


def test_two_people_of_one_name_are_each_others_alternative() -> None:
    found = composed("call_contact", contact="Anna")
    assert found.variants[0] == (Plan("call_contact", {"contact": "Anna Holt"}), 1.0)
    assert all(odds < 0.2 for _, odds in composed("call_contact", contact="Tom").variants)


def test_several_people_are_invited_by_their_mentions() -> None:
    found = composed(
        "create_event",
        said="walk with tom and anna holt tomorrow at five",
        title="Walk",
        start="tomorrow at five",
        attendees="tom and anna holt",
    )
    assert found.plan is not None
    assert found.plan.arguments["attendees"] == ["Tom Reed", "Anna Holt"]
    assert found.plan.arguments["start"] == "2025-04-18T17:00"


def test_since_is_what_the_request_names_though_no_slot_was_read() -> None:
    called = tool("get_recently_played")
    sources = ValueSources(Request("what did I play today", AT), ADA, [PLANETS])
    values = rank_values([called], sources)["get_recently_played"]
    made = compose(called, values, {"since": FilledSlot(None, 0.8)}, sources)
    assert made.plan == Plan("get_recently_played", {"since": "2025-04-17T00:00"})


def test_a_search_that_is_only_hinted_at_looks_for_the_best_item_there() -> None:
    page = Item("g1", "google", {"query": "soup dumplings", "searched_at": AT, "clicked": None})
    called = tool("get_search_history")
    sources = ValueSources(Request("the slow folding video", AT), ADA, [page])
    values = rank_values([called], sources)["get_search_history"]
    unsaid = {"query": FilledSlot(None, 0.9)}
    hinted = compose(called, values, unsaid, sources, plain=0.1)
    assert hinted.plan == Plan("get_search_history", {"query": "soup dumplings"})
    plain = compose(called, values, unsaid, sources, plain=0.9)
    assert plain.plan == Plan("get_search_history", {})


def test_another_surname_is_another_person() -> None:
    called = composed("call_contact", contact="Anna Smith")
    assert called.plan == Plan("call_contact", {"contact": "Anna Smith"}), "said to be unknown"
    assert max(called.beliefs) < 0.5
    assert composed("call_contact", contact="the Berg Inn").plan != Plan(
        "call_contact", {"contact": "Anna Berg"}
    )


def test_a_message_that_nobody_said_is_the_request_itself() -> None:
    found = composed("notify_attendees", LUNCH, said="I'm late")
    assert found.plan == Plan("notify_attendees", {"title": "Lunch", "message": "I'm late"})


def test_a_call_that_lacks_a_required_value_is_none() -> None:
    assert composed("read_note").plan is None


def test_a_hint_is_not_taken_for_a_value_where_the_choice_says_so() -> None:
    called = tool("play_genre")
    sources = ValueSources(Request("the usual noise", AT), ADA, [PLANETS])
    values = rank_values([called], sources)["play_genre"]
    slots = {"genre": FilledSlot("usual noise", 0.9)}
    choice = SaidChoice(
        **NOTHING, weights=[1.0] + [0.0] * (len(FEATURES) - 1), bias=0.0
    )  # plainness alone
    hint = compose(called, values, slots, sources, choice, plain=0.1)
    assert hint.plan == Plan("play_genre", {"genre": "Classical"})
    said = compose(called, values, slots, sources, choice, plain=0.9)
    assert said.plan == Plan("play_genre", {"genre": "usual noise"})


def test_an_equal_name_is_nearer_than_a_longer_one() -> None:
    songs = [
        Item(f"s{at}", "music", PLANETS.fields | {"playlist": name})
        for at, name in enumerate(("Morning Run", "Morning"))
    ]
    called = tool("play_playlist")
    sources = ValueSources(Request("play morning", AT), ADA, songs, (), songs)
    values = rank_values([called], sources)["play_playlist"]
    made = compose(called, values, {"playlist_name": FilledSlot("morning", 0.9)}, sources)
    assert made.plan == Plan("play_playlist", {"playlist_name": "Morning"})


def test_what_was_said_stays_where_nothing_could_stand_instead() -> None:
    called = tool("google_translate")
    sources = ValueSources(Request("say hello in welsh", AT), ADA, [])
    values = replace(
        rank_values([called], sources)["google_translate"], candidates={"target_language": ()}
    )
    slots = {"text": FilledSlot("hello", 0.9), "target_language": FilledSlot("welsh", 0.9)}
    made = compose(called, values, slots, sources, NEVER, plain=0.1)
    assert made.plan == Plan("google_translate", {"text": "hello", "target_language": "welsh"})


def test_an_items_optional_values_go_with_its_name_though_another_was_read() -> None:
    called = tool("play_album")
    sources = ValueSources(Request("the usual, loud", AT), ADA, [PLANETS])
    values = rank_values([called], sources)["play_album"]
    slots = {"album_title": FilledSlot("usual", 0.9), "artist": FilledSlot(None, 0.9)}
    made = compose(called, values, slots, sources, NEVER, plain=0.1)
    assert made.plan == Plan(
        "play_album",
        {"album_title": "Holst: The Planets", "artist": "LSO"},
    )


def test_a_phone_number_is_no_whole_number() -> None:
    called = tool("call_number").model_copy(
        update={
            "arguments": (
                Argument(
                    name="number", type="integer", match="value", required=True, description=""
                ),
            )
        }
    )
    sources = ValueSources(Request("wait for +44 20 7946 0018", AT), ADA, [])
    values = rank_values([called], sources)["call_number"]
    assert compose(called, values, {}, sources).plan is None


def test_a_title_does_not_say_when() -> None:
    said = "wake me in an hour and a half"
    found = composed("create_reminder", said=said, title=said, due="in an hour and a half")
    assert found.plan == Plan("create_reminder", {"title": "wake me", "due": "2025-04-17T13:30"})
    whole = composed("create_reminder", said="at noon", title="at noon", due="at noon")
    assert whole.plan is not None
    assert whole.plan.arguments["title"] == "at noon", "a title is not empty"


SHOPPING = Item(
    "n1", "notes", {"title": "Shopping", "body": "bread\nhoney\ntwo lemons", "folder": "Home"}
)


def test_a_note_that_is_changed_in_part_keeps_the_rest() -> None:
    said = "take the honey off the shopping note"
    found = composed("update_note", SHOPPING, said=said, body="take the honey off")
    assert found.plan == Plan("update_note", {"title": "Shopping", "body": "bread\ntwo lemons"})


def test_a_text_that_would_replace_most_of_a_note_unasked_is_unsure() -> None:
    lost = composed("update_note", SHOPPING, said="the shopping note is off", body="is off")
    whole = composed("update_note", SHOPPING, said="make it only: tea", body="tea")
    assert lost.plan is not None
    assert whole.plan is not None
    assert min(lost.beliefs) < 0.5 < min(whole.beliefs)
    assert whole.plan.arguments["body"] == "tea"


def test_no_word_is_lost_between_a_title_and_its_text() -> None:
    said = "new note, sizes of Ida: coat 104"
    found = composed("create_note", said=said, title="Ida", body="coat 104")
    assert found.plan == Plan("create_note", {"title": "Sizes of Ida", "body": "coat 104"})


def test_a_call_with_the_next_best_value_is_as_likely_as_the_value_is() -> None:
    ranked = ToolValues(
        {"song_name": (CandidateValue("Blue Train", "s1"), CandidateValue("Naima", "s2"))},
        beliefs={"song_name": 0.6},
        others={"song_name": ("Naima", 0.3)},
        ranked=True,
    )
    said = ValueSources(Request("play the slow one", AT), ADA, ())
    found = compose(tool("play_song"), ranked, {}, said)
    assert found.plan == Plan("play_song", {"song_name": "Blue Train"})
    assert found.variants == ((Plan("play_song", {"song_name": "Naima"}), pytest.approx(0.5)),)


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("push lunch to friday", "2025-04-25T13:00"),
        ("push lunch to friday at three", "2025-04-18T15:00"),
        ("move lunch to friday", "2025-04-18T13:00"),
    ],
)
def test_what_is_pushed_to_its_own_weekday_is_a_week_later(said: str, until: str) -> None:
    phrase = said.removeprefix("push lunch to ").removeprefix("move lunch to ")
    found = composed("reschedule_event", LUNCH, said=said, new_start=phrase)
    assert found.plan is not None
    assert found.plan.arguments["new_start"] == until


def test_who_is_not_named_in_a_plain_request_is_not_invited() -> None:
    values = ToolValues(
        {"attendees": (CandidateValue("Tom Reed", "contact", "contact"),)},
        beliefs={"attendees": 0.5},
        ranked=True,
    )
    slots = {
        "title": FilledSlot("Run", 0.9),
        "start": FilledSlot("tomorrow at nine", 0.9),
        "attendees": FilledSlot(None, 0.9),
    }

    def invited(said: str, plain: float) -> object:
        sources = ValueSources(Request(said, AT), ADA, ())
        made = compose(tool("create_event"), values, slots, sources, plain=plain)
        assert made.plan is not None
        return made.plan.arguments.get("attendees")

    assert invited("a run tomorrow at nine", 0.9) is None
    assert invited("a run tomorrow at nine with tom", 0.9) == ["Tom Reed"]
    assert invited("a run tomorrow at nine", 0.2) == ["Tom Reed"]


def note(key: str, title: str) -> Item:
    return Item(key, "notes", {"title": title, "body": "-", "folder": "Own", "edited_at": AT})


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("delete the note about the lake", "Packing for the lake"),
        ("delete the meeting notes", "Meeting notes harbour"),
        ("delete the note of Friday", "Meeting notes harbour"),  # as ranked: no title is named
    ],
)
def test_the_word_for_a_kind_of_thing_names_no_thing(said: str, title: str) -> None:
    kept = (note("n1", "Meeting notes harbour"), note("n2", "Packing for the lake"))
    called = tool("delete_note")
    sources = ValueSources(Request(said, AT), ADA, kept[:1], owned=kept)
    values = rank_values([called], sources)["delete_note"]
    found = compose(called, values, {}, sources)
    assert found.plan == Plan("delete_note", {"title": title})
    assert found.named == (said != "delete the note of Friday")


@pytest.mark.parametrize(
    ("said", "date"), [("weather bergen sat", "2025-04-19"), ("weather", None)]
)
def test_a_day_that_is_named_is_looked_up_though_no_slot_was_read(
    said: str, date: str | None
) -> None:
    called = tool("google_weather")
    sources = ValueSources(Request(said, AT), ADA, [])
    slots = {"location": FilledSlot("bergen", 0.9), "date": FilledSlot(None, 0.5)}
    made = compose(called, rank_values([called], sources)["google_weather"], slots, sources)
    assert made.plan is not None
    assert made.plan.arguments.get("date") == date


def test_the_hour_of_another_clause_is_not_the_hour_that_was_said() -> None:
    said = "push lunch to half two, nobody is there at one"
    found = composed("reschedule_event", LUNCH, said=said, new_start="half two")
    assert found.plan.arguments["new_start"] == "2025-04-18T14:30"
    corrected = "lunch at two, no, at three"
    found = composed("reschedule_event", LUNCH, said=corrected, new_start="two")
    assert found.plan.arguments["new_start"] == "2025-04-18T15:00"
