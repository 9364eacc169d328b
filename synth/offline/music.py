"""The music of a life: songs of its genres, some on playlists that belong to an hour of the day."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path

from stores.compressed import read_kept
from stores.people.items import Item, Usage
from synth.offline.moments import written_minute

_LISTS = {
    7: (
        "Before the coffee",
        "Up",
        "Mornings",
        "Way in",
        "Kitchen radio",
        "Dawn",
        "First kettle",
        "Shave",
        "Toast",
        "Socks on",
        "Blinds up",
    ),
    8: (
        "Tram",
        "On the road",
        "Commute",
        "Bike lane",
        "Seat by the window",
        "First bus",
        "Ring road",
        "Platform 2",
        "Wheels",
        "Long red light",
    ),
    13: (
        "Lunch",
        "Desk",
        "Headphones",
        "Quiet please",
        "Concentrate",
        "Spreadsheets",
        "Door shut",
        "Soup",
        "Deep end",
    ),
    17: (
        "Way home",
        "Five o'clock",
        "Cooking",
        "Done for today",
        "Stove",
        "Boots off",
        "Onions",
        "Half past",
        "Garden gate",
    ),
    19: (
        "Pots and pans",
        "Living room",
        "Hall",
        "Evening",
        "Warm up",
        "Wine",
        "Ironing",
        "Friday feet",
        "Dishes",
        "Guests at eight",
        "Bath first",
    ),
    22: (
        "Slow",
        "Lights out",
        "Last hour",
        "Low",
        "Night lamp",
        "Can't sleep",
        "Rain on it",
        "Small hours",
        "Book and tea",
        "Hush",
    ),
}


@dataclass(frozen=True, slots=True)
class Song:
    """A song as the music application knows it."""

    genre: str
    name: str
    artist: str
    album: str


@cache
def songs() -> dict[str, tuple[Song, ...]]:
    """Genre → its songs."""
    file = Path(str(files("synth.offline").joinpath("data", "songs.tsv")))
    text = read_kept(file).decode("utf-8")
    found: dict[str, list[Song]] = {}
    for line in text.splitlines():
        song = Song(*line.split("\t"))
        found.setdefault(song.genre, []).append(song)
    return {genre: tuple(some) for genre, some in found.items()}


@cache
def known_everywhere() -> tuple[Item, ...]:
    """Songs that people of any country may hear."""
    text = files("synth.offline").joinpath("data", "world_songs.tsv").read_text(encoding="utf-8")
    rows = [Song(*line.split("\t")) for line in text.splitlines()]
    return tuple(
        Item(
            f"world{number}",
            "music",
            {"song_name": one.name, "artist": one.artist, "album_title": one.album,
             "genre": one.genre, "playlist": None, "played_at": None},
        )
        for number, one in enumerate(rows)
    )  # fmt: skip


def playlist_for(draw: random.Random, own_words: Callable[[str], str] = str) -> str:
    """A playlist's name as the person writes it."""
    return own_words(draw.choice([one for some in _LISTS.values() for one in some]))


def listened(
    genres: tuple[str, ...],
    favourite: str,
    count: int,
    now: datetime,
    draw: random.Random,
    own_words: Callable[[str], str] = str,
) -> list[Item]:
    """The songs on a phone: two thirds of the favourite genre, two or three on one playlist.

    Args:
        genres: Those of the country.
        favourite: The person's genre.
        count: How many songs.
        now: The person's now.
        draw: Chooses.
        own_words: A playlist's name as the person writes it.
    """
    known = [one for one in genres if one in songs()]
    main = favourite if favourite in songs() else draw.choice(known)
    chosen: dict[str, Song] = {}
    lead = draw.choice(songs()[main])
    for song in songs()[main]:
        if song.artist == lead.artist and len(chosen) < 2:
            chosen[song.name] = song
    while len(chosen) < count:
        song = draw.choice(songs()[main if draw.random() < 0.6 else draw.choice(known)])
        chosen.setdefault(song.name, song)
    hour = draw.choice(list(_LISTS))
    title = own_words(draw.choice(_LISTS[hour]))
    on_list = draw.randint(2, 3) if count > 2 and draw.random() < 0.75 else 0
    items = []
    for number, song in enumerate(list(chosen.values())[:count]):
        listed = number < on_list
        usual = hour if listed else draw.choice((7, 8, 12, 16, 18, 20, 21, 22))
        days = draw.randint(0, 2) if listed else draw.randint(0, 15)
        played = (now - timedelta(days=days)).replace(hour=usual, minute=written_minute(draw))
        if played > now:
            played -= timedelta(days=1)
        opens = draw.randint(8, 20) if listed else draw.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 11))
        place = "commute" if listed and hour == 8 else "home"
        usage = Usage(opens, played, (usual,), place if listed or draw.random() < 0.8 else None)
        fields = {
            "song_name": song.name,
            "artist": song.artist,
            "album_title": song.album,
            "genre": song.genre,
            "playlist": title if listed else None,
            "played_at": played,
        }
        items.append(Item(f"song{number}", "music", fields, usage))
    return items
