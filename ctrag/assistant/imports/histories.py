"""What services remember of a person: Google searches, music on Spotify and YouTube, tasks."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ctrag.assistant.imports.activity_words import object_of
from ctrag.assistant.imports.found import Found, LeftOut, Owner, item_id
from ctrag.assistant.imports.times import moment
from stores.people.items import Item, Value

_CLICK_WITHIN = timedelta(minutes=10)
"""Time between a search and a page that was opened from it."""
_SHORTEST_PLAY = 30_000
"""Milliseconds from which on a song counts as heard."""
_TOPIC = re.compile(r"\s+-\s+Topic$")
_ADDRESS = re.compile(r"https?://\S+")
_SPOKEN = ("episode_name", "episodeName", "podcastName", "audiobook_title")
_SEARCH = {"Search", "Google Search", "Suche", "Recherche", "Búsqueda", "Ricerca"}
_Rows = Iterable[Mapping[str, Any]]


def read_searches(rows: _Rows, owner: Owner) -> Found:
    """Takeout's `MyActivity.json` of Search: what was searched for, and the page opened after it.

    The words of a search are taken from its address: its title is in the person's language.
    """
    found = Found()
    visits: list[tuple[datetime, str]] = []
    searches: dict[str, tuple[datetime, str]] = {}
    for place, row in enumerate(rows, start=1):
        at = moment(row.get("time"), owner)
        address, title = str(row.get("titleUrl") or ""), str(row.get("title") or "")
        query = _query(address) or object_of(title, "searched")
        if at is not None and query:
            searches.setdefault(f"{row.get('time')} {query}", (at, query))
        elif at is not None and title and address:
            visits.append((at, _page(title)))
        else:
            why = "it has no time" if at is None else "it is neither a search nor an opened page"
            what = title[:80] or f"entry {place}"
            found.left_out.append(LeftOut("search", what, why, lost=at is None and bool(query)))
    visits.sort()
    for uid, (at, query) in searches.items():
        after = bisect_left(visits, (at, ""))
        near = after < len(visits) and visits[after][0] <= at + _CLICK_WITHIN
        clicked = visits[after][1] if near else None
        fields = {"query": query[:500], "clicked": clicked, "searched_at": at}
        found.items.append(Item(item_id(owner.person_id, "google", uid), "google", fields))
    if visits:
        what = f"{len(visits)} opened pages"
        why = "a page is kept with the search before it only"
        found.left_out.append(LeftOut("search", what, why, lost=False))
    return found


def read_plays(rows: _Rows, owner: Owner) -> Found:
    """Each song once, when it was last heard: Spotify's `StreamingHistory*.json`, `endsong_*.json`
    and `Streaming_History_Audio_*.json`, listens of ListenBrainz, and what Takeout writes of
    YouTube Music."""
    found = Found()
    latest: dict[tuple[str, str], tuple[datetime, str]] = {}
    short = 0
    for place, row in enumerate(rows, start=1):
        at = moment(_heard_at(row), owner)
        song, artist, album = _song(row)
        heard = row.get("ms_played", row.get("msPlayed"))
        if not song or at is None:
            podcast = next((row[one] for one in _SPOKEN if row.get(one)), None)
            why = "a podcast or audiobook" if podcast else "it has no title or no time"
            what = str(podcast or song or f"entry {place}")[:80]
            found.left_out.append(LeftOut("song", what, why, lost=not podcast and bool(song)))
        elif _ADDRESS.fullmatch(song):
            why = "its title is an address: the video is gone, or was never public"
            found.left_out.append(LeftOut("song", song[:80], why, on_purpose=True))
        elif isinstance(heard, int) and heard < _SHORTEST_PLAY:
            short += 1
        elif (song, artist) not in latest or latest[song, artist][0] < at:
            latest[song, artist] = (at, album or latest.get((song, artist), (at, ""))[1])
    for (song, artist), (at, album) in latest.items():
        fields: dict[str, Value] = {
            "song_name": song[:300],
            "artist": artist[:300],
            "album_title": album[:300],
            "genre": "",
            "playlist": None,
            "played_at": at,
        }
        uid = item_id(owner.person_id, "music", f"{song}\n{artist}")
        found.items.append(Item(uid, "music", fields))
    if short:
        what = f"{short} plays"
        found.left_out.append(LeftOut("song", what, "shorter than half a minute", lost=False))
    return found


def read_activity(rows: _Rows, owner: Owner) -> Found:
    """Takeout's `MyActivity.json` or `watch-history.json`, whichever products it is of."""
    songs, searches, others = [], [], Counter[str]()
    for row in rows:
        header, address = str(row.get("header") or ""), str(row.get("titleUrl") or "")
        if header == "YouTube Music" or "//music.youtube.com" in address:
            songs.append(row)
        elif _query(address) or "//www.google.com/url" in address or header in _SEARCH:
            searches.append(row)
        else:
            others[header or "another product"] += 1
    found, heard = read_searches(searches, owner), read_plays(songs, owner)
    found.items += heard.items
    found.left_out += heard.left_out
    for product, count in others.items():
        why = f"no application here keeps what was done in {product[:60]}"
        found.left_out.append(LeftOut("search", f"{count} entries", why, lost=False))
    return found


