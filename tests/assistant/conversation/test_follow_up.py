"""What a turn means after others, read without any model."""

from datetime import datetime

import numpy as np
import pytest

from ctrag.assistant.context.item_arrays import PersonView
from ctrag.assistant.conversation.focus import Focus
from ctrag.assistant.conversation.follow_up import read
from ctrag.assistant.conversation.reading import Reading
from ctrag.assistant.conversation.references import thing_meant
from ctrag.assistant.conversation.state import State, Turn
from ctrag.assistant.planning.plan import Plan
from ctrag.toolbox import Toolbox
from stores.people.items import Contact, Item, Person, Profile

AT = datetime(2025, 4, 17, 12, 0)
TOOLBOX = Toolbox.packaged()
ADA = Person(
    "ada",
    AT,
    Profile(name="Ada Quist"),
    (
        Contact("Omar Salcedo", "dispatcher", "+52 33 5550 1103", "omar@example.mx"),
        Contact("Lena Brandt", "sister", "+49 30 1234 567", "lena@example.de"),
        Contact("Lena Moreau", "neighbour", "+33 1 2345 6789", "moreau@example.fr"),
    ),
)


def event(number: int, title: str, start: datetime, *who: str, place: str = "Dock 4") -> Item:
    end = start.replace(minute=50)
    fields = {"title": title, "start": start, "end": end, "location": place, "attendees": who}
    return Item(f"c{number}", "calendar", fields)


def reminder(number: int, title: str, due: datetime) -> Item:
    fields = {"title": title, "due": due, "list": "Home", "done": False}
    return Item(f"r{number}", "reminders", fields)


def song(number: int, name: str, album: str, playlist: str) -> Item:
    fields = {"song_name": name, "artist": "Kraftwerk", "album_title": album, "playlist": playlist}
    return Item(f"s{number}", "music", {**fields, "played_at": AT})


def note(number: int, title: str) -> Item:
    return Item(f"n{number}", "notes", {"title": title, "body": "…", "modified_at": AT})


MAIL = Item(
    "m1",
    "mail",
    {"subject": "Crane log", "sender": "Omar Salcedo", "body": "Is it free?", "received_at": AT},
)
CRANE = event(1, "Crane check", datetime(2025, 4, 18, 15), "Ada Quist", "Omar Salcedo")
ROWING = event(2, "Rowing", datetime(2025, 4, 18, 18), place="Boat house, Laksevåg")
PHYSIO = event(3, "Physio", datetime(2025, 4, 18, 10))
GATE = reminder(1, "Lock the gate", datetime(2025, 4, 17, 20))
ROPE = reminder(2, "Buy rope", datetime(2025, 4, 17, 17))
ITEMS = (
    CRANE,
    ROWING,
    PHYSIO,
    GATE,
    ROPE,
    MAIL,
    song(1, "Autobahn", "Autobahn", "Road"),
    song(2, "Neon Lights", "The Man-Machine", "Night shift"),
    note(1, "Tide table"),
    note(2, "Winch manual"),
)
VIEW = PersonView(ADA, ITEMS, np.zeros((len(ITEMS), 4), np.float32))


def turn(text: str, plan: Plan, *items: str, **more: object) -> Turn:
    return Turn(text, plan, TOOLBOX.get(plan.api), items, **more)  # type: ignore[arg-type]


