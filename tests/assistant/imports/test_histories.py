"""Notes, searches, music, tasks and calls become items, in the person's time zone."""

import json
from datetime import datetime
from io import BytesIO
from zoneinfo import ZoneInfo

import pytest

from ctrag.assistant.imports.calls import read_call_table, read_calls
from ctrag.assistant.imports.evernote import read_evernote
from ctrag.assistant.imports.found import Found, Owner
from ctrag.assistant.imports.histories import read_activity, read_plays, read_searches, read_tasks
from ctrag.assistant.imports.json_rows import BrokenJsonError, rows
from ctrag.assistant.imports.kinds import kind_of, other_way
from ctrag.assistant.imports.notes import read_keep, read_note
from ctrag.assistant.imports.play_tables import read_play_table
from ctrag.assistant.imports.times import moment

OWNER = Owner("me", ZoneInfo("Europe/Oslo"), datetime(2026, 11, 26, 12))
MTIME = datetime(2026, 3, 1, 9, 30)


def note(text: str, name: str = "vault/Home/Boat.md") -> dict[str, object]:
    [item] = read_note(text.encode(), name, MTIME, OWNER).items
    return dict(item.fields)


def test_a_markdown_note_has_its_heading_folder_and_the_time_of_its_file() -> None:
    assert note("# Boat lock\n\nThe code is 7719.\n") == {
        "title": "Boat lock",
        "body": "The code is 7719.",
        "folder": "Home",
        "modified_at": MTIME,
    }


def test_front_matter_says_title_time_and_tags() -> None:
    text = "---\ntitle: Lock\nupdated: 2026-02-03T10:00:00Z\ntags: [boat, code]\n---\n7719\n"
    assert note(text) == {
        "title": "Lock",
        "body": "7719\n#boat #code",
        "folder": "Home",
        "modified_at": datetime(2026, 2, 3, 11, 0),
    }


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("just text", "Boat", "just text"),
        ("Lock\n====\n7719", "Lock", "7719"),
        ("---\n\ttitle: [broken\n---\n7719", "[broken", "7719"),
        ("---\nno end of it", "Boat", "---\nno end of it"),
        ("---\na: &a [x]\nb: *a\n---\ntext", "Boat", "text"),
    ],
)
def test_a_note_is_read_however_it_begins(text: str, title: str, body: str) -> None:
    read = note(text)
    assert (read["title"], read["body"]) == (title, body)


def test_an_empty_note_is_no_loss() -> None:
    found = read_note(b"\n\n", "a.md", MTIME, OWNER)
    assert not found.items
    assert [one.lost for one in found.left_out] == [False]


def test_a_keep_list_is_a_note_and_a_trashed_one_is_not() -> None:
    raw = {
        "title": "",
        "listContent": [{"text": "milk", "isChecked": True}, {"text": "salt"}],
        "labels": [{"name": "Shop"}],
        "userEditedTimestampUsec": 1_770_000_000_000_000,
    }
    [item] = read_keep(raw, "Keep/a.json", OWNER).items
    assert item.text("body") == "[x] milk\n[ ] salt"
    assert (item.text("title"), item.text("folder")) == ("[x] milk", "Shop")
    assert not read_keep({**raw, "isTrashed": True}, "Keep/a.json", OWNER).items


def search(words: str, time: str) -> dict[str, object]:
    return {
        "header": "Suche",
        "title": f"Gesucht nach: {words}",
        "titleUrl": "https://www.google.com/search?q=" + words.replace(" ", "+"),
        "time": time,
    }


def test_of_tasks_nothing_is_lost_unsaid_and_nothing_deleted_is_open() -> None:
    tasks = [
        {"id": "1", "title": "Pay bill", "notes": "IBAN DE12"},
        {"id": "2", "title": "Old", "deleted": True, "due": "2026-12-02T00:00:00.000Z"},
        {"id": "3", "title": "Cleared", "hidden": True},
        {"id": "4", "title": "Day", "scheduled_time": [{"start": "2026-12-01T00:00:00Z"}]},
        {
            "id": "5",
            "title": "Hour",
            "scheduled_time": [
                {"current": True, "start": "2026-12-01T08:30:00Z"},
                {"start": "2026-11-01T08:00:00Z"},
            ],
        },
    ]
    found = read_tasks({"items": [{"title": "Home", "items": tasks}]}, OWNER)
    read = {one.text("title"): (one.fields["due"], one.fields["done"]) for one in found.items}
    assert read == {
        "Pay bill": (None, False),
        "Cleared": (None, True),
        "Day": (datetime(2026, 12, 1), False),
        "Hour": (datetime(2026, 12, 1, 9, 30), False),
    }
    assert [(one.what, one.lost, one.on_purpose) for one in found.left_out] == [
        ("Pay bill", False, False),
        ("Old", True, True),
    ]