def read_tasks(raw: Mapping[str, Any], owner: Owner) -> Found:
    """Takeout's `Tasks.json`: tasks as reminders."""
    found = Found()
    for group in _listed(raw.get("items")):
        for task in _listed(group.get("items")):
            title = " ".join(str(task.get("title") or "").split())
            what = title or str(task.get("id", "?"))
            if task.get("deleted") is True:
                found.left_out.append(LeftOut("to-do", what, "it is deleted", on_purpose=True))
                continue
            if not title:
                found.left_out.append(LeftOut("to-do", what, "it has no title"))
                continue
            if str(task.get("notes") or "").strip():
                why = "reminders have no notes: these are not kept"
                found.left_out.append(LeftOut("to-do", what, why, lost=False))
            fields: dict[str, Value] = {
                "title": title[:500],
                "due": _due(task, owner),
                "list": str(group.get("title") or "Tasks"),
                # What is hidden was done when its list was cleared.
                "done": task.get("status") == "completed" or task.get("hidden") is True,
            }
            uid = item_id(owner.person_id, "reminders", str(task.get("id") or title))
            found.items.append(Item(uid, "reminders", fields))
    return found


def _due(task: Mapping[str, Any], owner: Owner) -> datetime | None:
    """When a task is due: a day, which is written as midnight in UTC, or the time that it is
    planned for."""
    planned = _listed(task.get("scheduled_time"))
    current = [one for one in planned if one.get("current") is True] or planned[-1:]
    start = next((str(one["start"]) for one in current if one.get("start")), "")
    due = str(task.get("due") or "")[:10] or re.sub(r"T00:00(?::00(?:\.0+)?)?Z\Z", "", start)
    return moment(due, owner) if due else None


def _song(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Title, artist and album."""
    if "titleUrl" in row or "subtitles" in row:
        makers = [str(one.get("name") or "") for one in _listed(row.get("subtitles"))]
        title = str(row.get("title") or "")
        return object_of(title, "watched") or title, _TOPIC.sub("", makers[0]) if makers else "", ""
    if isinstance(told := row.get("track_metadata"), dict):  # of ListenBrainz
        heard = [str(told.get(one) or "") for one in ("track_name", "artist_name", "release_name")]
        return heard[0], heard[1], heard[2]
    song = row.get("trackName") or row.get("master_metadata_track_name")
    artist = row.get("artistName") or row.get("master_metadata_album_artist_name")
    return (
        str(song or ""),
        str(artist or ""),
        str(row.get("master_metadata_album_album_name") or ""),
    )


def _heard_at(row: Mapping[str, Any]) -> object:
    """When it was heard; Spotify's `endTime` is in UTC and does not say so."""
    ended = row.get("endTime")
    if listened := row.get("listened_at"):
        return listened
    return row.get("ts") or (f"{ended}+00:00" if ended else row.get("time"))


def _page(title: str) -> str:
    """What a page is called that "was visited", in the person's language, or its address."""
    if address := _ADDRESS.search(title):
        return address[0]
    return object_of(title, "visited") or title


def _query(address: str) -> str:
    try:
        parts = urlsplit(address)
        words = parse_qs(parts.query).get("q", [""])[0]
    except ValueError:
        return ""
    host = (parts.hostname or "").removeprefix("www.")
    return words.strip() if host.startswith("google.") and parts.path.startswith("/search") else ""


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