LISTED = turn("what's on tomorrow", Plan("list_events", {"date": "2025-04-18"}), "c1", "c2")
CHECKED = turn("when is the crane check", Plan("get_event", {"title": "Crane check"}), "c1")
MADE = turn(
    "remind me to lock the gate at eight",
    Plan("create_reminder", {"title": "Lock the gate", "due": "2025-04-17T20:00"}),
    "r1",
    made=True,
)
REMINDERS = turn("what's on my list", Plan("list_reminders", {}), "r2", "r1")
PLAYED = turn("play Autobahn", Plan("play_song", {"song_name": "Autobahn"}), "s1")
READ = turn("open the tide table", Plan("read_note", {"title": "Tide table"}), "n1")
WROTE = turn("what did Omar write", Plan("read_mail", {"subject": "Crane log"}), "m1")
SHARED = turn(
    "share the tide table with Omar",
    Plan("share_note", {"title": "Tide table", "contact": "Omar Salcedo"}),
    "n1",
    people=("Omar Salcedo",),
)
CALLED = turn(
    "call Omar", Plan("call_contact", {"contact": "Omar Salcedo"}), people=("Omar Salcedo",)
)
MORNING = turn("when is physio", Plan("get_event", {"title": "Physio"}), "c3")
ASKED = turn("weather in Oslo tomorrow", Plan("google_weather", {"location": "Oslo"}))

ROUTE = turn("how do I get to Bergen", Plan("google_directions", {"destination": "Bergen"}))
TRANSLATED = turn(
    "good morning in French",
    Plan("google_translate", {"text": "good morning", "target_language": "French"}),
)
CAFES = turn("cafes in Bergen", Plan("google_nearby", {"category": "cafe", "near": "Bergen"}))
MOVED = turn(
    "move the crane check to four",
    Plan("reschedule_event", {"title": "Crane check", "new_start": "2025-04-18T16:00"}),
    "c1",
    change=5,
)
WRITTEN = turn(
    "tell Omar I'm late",
    Plan("send_mail", {"to": "Omar Salcedo", "subject": "Late", "body": "I'm late."}),
    people=("Omar Salcedo",),
)


def reading(text: str, *turns: Turn, playing: str | None = None) -> Reading:
    state = State()
    state.turns.extend(turns)
    return read(text, state, VIEW, ADA, AT, TOOLBOX, playing)