def test_a_search_is_known_in_any_language_and_has_the_page_opened_after_it() -> None:
    opened = {
        "header": "Suche",
        "title": "Besucht: Ferry times - Fjord1",
        "titleUrl": "https://www.google.com/url?q=https://fjord1.example",
        "time": "2026-11-20T08:03:00.123Z",
    }
    late = search("ski wax", "2026-11-21T08:00:00.000Z")
    found = read_activity([late, opened, search("ferry bergen", "2026-11-20T08:00:30.5Z")], OWNER)
    fields = {item.text("query"): item.fields for item in found.items}
    assert fields["ferry bergen"] == {
        "query": "ferry bergen",
        "clicked": "Ferry times - Fjord1",
        "searched_at": datetime(2026, 11, 20, 9, 0),
    }
    assert fields["ski wax"]["clicked"] is None


def test_other_products_are_counted_and_youtube_music_is_music() -> None:
    heard = {
        "header": "YouTube Music",
        "title": "Watched Fjellvise",
        "titleUrl": "https://music.youtube.com/watch?v=1",
        "subtitles": [{"name": "Kari Dahl - Topic"}],
        "time": "2026-11-20T20:00:00Z",
    }
    found = read_activity(
        [heard, {"header": "Maps", "title": "x", "time": "2026-11-20T20:00:00Z"}], OWNER
    )
    [item] = found.items
    assert (item.app, item.text("song_name"), item.text("artist")) == (
        "music",
        "Fjellvise",
        "Kari Dahl",
    )
    [left] = found.left_out
    assert "Maps" in left.why
    assert not left.lost


def test_a_song_is_once_in_the_history_when_it_was_last_heard() -> None:
    play = {
        "trackName": "Fjellvise",
        "artistName": "Kari",
        "endTime": "2026-01-02 10:00",
        "msPlayed": 90_000,
    }
    later = {
        "ts": "2026-02-02T10:00:00Z",
        "master_metadata_track_name": "Fjellvise",
        "master_metadata_album_artist_name": "Kari",
        "master_metadata_album_album_name": "Viser",
        "ms_played": 90_000,
    }
    skipped = {**play, "trackName": "Skipped", "msPlayed": 900}
    podcast = {"ts": "2026-02-02T10:00:00Z", "episode_name": "News", "ms_played": 90_000}
    found = read_plays([later, play, skipped, podcast], OWNER)
    [song] = found.items
    assert song.fields["played_at"] == datetime(2026, 2, 2, 11, 0)
    assert song.text("album_title") == "Viser"
    assert [one.lost for one in found.left_out] == [False, False]


def test_tasks_are_reminders_due_on_their_day() -> None:
    task = {
        "id": "1",
        "title": "Pay rent",
        "status": "completed",
        "due": "2026-12-01T00:00:00.000Z",
    }
    [item] = read_tasks({"items": [{"title": "Home", "items": [task, {"id": "2"}]}]}, OWNER).items
    assert item.fields == {
        "title": "Pay rent",
        "due": datetime(2026, 12, 1),
        "list": "Home",
        "done": True,
    }


def calls(found: Found) -> list[tuple[object, ...]]:
    names = ("contact", "direction", "called_at", "duration_s")
    return [tuple(item.fields[name] for name in names) for item in found.items]


def test_an_android_call_log_in_xml_is_read_to_where_it_is_broken() -> None:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<calls count="3">\n'
        '<call number="+4791" duration="75" date="1764150000000" type="1" contact_name="Liv Moe"/>\n'
        '<call number="22" duration="0" date="1764150060000" type="3" contact_name="(Unknown)"/>\n'
        '<call number="33" date="never" type="2"/><call number="4'
    )
    found = read_calls(text.encode(), OWNER)
    assert calls(found) == [
        ("Liv Moe", "incoming", datetime(2025, 11, 26, 10, 40), 75),
        ("22", "missed", datetime(2025, 11, 26, 10, 41), 0),
    ]
    assert [one.why.partition(":")[0] for one in found.left_out] == [
        "its time cannot be read",
        "the file is broken there, and the calls that follow are lost",
    ]


