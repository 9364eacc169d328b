"""Music that was heard, as tables: exports of Last.fm, Apple Music and others."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ctrag.assistant.imports.found import Found, Owner
from ctrag.assistant.imports.histories import read_plays
from ctrag.assistant.imports.tables import first, read_table
from ctrag.assistant.imports.times import day_first, in_order

_SONG = (
    *("track", "track name", "song", "song name", "title", "titel", "titre", "título", "canción"),
    *("brano", "morceau"),
)
_ARTIST = ("artist", "artist name", "artists", "künstler", "interpret", "artiste", "artista")
_ALBUM = ("album", "album name", "album title", "álbum")
_BOTH = ("track description",)
"""`Artist - Song`, as Apple writes it."""
_WHEN = (
    *(
        "utc_time",
        "utc time",
        "played at",
        "uts",
        "ts",
        "timestamp",
        "date time",
        "end time",
        "date played",
    ),
    *(
        "event end timestamp",
        "event start timestamp",
        "last played date",
        "date",
        "datum",
        "fecha",
        "data",
    ),
)
_BARE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\"[^\"\n]*\"|[^,\n\"]*)(?:,(?:\"[^\"\n]*\"|[^,\n\"]*)){2},\"?"
    rb"\d{1,2} [A-Z][a-z]{2} \d{4},? \d\d:\d\d\"?\r?\n"
)
_HEADINGS = b"artist,album,track,date\n"
"""Of tables of Last.fm without headings."""
_LENGTH = ("ms played", "play duration milliseconds", "play duration in milliseconds")


def is_plays(headings: set[str]) -> bool:
    """Whether a table with these `folded` headings is of songs that were heard."""
    named = headings.intersection(_SONG) and headings.intersection(_ARTIST)
    both = headings.intersection(_BOTH) or {"track name", "last played date"} <= headings
    return bool((named or both) and headings.intersection(_WHEN))


def is_bare_plays(head: bytes) -> bool:
    """Whether a file that begins so is a table of Last.fm without a line of headings."""
    return _BARE.match(head) is not None


def read_play_table(data: bytes, owner: Owner) -> Found:
    """Each song of a CSV file once, when it was last heard."""
    table = read_table(data if not _BARE.match(data) else _HEADINGS + data, "song")
    order = day_first(first(row, *_WHEN) for row in table.rows)
    found = read_plays(_plays(table.rows, order), owner)
    found.left_out += table.left_out
    return found


def _plays(table: list[dict[str, str]], order: bool | None) -> Iterator[Mapping[str, Any]]:
    for row in table:
        artist, _, song = first(row, *_BOTH).partition(" - ")
        if not first(row, *_BOTH, *_ARTIST) and " - " in first(row, *_SONG):
            artist, _, song = first(row, *_SONG).partition(" - ")
        when = re.sub(r"\A(\d{4})(\d\d)(\d\d)\Z", r"\1-\2-\3", first(row, *_WHEN))
        if "utc_time" in row or "utc time" in row:
            when += " +0000" if re.search(r"\d:\d\d(?::\d\d)?\Z", when) else ""
        play: dict[str, Any] = {
            "ts": in_order(when, order),
            "trackName": song or first(row, *_SONG),
            "artistName": first(row, *_ARTIST) or artist,
            "master_metadata_album_album_name": first(row, *_ALBUM),
        }
        length = first(row, *_LENGTH)
        if length.isdigit():
            play["ms_played"] = int(length)
        yield play