@pytest.mark.parametrize(
    ("before", "text", "plan"),
    [
        (MADE, "make it nine", 'snooze_reminder(title="Lock the gate", until="2025-04-17T21:00")'),
        (
            MADE,
            "and another one at ten",
            'create_reminder(title="Lock the gate", due="2025-04-17T22:00")',
        ),
        (
            MADE,
            "same again tomorrow",
            'create_reminder(title="Lock the gate", due="2025-04-18T20:00")',
        ),
        (
            MADE,
            "and put it in my calendar too",
            'create_event(title="Lock the gate", start="2025-04-17T20:00")',
        ),
        (
            CHECKED,
            "oh, that's too early for me. Make it half past four.",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:30")',
        ),
        (MADE, "when is it due", 'read_reminder(title="Lock the gate")'),
        (REMINDERS, "the first one is done", 'complete_reminder(title="Buy rope")'),
        (CHECKED, "who's coming", 'get_event(title="Crane check")'),
        (CHECKED, "what else do I have that day", 'list_events(date="2025-04-18")'),
        (
            CHECKED,
            "set a reminder half an hour before it",
            'create_reminder(title="Crane check", due="2025-04-18T14:30")',
        ),
        (
            CHECKED,
            "mail him the tide table",
            'share_note(title="Tide table", contact="Omar Salcedo")',
        ),
        (WROTE, "reply yes", 'reply_to_mail(subject="Crane log", body="Yes.")'),
        (
            WROTE,
            "answer that it's free",
            'reply_to_mail(subject="Crane log", body="It\'s free.")',
        ),
        (WROTE, "flag it", 'flag_mail(subject="Crane log")'),
        (PLAYED, "play it again", 'play_song(song_name="Autobahn")'),
        (PLAYED, "no, Neon Lights", 'play_song(song_name="Neon Lights")'),
        (
            ROUTE,
            "and by bus?",
            'google_directions(destination="Bergen", mode="transit")',
        ),
        (
            TRANSLATED,
            "and in German",
            'google_translate(text="good morning", target_language="German")',
        ),
        (
            TRANSLATED,
            "what about good night",
            'google_translate(text="good night", target_language="French")',
        ),
        (CAFES, "a pharmacy instead", 'google_nearby(category="pharmacy", near="Bergen")'),
        (
            MOVED,
            "and the rowing to seven",
            'reschedule_event(title="Rowing", new_start="2025-04-18T19:00")',
        ),
        (
            LISTED,
            "the rowing one, push it to seven",
            'reschedule_event(title="Rowing", new_start="2025-04-18T19:00")',
        ),
        (
            LISTED,
            "move the second one to seven",
            'reschedule_event(title="Rowing", new_start="2025-04-18T19:00")',
        ),
        (
            CHECKED,
            "please shift that to half past four",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:30")',
        ),
        (
            CHECKED,
            "could you push it to Monday, same time",
            'reschedule_event(title="Crane check", new_start="2025-04-21T15:00")',
        ),
        (
            MADE,
            "sorry, I meant half past eight",
            'snooze_reminder(title="Lock the gate", until="2025-04-17T20:30")',
        ),
        (
            MADE,
            "set it to quarter past",
            'snooze_reminder(title="Lock the gate", until="2025-04-17T20:15")',
        ),
        (
            REMINDERS,
            "move the rope to an hour later",
            'snooze_reminder(title="Buy rope", until="2025-04-17T18:00")',
        ),
        (MADE, "forget that, the watchman has the key", 'delete_reminder(title="Lock the gate")'),
        (CHECKED, "call it off, I have a fever", 'cancel_event(title="Crane check")'),
        (REMINDERS, "got the rope, mark that as done", 'complete_reminder(title="Buy rope")'),
        (
            READ,
            "send it to my dispatcher",
            'share_note(title="Tide table", contact="Omar Salcedo")',
        ),
        (
            WROTE,
            "forward that to Lena Brandt",
            'forward_mail(subject="Crane log", to="Lena Brandt")',
        ),
        (
            SHARED,
            "the manual for the winch as well",
            'share_note(title="Winch manual", contact="Omar Salcedo")',
        ),
        (
            SHARED,
            "and Lena Brandt as well",
            'share_note(title="Tide table", contact="Lena Brandt")',
        ),
        (LISTED, "and on Sunday?", 'list_events(date="2025-04-20")'),
        (LISTED, "and the day after?", 'list_events(date="2025-04-19")'),
        (LISTED, "what about the day before that?", 'list_events(date="2025-04-17")'),
        (LISTED, "and the following week", 'list_events(date="2025-04-25")'),
        (PLAYED, "skip this song", 'skip_song(direction="next")'),
        (PLAYED, "no, the other one", 'play_song(song_name="Neon Lights")'),
        (PLAYED, "let me hear the entire album", 'play_album(album_title="Autobahn")'),
        (PLAYED, "quiet please, the baby sleeps", "pause_music()"),
        (
            PLAYED,
            "save this song to my night playlist",
            'add_song_to_playlist(song_name="Autobahn", playlist_name="Night shift")',
        ),
        (CALLED, "nobody answers, call him again", "redial_last_call()"),
        (
            READ,
            "perfect, forward it to Omar",
            'share_note(title="Tide table", contact="Omar Salcedo")',
        ),
        (
            MADE,
            "set it to quarter past, I eat first",
            'snooze_reminder(title="Lock the gate", until="2025-04-17T20:15")',
        ),
        (WROTE, "ring him", 'call_contact(contact="Omar Salcedo")'),
        (LISTED, "read the last one", 'get_event(title="Rowing")'),
        (REMINDERS, "and the second one?", 'read_reminder(title="Lock the gate")'),
        (
            CHECKED,
            "remind me the evening before it",
            'create_reminder(title="Crane check", due="2025-04-17T19:00")',
        ),
        (
            CHECKED,
            "remind me an hour beforehand",
            'create_reminder(title="Crane check", due="2025-04-18T14:00")',
        ),
        (
            CHECKED,
            "same time next week",
            'reschedule_event(title="Crane check", new_start="2025-04-25T15:00")',
        ),
    ],
)
def test_a_follow_up_is_a_call_on_what_is_in_focus(before: Turn, text: str, plan: str) -> None:
    assert str(reading(text, before).focus.plan) == plan