def test_entities_of_a_call_log_do_not_grow() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x"}">' for n in range(12))
    text = f"<!DOCTYPE x [{entities}]><calls><call number='&e11;' date='1' type='1'/></calls>"
    assert len(str(read_calls(text.encode(), OWNER))) < 10_000


def test_a_call_table_is_read_in_english_and_german() -> None:
    english = "Name,Number,Date,Time,Type,Duration\nLiv,91,2026-11-20,08:15:30,Outgoing,1:15\n"
    german = "Nummer;Typ;Datum;Dauer\n22;Verpasst;20.11.2026 08:16;0\n33;?;20.11.2026 08:17;0\n"
    assert calls(read_call_table(english.encode(), OWNER)) == [
        ("Liv", "outgoing", datetime(2026, 11, 20, 8, 15), 75)
    ]
    found = read_call_table(german.encode(), OWNER)
    assert calls(found) == [("22", "missed", datetime(2026, 11, 20, 8, 16), 0)]
    assert "neither incoming, outgoing nor missed" in found.left_out[0].why


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-20T08:00:00Z", datetime(2026, 11, 20, 9, 0)),
        ("2026-07-20T08:00:00.5+00:00", datetime(2026, 7, 20, 10, 0)),
        (1_764_150_000, datetime(2025, 11, 26, 10, 40)),
        ("1764150000000", datetime(2025, 11, 26, 10, 40)),
        ("20.11.2026 08:00", datetime(2026, 11, 20, 8, 0)),
        ("Nov 20, 2026 8:00:00\u202fPM", datetime(2026, 11, 20, 20, 0)),
        ("Nov 20, 2026 08:00:00 PM", datetime(2026, 11, 20, 20, 0)),
        ("soon", None),
        (None, None),
        ("9" * 40, None),
    ],
)
def test_a_moment_is_the_persons(written: object, read: datetime | None) -> None:
    assert moment(written, OWNER) == read


def test_a_long_list_is_read_entry_by_entry_and_up_to_where_it_is_broken() -> None:
    listed = [{"n": number, "text": "x" * 700} for number in range(3_000)]
    assert [one["n"] for one in rows(BytesIO(json.dumps(listed).encode()))] == list(range(3_000))
    read = rows(BytesIO(b'\xef\xbb\xbf[{"n": 1}, 2, {"n": 3}, {"n": '))
    assert [next(read)["n"], next(read)["n"]] == [1, 3]
    with pytest.raises(BrokenJsonError, match="entry 4"):
        next(read)


def test_a_list_that_is_nested_too_deep_ends_there() -> None:
    with pytest.raises(BrokenJsonError, match=r"nested too deep|entry 1"):
        list(rows(BytesIO(b"[" + b"[" * 100_000)))


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("Nom;Numéro;Type;Date;Durée", "Ole;1;Manqué;02/11/2026 08:15;0"),
        ("Nombre,Número,Tipo,Fecha,Duración", "Ole,1,Perdida,02/11/2026 08:15,0"),
        ("Nome,Numero,Tipo,Data,Durata", "Ole,1,Persa,02/11/2026 08:15,0"),
        ("Naam,Nummer,Type,Datum,Duur", "Ole,1,Gemist,02-11-2026 08:15,0"),
        ("Call Type,Phone Number,Contact,Date Time,Duration", "Missed,1,Ole,11/02/2026 8:15 AM,0"),
        ("Name,Number,Date,Time,Type,Duration", "Ole,1,11/02/2026,8:15:30 AM,Missed,0"),
    ],
)
def test_call_tables_of_other_languages_say_their_days_in_their_order(head: str, call: str) -> None:
    found = read_call_table(f"{head}\n{call}\n".encode(), OWNER)
    assert calls(found) == [("Ole", "missed", datetime(2026, 11, 2, 8, 15), 0)]


def test_a_day_that_may_be_two_is_not_guessed() -> None:
    text = "Name,Number,Date,Type,Duration\nOle,1,02/11/2026 08:15,Missed,0\n"
    assert [one.why for one in read_call_table(text.encode(), OWNER).left_out] == [
        "its time cannot be read"
    ]
    more = text + "Ole,1,13/11/2026 08:15,Missed,0\n"
    assert [call[2] for call in calls(read_call_table(more.encode(), OWNER))] == [
        datetime(2026, 11, 2, 8, 15),
        datetime(2026, 11, 13, 8, 15),
    ]