@pytest.mark.parametrize(
    ("before", "text", "plan"),
    [
        (
            LISTED,
            "make it five",
            'reschedule_event(title="Crane check", new_start="2025-04-18T17:00")',
        ),
        (MORNING, "make it five", 'reschedule_event(title="Physio", new_start="2025-04-18T17:00")'),
        (MORNING, "make it 1415", 'reschedule_event(title="Physio", new_start="2025-04-18T14:15")'),
        (MORNING, "no six", 'reschedule_event(title="Physio", new_start="2025-04-18T18:00")'),
        (
            MORNING,
            "make it eight",
            'reschedule_event(title="Physio", new_start="2025-04-18T08:00")',
        ),
        (
            MORNING,
            "make it five in the morning",
            'reschedule_event(title="Physio", new_start="2025-04-18T05:00")',
        ),
    ],
)
def test_an_hour_without_its_half_is_one_at_which_people_meet(
    before: Turn, text: str, plan: str
) -> None:
    assert str(reading(text, before).focus.plan) == plan


@pytest.mark.parametrize("text", ["make it later", "could it be earlier"])
def test_a_time_that_is_not_understood_is_asked_for(text: str) -> None:
    found = reading(text, CHECKED)
    assert found.focus.plan is None
    assert found.ask == "What time shall “Crane check” be?"


@pytest.mark.parametrize("text", ["make it two hours", "for an hour and a half", "until three"])
def test_how_long_an_event_lasts_is_not_when_it_starts(text: str) -> None:
    assert "not how long" in reading(text, CHECKED).say


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Tell Omar I'll be late.", "I'll be late."),
        ("tell Omar I can't make it", "I can't make it."),
        ("tell Omar Salcedo I'm on my way", "I'm on my way."),
    ],
)
def test_the_one_who_speaks_is_no_surname(text: str, message: str) -> None:
    assert reading(text, MOVED_CRANE).focus.values["message"] == message


@pytest.mark.parametrize(
    "text",
    [
        "in that case cancel the rowing",
        "on Friday remind me to take a coat",
        "for now just call Omar",
        "and my reminders",
        "and Omar?",
    ],
)
def test_an_order_or_a_person_is_no_place_of_a_search(text: str) -> None:
    assert reading(text, ASKED).focus == Focus()


@pytest.mark.parametrize(
    ("before", "text", "standalone"),
    [
        (WROTE, "and ask him if four is fine", "ask Omar Salcedo if four is fine"),
        (CHECKED, "which bus goes there", "which bus goes to Dock 4"),
        (CALLED, "let me know at nine to do it", "call Omar"),
    ],
)
def test_what_points_back_is_spelled_out(before: Turn, text: str, standalone: str) -> None:
    assert standalone in reading(text, before).text


def test_a_message_about_a_change_says_what_was_changed() -> None:
    moved = turn(
        "bring it to six", Plan("reschedule_event", {"title": "Crane check"}), "c1", change=1
    )
    focus = reading("inform everybody about it", CHECKED, moved).focus
    assert focus.apis == ("notify_attendees",)
    assert focus.values == {"title": "Crane check", "message": "It's brought to six."}


def test_what_they_are_told_in_the_first_person_is_sent_as_it_was_said() -> None:
    focus = reading("tell him I'm on my way", WROTE).focus
    assert focus.values == {"subject": "Crane log", "body": "I'm on my way."}


@pytest.mark.parametrize(
    "text",
    [
        "set a reminder to feed the cat at six",
        "what's the weather in Bergen tomorrow",
        "play some jazz",
        "put lunch with Lena Brandt in for Friday one o'clock",
    ],
)
def test_a_turn_that_stands_by_itself_drops_the_topic(text: str) -> None:
    assert reading(text, LISTED, CHECKED) == Reading(text)


def test_a_first_turn_is_taken_as_it_is() -> None:
    assert reading("cancel it") == Reading("cancel it")


def test_undo_in_words_is_no_call() -> None:
    assert reading("no wait, undo that", MADE).undo


def test_a_place_in_a_follow_up_keeps_the_api() -> None:
    assert reading("and on Sunday at the lighthouse", ASKED).focus.apis == ("google_weather",)


def test_only_the_latest_turns_are_remembered() -> None:
    state = State()
    state.turns.extend([LISTED] * 50)
    assert len(state.turns) < 10


TICKED = turn("tick off the first one", Plan("complete_reminder", {"title": "Buy rope"}), "r2")
MOVED_SECOND = turn(
    "move the second one to half past nine",
    Plan("reschedule_event", {"title": "Rowing", "new_start": "2025-04-18T21:30"}),
    "c2",
)
MOVED_CRANE = turn(
    "make it half past four",
    Plan("reschedule_event", {"title": "Crane check", "new_start": "2025-04-18T16:30"}),
    "c1",
)


def test_a_list_is_counted_in_as_long_as_it_is_what_is_talked_about() -> None:
    later = reading("delete the second one", REMINDERS, TICKED)
    assert str(later.focus.plan) == 'delete_reminder(title="Lock the gate")'
    other = reading("delete the second one", REMINDERS, READ)
    assert other.say == "I showed only one: “Tide table”."


@pytest.mark.parametrize(
    ("before", "text", "said"),
    [
        (CHECKED, "move the second one to seven", "I showed only one: “Crane check”."),
        (LISTED, "cancel the third one", "I showed only 2: “Crane check”, “Rowing”."),
    ],
)
def test_what_was_not_listed_is_not_replaced_by_something_else(
    before: Turn, text: str, said: str
) -> None:
    assert reading(text, before) == Reading(text, say=said)


def test_what_was_listed_and_is_gone_is_said_to_be_gone() -> None:
    listed = turn("what's on my list", Plan("list_reminders", {}), "r2", "gone")
    assert reading("delete the second one", listed).say == "That one is not there any more."


def test_a_rejected_change_is_taken_back_and_what_changed_nothing_is_asked_about() -> None:
    done = turn("tick off the rope", TICKED.plan, "r2", change=7)
    assert reading("no, not that one", REMINDERS, done).undo
    asked = reading("no, not that one", REMINDERS)
    assert (asked.undo, asked.say) == (False, "Sorry. Which one do you mean?")


@pytest.mark.parametrize(
    "text",
    [
        "undo that",
        "undo all of it",
        "please undo what you just did",
        "undo that she lost it",
        "undo it, I was wrong",
        "oh no undo that",
        "no undo it",
        "undo it all",
        "put them back",
        "that was a mistake",
    ],
)
def test_undo_needs_no_turn_before_it(text: str) -> None:
    assert reading(text).undo
    assert reading(text, LISTED).undo


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("and tell him too", "Whom do you mean?"),
        ("call her", "Whom do you mean?"),
        ("no, the other one", "Which one do you mean?"),
        ("delete the second one", "Which one do you mean?"),
        ("call her sister", ""),
        ("tell Omar the crane is free", ""),
    ],
)
def test_a_first_turn_that_points_at_nothing_is_asked_about(text: str, said: str) -> None:
    assert reading(text).say == said


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (MOVED_SECOND, "It's moved to half past nine."),
        (MOVED_CRANE, "It's moved to half past four."),
    ],
)
def test_news_has_no_words_that_only_the_conversation_explains(before: Turn, message: str) -> None:
    assert reading("let Omar know", CHECKED, before).text.endswith(f"Omar Salcedo {message}")


def test_a_reminder_before_something_keeps_what_it_is_for() -> None:
    found = reading("remind me the evening before it to charge the radio", CHECKED)
    assert found.text == "remind me to charge the radio"
    assert found.focus.values == {"due": "2025-04-17T19:00"}