@pytest.mark.parametrize(
    ("table", "at"),
    [
        ('uts,utc_time,artist,album,track\n1,"20 Nov 2026, 10:00",Kari,Viser,Fjell\n', "11:00"),
        (
            "Track Description,Date Played,Play Duration Milliseconds\nKari - Fjell,20261120,90000\n",
            "",
        ),
        ("Artist;Title;Date\nKari;Fjell;20.11.2026 10:00\n", "10:00"),
    ],
)
def test_songs_are_read_from_tables(table: str, at: str) -> None:
    assert kind_of(table.encode(), "x.csv") == "music table"
    [song] = read_play_table(table.encode(), OWNER).items
    assert (song.text("song_name"), song.text("artist")) == ("Fjell", "Kari")
    assert f"{song.time('played_at'):%Y-%m-%d %H:%M}" == f"2026-11-20 {at or '00:00'}"


@pytest.mark.parametrize(
    ("title", "page"),
    [
        ("Visited Ski wax guide", "Ski wax guide"),
        ("Ole Lie - Wikipedia besucht", "Ole Lie - Wikipedia"),
        ("https://wax.example/ besucht", "https://wax.example/"),
        ("Vous avez consulté Fart de ski", "Fart de ski"),
        ("Odwiedzono strona", "Odwiedzono strona"),
    ],
)
def test_an_opened_page_is_called_without_the_verb(title: str, page: str) -> None:
    url = "https://www.google.com/search?q=ski+wax"
    searched = {"titleUrl": url, "title": "x", "time": "2026-11-20T10:00:00Z"}
    opened = {"titleUrl": "https://www.google.com/url?q=x", "title": title}
    [item] = read_searches([searched, {**opened, "time": "2026-11-20T10:01:00Z"}], OWNER).items
    assert item.text("clicked") == page


def test_a_note_of_joplins_own_export_has_no_bookkeeping() -> None:
    behind = "id: " + 32 * "a" + "\nparent_id: \nupdated_time: 2026-11-02T10:00:00.000Z\ntype_: {}"
    read = note("Lock\n\n7719\n\n" + behind.format(1))
    assert (read["title"], read["body"]) == ("Lock", "7719")
    assert read["modified_at"] == datetime(2026, 11, 2, 11, 0)
    folder = read_note(("Home\n\n" + behind.format(2)).encode(), "x.md", None, OWNER)
    assert (folder.items, folder.left_out[0].lost) == ([], False)