def test_it_is_what_a_reminder_was_made_of_and_not_the_reminder() -> None:
    found = reading("remind me to pack two hours before that", CHECKED, MADE)
    assert found.focus.values == {"due": "2025-04-18T13:00"}
    alone = reading("remind me to oil the lock an hour before that", MADE)
    assert alone.focus.values == {"due": "2025-04-17T19:00"}


def test_what_was_written_is_written_to_another_too() -> None:
    found = reading("and tell Lena Brandt too", WRITTEN).focus
    assert found.apis == ("send_mail",)
    assert found.values == {"to": "Lena Brandt", "body": "I'm late."}


def test_a_reminder_names_the_one_of_whom_was_spoken() -> None:
    found = reading("remind me to ring him tomorrow", WRITTEN)
    assert found.text == "remind me to ring Omar tomorrow"


def test_the_weather_is_that_of_the_day_and_place_in_focus() -> None:
    assert reading("will it rain then", CHECKED).text == "will it rain on Friday 18 April"
    assert reading("what's the weather there", CHECKED).text == "what's the weather in Dock 4"


@pytest.mark.parametrize(("text", "turns"), [("undo that", 1), ("undo the last two", 2)])
def test_so_many_turns_are_undone(text: str, turns: int) -> None:
    assert reading(text, MADE).undo == turns


def test_what_is_not_to_be_lost_is_not_removed() -> None:
    found = reading("flag the mail about the crane so that I don't lose it", MADE)
    assert found.focus.plan is None


def test_a_mail_that_is_sent_to_somebody_is_one_told_to_them() -> None:
    found = reading("and send him a mail that I'm out on the reef", CALLED).focus
    assert found.apis == ("send_mail",)
    assert found.values == {"to": "Omar Salcedo", "body": "I'm out on the reef."}


def test_it_in_let_him_know_it_is_what_was_changed() -> None:
    found = reading("and let him know it, please", MOVED).focus
    assert found.values["message"] == "I've moved the crane check to four."


@pytest.mark.parametrize(
    ("before", "text", "plan"),
    [
        (
            CHECKED,
            "Three is too early for me. Make it half past four.",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:30")',
        ),
        (
            LISTED,
            "The rowing, can you push it to seven?",
            'reschedule_event(title="Rowing", new_start="2025-04-18T19:00")',
        ),
        (
            CHECKED,
            "can we do that at four, nope half past",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:30")',
        ),
        (
            CHECKED,
            "push it half an hr",
            'reschedule_event(title="Crane check", new_start="2025-04-18T15:30")',
        ),
        (
            CHECKED,
            "move it to the following Friday, at the same hour",
            'reschedule_event(title="Crane check", new_start="2025-04-25T15:00")',
        ),
        (
            CHECKED,
            "make it four, at three I am still at the dentist",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:00")',
        ),
        (
            REMINDERS,
            "And the gate, give me that at nine tonight",
            'snooze_reminder(title="Lock the gate", until="2025-04-17T21:00")',
        ),
        (REMINDERS, "the rope is bought, done", 'complete_reminder(title="Buy rope")'),
        (
            REMINDERS,
            "The one about the gate, I did it just now, so that one is done.",
            'complete_reminder(title="Lock the gate")',
        ),
        (
            READ,
            "ok send it to Omar pls before I chicken out",
            'share_note(title="Tide table", contact="Omar Salcedo")',
        ),
        (
            READ,
            "Good. That goes to Lena Brandt",
            'share_note(title="Tide table", contact="Lena Brandt")',
        ),
        (
            READ,
            "let Omar have it, he should read it over",
            'share_note(title="Tide table", contact="Omar Salcedo")',
        ),
        (WROTE, "n flag it so i find it tuesday", 'flag_mail(subject="Crane log")'),
        (
            WRITTEN,
            "no ans. ring him",
            'call_contact(contact="Omar Salcedo")',
        ),
        (CHECKED, "get Omar on the phone", 'call_contact(contact="Omar Salcedo")'),
        (PLAYED, "ugh not in the mood for this one, next", 'skip_song(direction="next")'),
        (PLAYED, "i meant the whole list its in", 'play_playlist(playlist_name="Road")'),
        (PLAYED, "nah the night one", 'play_playlist(playlist_name="Night shift")'),
        (PLAYED, "more by them", 'play_artist(artist="Kraftwerk")'),
        (PLAYED, "put neon lights on", 'play_song(song_name="Neon Lights")'),
        (PLAYED, "Ay, I like this. What is the song called?", "get_current_song()"),
        (ROUTE, "I mean by bus", 'google_directions(destination="Bergen", mode="transit")'),
        (
            TRANSLATED,
            "ok translate good night too",
            'google_translate(text="good night", target_language="French")',
        ),
        (LISTED, "read the crane one", 'get_event(title="Crane check")'),
        (CHECKED, "whats on sat", 'list_events(date="2025-04-19")'),
    ],
)
def test_what_is_said_around_an_order_does_not_hide_it(before: Turn, text: str, plan: str) -> None:
    if "night one" in text:
        before = turn("play Road", Plan("play_playlist", {"playlist_name": "Road"}), "s1")
    assert str(reading(text, before).focus.plan) == plan


@pytest.mark.parametrize(
    ("text", "due", "standalone"),
    [
        ("remind me at six that evening to eat", "2025-04-18T18:00", "18 April 2025 to eat"),
        ("night before 8 pm remind me pack rope", "2025-04-17T20:00", "on 17 April 2025"),
        ("and remind me at 4 the day before to call in", "2025-04-17T16:00", "on 17 April 2025"),
    ],
)
def test_a_day_named_by_what_was_talked_about_is_a_date(
    text: str, due: str, standalone: str
) -> None:
    found = reading(text, CHECKED)
    assert (found.focus.apis, found.focus.values) == (("create_reminder",), {"due": due})
    assert standalone in found.text


def test_the_other_one_is_the_one_that_was_not_talked_about_since() -> None:
    flagged = turn("flag the first one", Plan("read_reminder", {"title": "Buy rope"}), "r2")
    found = reading("delete the other one", REMINDERS, flagged)
    assert str(found.focus.plan) == 'delete_reminder(title="Lock the gate")'


def test_what_is_added_after_a_note_goes_into_it() -> None:
    added = turn(
        "add hooks to the tide table",
        Plan("append_to_note", {"title": "Tide table", "text": "hooks"}),
        "n1",
    )
    for text in ("and spare oa— no, rope", "stick on: springs 5 May, wind??"):
        assert reading(text, added).focus.apis == ("append_to_note",)
    assert reading("and spare oa— no, rope", added).text == "add rope"
    for text in ("add lunch with Omar on Friday", "put Lena's warm-up on"):
        assert reading(text, added).focus.apis == ()


@pytest.mark.parametrize(
    "text",
    ["I'm ten minutes late, let Omar know", "The crane is free. Tell Omar."],
)
def test_what_is_said_before_an_empty_message_is_the_message(text: str) -> None:
    assert reading(text, CHECKED).text == text


def test_the_change_is_told_to_those_who_take_part() -> None:
    found = reading("n do let Omar know, with my apologies", CHECKED, MOVED)
    assert found.focus.values == {
        "title": "Crane check",
        "message": "I've moved the crane check to four. Sorry.",
    }
    assert reading("tell Omar the new time", CHECKED, MOVED).focus.apis == ("notify_attendees",)


def test_an_event_of_what_was_said_is_at_its_time_on_the_day_talked_about() -> None:
    told = turn(
        "tell Omar we can talk 1:15",
        Plan("send_mail", {"to": "Omar Salcedo", "subject": "Talk", "body": "We can talk 1:15."}),
        people=("Omar Salcedo",),
    )
    plan = 'create_event(title="Talk with Omar", start="2025-04-18T13:15")'
    assert str(reading("put that in too", CHECKED, told).focus.plan) == plan