ENEX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export3.dtd">
<en-export><note><title>Scones</title><content><![CDATA[<?xml version="1.0"?>
<en-note><div>Flour <b>500 g</b></div><div><en-todo checked="true"/>Bake</div></en-note>]]></content>
<created>20261101T100000Z</created><updated>20261102T100000Z</updated><tag>food</tag></note>
<note><title>Scones</title><content><![CDATA[<en-note>Jam</en-note>]]></content></note>
"""


def test_notes_of_evernote_are_read_with_ticks_tags_and_times() -> None:
    assert kind_of(ENEX.encode(), "notes.enex") == "evernote"
    found = read_evernote(f"{ENEX}</en-export>".encode(), OWNER)
    first, second = found.items
    assert first.text("body") == "Flour 500 g\n[x] Bake\n#food"
    assert first.time("modified_at") == datetime(2026, 11, 2, 11)
    assert (second.text("title"), second.text("body")) == ("Scones", "Jam")
    assert found.left_out == []


def test_a_broken_evernote_export_keeps_the_notes_before() -> None:
    found = read_evernote(f"{ENEX}<note><title>x".encode(), OWNER)
    assert len(found.items) == 2
    assert [(one.what, one.lost) for one in found.left_out] == [("after note 2", True)]


def test_a_table_of_songs_without_headings_is_read() -> None:
    data = b'Ane,Wharf,"Tide, low",24 Nov 2026 09:00\nBo,,Gulls,24 Nov 2026 09:05\n'
    assert kind_of(data, "plays.csv") == "music table"
    songs = [one.text("song_name") for one in read_play_table(data, OWNER).items]
    assert songs == ["Tide, low", "Gulls"]


def test_activity_as_a_page_names_the_way_to_have_it_read() -> None:
    assert "as JSON" in (other_way(b'<html><div class="mdl-grid">', "MyActivity.html") or "")


def test_calls_of_a_router_with_short_years_are_read() -> None:
    data = b"Typ;Datum;Name;Rufnummer;Dauer\n1;24.11.26 10:00;Bo;030 1;0:05\n"
    [call] = read_call_table(data, OWNER).items
    assert call.time("called_at") == datetime(2026, 11, 24, 10)


@pytest.mark.parametrize("form", ["[{}]", "{}\n"])
def test_listens_are_read_as_a_list_or_one_on_each_line(form: str) -> None:
    heard = {"track_name": "Gulls", "artist_name": "Bo", "release_name": "Wharf"}
    data = form.replace("{}", json.dumps({"listened_at": 1764000000, "track_metadata": heard}))
    assert kind_of(data.encode(), "1.jsonl") == "music"
    [song] = read_plays(rows(BytesIO(data.encode())), OWNER).items
    assert (song.text("song_name"), song.text("album_title")) == ("Gulls", "Wharf")
    assert song.time("played_at") == datetime(2025, 11, 24, 17)


def test_songs_with_their_artist_in_one_column_are_read() -> None:
    data = b"Track Name,Last Played Date\nBo - Gulls,1764000000000\n"
    assert kind_of(data, "played.csv") == "music table"
    [song] = read_play_table(data, OWNER).items
    assert (song.text("artist"), song.text("song_name")) == ("Bo", "Gulls")


@pytest.mark.parametrize("text", ["[[Boat]] needs paint", "[ ] rope", "<img src='a'> quay"])
def test_a_note_may_begin_with_anything_and_quote_a_card(text: str) -> None:
    quoted = f"{text}\n```\nBEGIN:VCARD\nFN:Bo\nEND:VCARD\n```\n"
    assert kind_of(quoted.encode(), "vault/Boat.md") == "note"


def test_what_is_encrypted_in_a_note_is_not_kept_and_is_said() -> None:
    content = "<![CDATA[<en-note>Code: <en-crypt hint='x'>RU5DMA==</en-crypt></en-note>]]>"
    export = f"<en-export><note><title>Lock</title><content>{content}</content></note></en-export>"
    found = read_evernote(export.encode(), OWNER)
    assert found.items[0].text("body") == "Code: (encrypted)"
    assert [one.lost for one in found.left_out] == [False]


FRITZBOX = "sep=;\nTyp;Datum;Name;Rufnummer;Nebenstelle;Eigene Rufnummer;Dauer\n"


def test_types_that_are_numbers_are_the_programs_own() -> None:
    def read(head: str, *types: str) -> list[str]:
        rows = "".join(f"{one};20.11.26 11:0{at};;015{at};;;0:05\n" for at, one in enumerate(types))
        found = read_call_table((head + rows).encode(), OWNER)
        return [call[1] for call in calls(found)] + [one.what for one in found.left_out]

    router = ["incoming", "missed", "outgoing", "outgoing", "missed"]
    assert read(FRITZBOX, "1", "2", "3", "4", "10") == router
    android = "Call Type;Date;Name;Number;x;y;Duration\n"
    assert read(android, "1", "2", "3", "6", "7") == [
        *("incoming", "outgoing", "missed", "missed", "incoming"),
    ]
    unknown = "Type;Date;Name;Number;x;y;Duration\n"
    assert read(unknown, "1", "2") == ["incoming", "0151, 20.11.26 11:01"]


def test_a_router_counts_minutes() -> None:
    [call] = calls(read_call_table(f"{FRITZBOX}1;20.11.26 10:05;Bo;030 1;;;0:05\n".encode(), OWNER))
    assert call[3] == 300


@pytest.mark.parametrize(
    ("said", "direction"),
    [
        ("Eingehender Anruf", "incoming"),
        ("Verpasster Anruf", "missed"),
        ("Anruf in Abwesenheit", "missed"),
        ("Ausgehender Anruf", "outgoing"),
        ("Nicht angenommener Anruf", "missed"),
        ("Not answered", "missed"),
        ("Outgoing, not answered", "outgoing"),
        ("Appel reçu", "incoming"),
        ("Appel e\u0301mis", "outgoing"),
        ("Chiamata in uscita", "outgoing"),
        ("Пропущенный вызов", "missed"),
    ],
)
def test_the_kind_of_a_call_is_told_by_a_form_of_a_word(said: str, direction: str) -> None:
    text = f'Name,Number,Date,Type,Duration\nBo,1,2026-11-20 10:05,"{said}",0\n'
    assert [call[1] for call in calls(read_call_table(text.encode(), OWNER))] == [direction]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("1 Std. 2 Min.", 3720),
        ("1 hr 2 min 3 sec", 3723),
        ("2 Minuten", 120),
        ("1h 2m 3s", 3723),
        ("1 uur 2 min", 3720),
        ("1時間2分3秒", 3723),
        ("75", 75),
    ],
)
def test_a_duration_is_read_in_words(said: str, seconds: int) -> None:
    text = f"Name,Number,Date,Type,Duration\nBo,1,2026-11-20 10:05,Incoming,{said}\n"
    assert [call[3] for call in calls(read_call_table(text.encode(), OWNER))] == [seconds]


def test_calls_within_one_minute_are_each_a_call_in_any_order() -> None:
    head = "Name,Number,Type,Date,Duration\n"
    tried, spoken = (f"Bo,1,Outgoing,2026-11-20 10:05,{one}\n" for one in ("0:00", "3:10"))

    def ids(*lines: str) -> dict[int, str]:
        found = read_call_table((head + "".join(lines)).encode(), OWNER)
        return {int(str(one.fields["duration_s"])): one.id for one in found.items}

    assert set(ids(tried, spoken)) == {0, 190}
    assert ids(tried, spoken) == ids(spoken, tried)
    assert ids(tried, spoken)[190] == ids(spoken)[190]
    assert len(set(ids(tried, spoken).values())) == 2


@pytest.mark.parametrize(
    "title",
    [
        *("Watched Wharf", "„Wharf“ angesehen", "Vous avez regardé\xa0: Wharf", "Has visto Wharf"),
        *("Você assistiu a Wharf", "Assistiu a Wharf", "Hai guardato Wharf", "Obejrzano: Wharf"),
        *("Tittade på Wharf", "Har set Wharf", "Så på Wharf", "Wharf を視聴しました", "Wharf"),
        *(
            "「Wharf」を視聴しました",
            "Je hebt Wharf bekeken",
            "Wharf bekeken",
            "Просмотрено: Wharf",
        ),
    ],
)
def test_a_song_is_called_without_the_verb_in_any_language(title: str) -> None:
    heard = {"titleUrl": "x", "title": title, "time": "2026-11-20T10:00:00Z"}
    assert [one.text("song_name") for one in read_plays([heard], OWNER).items] == ["Wharf"]


def test_a_video_of_which_only_the_address_is_left_is_no_song_and_is_counted() -> None:
    title = "Watched https://music.youtube.com/watch?v=1"
    heard = {"titleUrl": "x", "title": title, "time": "2026-11-20T10:00:00Z"}
    found = read_plays([heard], OWNER)
    assert found.items == []
    assert [(one.what, one.lost, one.on_purpose) for one in found.left_out] == [
        ("https://music.youtube.com/watch?v=1", True, True)
    ]


def test_words_of_a_search_without_an_address_are_told_by_its_title() -> None:
    for title in ("Searched for oslo ferry", "Nach oslo ferry gesucht", "Has buscado oslo ferry"):
        row = {"header": "Search", "title": title, "time": "2026-11-20T10:05:00Z"}
        assert [one.text("query") for one in read_searches([row], OWNER).items] == ["oslo ferry"]


@pytest.mark.parametrize(
    ("said", "title"),
    [("Yes", "Yes"), ("007", "007"), ("2026-11-20", "2026-11-20"), ("~", "Boat"), ("1:30", "1:30")],
)
def test_a_title_is_what_is_written(said: str, title: str) -> None:
    assert note(f"---\ntitle: {said}\n---\ntext")["title"] == title


@pytest.mark.parametrize(
    "said", ["2026-02-03 10:00", "2026-02-03T09:00:00Z", "2026-2-3 9:00:00.0 +00:00", "1770109200"]
)
def test_a_time_of_front_matter_is_the_persons(said: str) -> None:
    assert note(f"---\nupdated: {said}\n---\ntext")["modified_at"] == datetime(2026, 2, 3, 10)


def test_a_note_in_a_bundle_is_called_as_the_bundle() -> None:
    read = note("no heading", "Bear/Boat lock.textbundle/text.md")
    assert (read["title"], read["folder"]) == ("Boat lock", "Bear")