def test_a_voicemail_is_that_of_the_one_who_called() -> None:
    call = Item(
        "p1",
        "phonecall",
        {
            "contact": "Omar Salcedo",
            "direction": "missed",
            "started_at": AT,
            "voicemail": "Ring me.",
        },
    )
    view = PersonView(ADA, (*ITEMS, call), np.zeros((len(ITEMS) + 1, 4), np.float32))
    state = State()
    state.turns.append(turn("who called", Plan("get_missed_calls", {}), "p1"))
    for text in ("play the message he left", "what did Omar want"):
        found = read(text, state, view, ADA, AT, TOOLBOX)
        assert str(found.focus.plan) == 'play_voicemail(contact="Omar Salcedo")'


def test_what_is_taken_out_is_what_was_talked_about_and_not_what_a_message_resembles() -> None:
    written = turn(
        "tell Omar I can't, the crane log says no",
        Plan("send_mail", {"to": "Omar Salcedo", "subject": "Crane log", "body": "I can't."}),
        mentioned=("m1",),
        people=("Omar Salcedo",),
    )
    found = reading("then take it out", CHECKED, written)
    assert str(found.focus.plan) == 'cancel_event(title="Crane check")'


@pytest.mark.parametrize(
    ("before", "text", "plan"),
    [
        (
            CHECKED,
            "actually, four works better",
            'reschedule_event(title="Crane check", new_start="2025-04-18T16:00")',
        ),
        (
            LISTED,
            "move the later one to eight",
            'reschedule_event(title="Rowing", new_start="2025-04-18T20:00")',
        ),
        (REMINDERS, "got the rope already", 'complete_reminder(title="Buy rope")'),
        (
            CHECKED,
            "remind me half an hour ahead",
            'create_reminder(title="Crane check", due="2025-04-18T14:30")',
        ),
    ],
)
def test_other_words_for_the_same_follow_up_do_the_same(before: Turn, text: str, plan: str) -> None:
    assert str(reading(text, before).focus.plan) == plan


def test_a_bare_question_for_a_day_lists_it_and_one_about_something_else_does_not() -> None:
    assert str(reading("tmrw?").focus.plan) == 'list_events(date="2025-04-18")'
    assert str(reading("what do i have mon").focus.plan) == 'list_events(date="2025-04-21")'
    assert reading("what do I have to bring on Monday").focus.plan is None


@pytest.mark.parametrize(
    ("text", "plan", "wanted"),
    [
        (
            "might it begin later, at nine",
            Plan("reschedule_event", {"title": "Rowing", "new_start": "2025-04-18T21:00"}),
            Focus(("c1",), apis=("reschedule_event",)),
        ),
        (
            "it clashes, so move rowing to nine",
            Plan("reschedule_event", {"title": "Rowing", "new_start": "2025-04-18T21:00"}),
            None,
        ),
        (
            "might we begin later, at nine",
            Plan("reschedule_event", {"title": "Rowing", "new_start": "2025-04-18T21:00"}),
            None,
        ),
        (
            "say that I am late for it",
            Plan("append_to_note", {"title": "Tide table", "text": "late"}),
            None,
        ),
        ("and when is it", Plan("get_event", {"title": "Rowing"}), None),
    ],
)
def test_a_call_that_would_change_what_was_not_named_is_about_the_thing_in_focus(
    text: str, plan: Plan, wanted: Focus | None
) -> None:
    state = State()
    state.turns.append(CHECKED)
    assert thing_meant(text, plan, TOOLBOX.get(plan.api), state, VIEW) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "could we perhaps shift it one hour later?",
        "maybe shift it one hour later",
        "and once this is done shift it one hour later",
    ],
)
def test_what_softens_or_joins_an_order_is_none_of_it(text: str) -> None:
    state = State()
    state.turns.append(CHECKED)
    found = read(text, state, VIEW, ADA, AT, TOOLBOX)
    wanted = {"title": "Crane check", "new_start": "2025-04-18T16:00"}
    assert found.focus.plan == Plan("reschedule_event", wanted)
